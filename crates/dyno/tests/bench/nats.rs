//! A bus of a test's own, agents that wait on it, and somebody who listens to all of it.

use crate::place::Place;
use crate::process::{Heard, Process};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A NATS server on a free port of the loopback. It is killed when dropped.
pub(crate) struct Nats {
    child: Child,
    port: u16,
    _folder: TempDir,
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

impl Nats {
    pub(crate) fn start() -> Self {
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let folder = tempfile::tempdir().unwrap();
            let log = std::fs::File::create(folder.path().join("log")).unwrap();
            let mut command = Command::new(program());
            command.args(["--addr", "127.0.0.1", "--port", &port.to_string()]);
            command.stdout(Stdio::null()).stderr(log).stdin(Stdio::null());
            let mut server = Self { child: command.spawn().unwrap(), port, _folder: folder };
            let until = Instant::now() + Duration::from_secs(30);
            while server.child.try_wait().unwrap().is_none() && Instant::now() < until {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return server;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        panic!("nats-server does not start");
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// An agent that waits on this bus.
    pub(crate) fn agent(&self, place: &Place, name: &str, args: &str) -> Process {
        self.agent_with(place, name, args, None)
    }

    /// The same, with a key for its target.
    pub(crate) fn agent_with(
        &self,
        place: &Place,
        name: &str,
        args: &str,
        key: Option<&str>,
    ) -> Process {
        let mut command = place.dyno(&format!("agent --bus {} --name {name} {args}", self.url()));
        command.envs(key.map(|key| ("DYNO_API_KEY", key)));
        let mut agent = Process::start(command);
        agent.wait_for_words("waiting for a run on");
        agent
    }

    /// Hears everything that is said on the bus from now on.
    pub(crate) fn listen(&self) -> Listener {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("INFO "), "{line}");
        write!(stream, "CONNECT {{\"verbose\":false,\"pedantic\":false}}\r\nSUB > 1\r\nPING\r\n")
            .unwrap();
        line.clear();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), "PONG");
        let (heard, thread) = Heard::listen(reader);
        Listener { stream, heard, thread }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody who hears everything.
pub(crate) struct Listener {
    stream: TcpStream,
    heard: Heard,
    thread: JoinHandle<()>,
}

impl Listener {
    /// All that was said.
    pub(crate) fn end(mut self) -> String {
        // What was said before is delivered before the answer.
        write!(self.stream, "PING\r\n").unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while !self.heard.text().ends_with("PONG\r\n") && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.stream.shutdown(Shutdown::Both).unwrap();
        self.thread.join().unwrap();
        self.heard.text()
    }
}
