//! The HTTP server: one thread, one readiness loop, tokens at their absolute due times.

mod body;
mod connection;
mod exchange;
mod framing;
mod generate;
mod head;
mod http;
mod ledger;
mod listener;
mod outage;
mod pace;
mod reactor;
mod refusal;
mod routes;
mod site;
mod stop;
mod stream;
mod timers;
mod writing;

pub use stop::{Running, StopHandle};

use crate::brain::Brain;
use crate::fault::Fault;
use reactor::Reactor;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use thiserror::Error;

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// What decides when tokens are due.
    pub brain: Brain,
    /// What goes wrong, and how often.
    pub faults: Vec<Fault>,
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; 0 takes any that is free.
    pub port: u16,
    /// Name of the one model.
    pub model: String,
    /// Decides the words and ids of the responses, and which requests a fault strikes by rate.
    pub seed: u64,
    /// Usage tells how many prompt tokens the prefix cache had, where there is one.
    pub cache_report: bool,
    /// When so many generation requests have been answered, the port is closed, all connections
    /// are reset and [`Server::run`] returns, as if the process had died.
    pub die_after: Option<u64>,
    /// When so many generation requests have been answered, connections and requests are still
    /// taken, but not a byte is answered any more.
    pub hang_after: Option<u64>,
    /// Where to keep when requests came and tokens went.
    pub ledger: Option<PathBuf>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            brain: Brain::default(),
            faults: Vec::new(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            model: "dyno-scripted".to_owned(),
            seed: 0,
            cache_report: true,
            die_after: None,
            hang_after: None,
            ledger: None,
        }
    }
}

/// Why the engine cannot serve.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Somebody else has the port.
    #[error(
        "port {} on {} is in use; choose another with --port, or --port 0 for any that is free",
        .0.port(), .0.ip()
    )]
    PortInUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system failed the server while it ran.
    #[error("the engine's server cannot {doing}: {source}")]
    Io {
        /// What it was doing.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file to keep the truth in cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The server's thread ended by a bug.
    #[error("the engine's server stopped by a bug of its own; please report it")]
    Panicked,
}

/// A server that has its port and does not serve yet.
///
/// Every stream takes a file descriptor: call [`dyno_net::raise_open_files`] before thousands.
#[derive(Debug)]
pub struct Server {
    reactor: Reactor,
    addr: SocketAddr,
    stop: StopHandle,
}

impl Server {
    /// Takes the port. Connections made from now on wait until the server runs.
    pub fn bind(options: ServerOptions) -> Result<Self, EngineError> {
        let (listener, addr) = listener::listen(SocketAddr::new(options.host, options.port))?;
        let (stop, stopped) = StopHandle::pair()?;
        let reactor = Reactor::new(options, listener, stopped)?;
        Ok(Self { reactor, addr, stop })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What ends [`Server::run`] from another thread or from a signal handler.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves on this thread until it is told to stop, or to die; streams under way are cut off
    /// then.
    pub fn run(self) -> Result<(), EngineError> {
        self.reactor.run()
    }

    /// Serves on its own thread.
    pub fn spawn(self) -> Result<Running, EngineError> {
        Running::start(self)
    }
}
