//! A NATS server of a test's own: a bus between load generators. Tests that start one are in modules named
//! `needs_nats`.

use crate::process::{KillOnDrop, find, free_port};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server on a free port of the loopback. It is killed when dropped.
pub struct Nats {
    process: Option<KillOnDrop>,
    folder: TempDir,
    port: u16,
}

/// The program: `NATS_SERVER`, or the one that is installed.
fn program() -> PathBuf {
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    named.or_else(|| find("nats-server")).expect(
        "nats-server is missing: install it (Debian's package nats-server), or run scripts/test, which does",
    )
}

impl Nats {
    /// Starts a server that lets everybody in.
    pub fn start() -> Self {
        Self::with("")
    }

    /// Starts a server with these lines of configuration.
    pub fn with(config: &str) -> Self {
        Self::with_files(config, |_| {})
    }

    /// The same, with files that the configuration names; `{folder}` in it stands for their folder.
    pub fn with_files(config: &str, files: impl Fn(&Path)) -> Self {
        for _ in 0..10 {
            let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
            files(folder.path());
            let config = config.replace("{folder}", folder.path().to_str().unwrap());
            let text = format!("listen: \"127.0.0.1:{port}\"\n{config}\n");
            std::fs::write(folder.path().join("nats.conf"), text).unwrap();
            let mut server = Self { process: None, folder, port };
            if server.try_restart() {
                return server;
            }
        }
        panic!("nats-server does not start");
    }

    /// The folder of its configuration and files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        self.process.as_ref().expect("a server that runs").0.id()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, on the same port.
    pub fn restart(&mut self) {
        assert!(self.try_restart(), "nats-server does not start again");
    }

    fn try_restart(&mut self) -> bool {
        self.kill();
        let config = self.folder.path().join("nats.conf");
        let log = self.folder.path().join("log");
        let mut command = Command::new(program());
        command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(&log).unwrap());
        let mut process = KillOnDrop(command.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if process.0.try_wait().unwrap().is_some() || Instant::now() > until {
                eprintln!("{}", std::fs::read_to_string(log).unwrap());
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.process = Some(process);
        true
    }
}
