//! A NATS server of a test's own.

use dyno_fleet::nats::{Given, Options};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server on a free port of the loopback. It is killed when dropped.
pub(crate) struct Server {
    child: Option<Child>,
    folder: TempDir,
    pub(crate) port: u16,
}

/// The program: `NATS_SERVER`, or the one that is installed.
fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("NATS_SERVER") {
        return program.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let mut programs = folders.map(|folder| folder.join("nats-server"));
    programs.find(|program| program.exists()).expect(
        "nats-server is missing: install it (Debian's package nats-server), or run scripts/test, which does",
    )
}

impl Server {
    /// Starts a server with these lines of configuration.
    pub(crate) fn start(config: &str) -> Self {
        Self::with(config, |_| {})
    }

    /// The same, with files that the configuration names; `{folder}` in it stands for their folder.
    pub(crate) fn with(config: &str, files: impl Fn(&Path)) -> Self {
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let folder = tempfile::tempdir().unwrap();
            files(folder.path());
            let config = config.replace("{folder}", folder.path().to_str().unwrap());
            let text = format!("listen: \"127.0.0.1:{port}\"\n{config}\n");
            std::fs::write(folder.path().join("nats.conf"), text).unwrap();
            let mut server = Self { child: None, folder, port };
            if server.try_restart() {
                return server;
            }
        }
        panic!("nats-server does not start");
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts it again, on the same port.
    pub(crate) fn restart(&mut self) {
        assert!(self.try_restart(), "nats-server does not start again");
    }

    fn try_restart(&mut self) -> bool {
        let config = self.folder.path().join("nats.conf");
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(program());
        command.arg("-c").arg(config).stdout(Stdio::null()).stderr(log).stdin(Stdio::null());
        self.child = Some(command.spawn().unwrap());
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.child.as_mut().unwrap().try_wait().unwrap().is_some();
            if ended || Instant::now() > until {
                self.kill();
                eprintln!("{}", std::fs::read_to_string(self.folder.path().join("log")).unwrap());
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// How to get in where nothing is needed.
    pub(crate) fn options(&self) -> Options {
        options(&Given { bus: self.url(), ..Given::default() })
    }
}

/// Options without an environment.
pub(crate) fn options(given: &Given) -> Options {
    Options::new(given, |_| None).unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
