//! The HTTP server: one thread, one readiness loop, tokens at their absolute due times.

mod body;
mod connection;
mod exchange;
mod generate;
mod head;
mod http;
mod ledger;
mod listener;
mod outage;
mod pace;
mod reactor;
mod routes;
mod site;
mod stop;
mod stream;
mod timers;
mod writing;

pub use stop::{Running, StopHandle};

use crate::brain::Brain;
use dyno_model::budget::Budget;
use dyno_model::{Localized, Message};
use dyno_respond::fault::Fault;
use reactor::Reactor;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// What decides when tokens are due.
    pub brain: Brain,
    /// Faults, and how often each occurs.
    pub faults: Vec<Fault>,
    /// Address to listen on.
    pub host: IpAddr,
    /// Port to listen on; 0 takes a free one.
    pub port: u16,
    /// Name of the served model.
    pub model: String,
    /// Decides the words and ids of the responses, and which requests a fault strikes by rate.
    pub seed: u64,
    /// Whether usage reports cached prompt tokens, if there is a prefix cache.
    pub cache_report: bool,
    /// The size of the vectors that embeddings have.
    pub dimensions: u32,
    /// When so many generation requests have been answered, the port is closed, all connections
    /// are reset and [`Server::run`] returns, as if the process had died.
    pub die_after: Option<u64>,
    /// When so many generation requests have been answered, connections and requests are still
    /// accepted, but nothing is sent any more.
    pub hang_after: Option<u64>,
    /// Where to log when requests came and tokens were written.
    pub ledger: Option<PathBuf>,
    /// The memory that requests and responses may hold.
    pub budget: Budget,
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
            dimensions: 1_024,
            die_after: None,
            hang_after: None,
            ledger: None,
            budget: Budget::foreign(),
        }
    }
}

/// Why the engine cannot serve.
#[derive(Debug, Localized)]
pub enum EngineError {
    /// Another process has the port.
    #[message(
        "port {port} on {ip} is in use; choose another with --port, or use --port 0 for a free one",
        "{ip} 上的端口 {port} 已被占用；请用 --port 换一个端口，或用 --port 0 自动选择空闲端口",
        port = _0.port(),
        ip = _0.ip()
    )]
    PortInUse(SocketAddr),
    /// The address cannot be listened on.
    #[message("cannot listen on {addr}: {source}", "无法监听 {addr}：{source}")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A system call failed while the server ran.
    #[message("the engine's server cannot {doing}: {source}", "引擎的服务器无法{doing}：{source}")]
    Io {
        /// What it was doing.
        doing: Message,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The ledger cannot be written.
    #[message(
        "cannot write {path}: {source}",
        "无法写入 {path}：{source}",
        path = path.display()
    )]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The server's thread ended by a bug.
    #[message(
        "the engine's server stopped because of a bug in Dyno; please report it",
        "引擎的服务器因 Dyno 的缺陷而停止；请报告此缺陷"
    )]
    Panicked,
}

/// A server that is bound to its port and does not serve yet.
///
/// Every stream needs a file descriptor: call [`dyno_net::raise_open_files`] before opening thousands.
#[derive(Debug)]
pub struct Server {
    reactor: Reactor,
    addr: SocketAddr,
    stop: StopHandle,
}

impl Server {
    /// Binds the port. Connections made from now on wait until the server runs.
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

    /// Serves on this thread until it is stopped or set to die, which cuts off streams under way.
    pub fn run(self) -> Result<(), EngineError> {
        self.reactor.run()
    }

    /// Serves on its own thread.
    pub fn spawn(self) -> Result<Running, EngineError> {
        Running::start(self)
    }
}
