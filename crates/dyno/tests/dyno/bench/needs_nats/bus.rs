//! A bus of a test's own, agents that wait on it, and somebody who listens to all of it.

use crate::bench::place::Place;
use crate::bench::process::{Heard, Process};
use dyno_testing::nats::Nats;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A NATS server of a test's own.
pub(crate) struct Bus(Nats);

impl Bus {
    pub(crate) fn start() -> Self {
        Self(Nats::start())
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
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
        let mut stream = TcpStream::connect(("127.0.0.1", self.0.port())).unwrap();
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
