//! Scripted engines: in this process where that is enough, in one of their own where they are to
//! be killed.

use crate::bench::place::Place;
use dyno_engine::{Running, Server, ServerOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// Quick enough for hundreds of requests, and slow enough to tell tokens apart.
pub(crate) const QUICK: &str = "ttft=5ms,itl=1ms,tokens=16";

/// An engine on a thread of this process; it ends with this value.
pub(crate) struct Engine {
    running: Running,
}

impl Engine {
    pub(crate) fn start(script: &str, faults: &[&str]) -> Self {
        let options = ServerOptions {
            brain: script.parse::<dyno_engine::Script>().unwrap().into(),
            faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
            ..ServerOptions::default()
        };
        Self { running: Server::bind(options).unwrap().spawn().unwrap() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.running.addr())
    }

    /// Answers begun, the preflight's included.
    pub(crate) fn begun(&self) -> u64 {
        begun(&self.running.addr().to_string())
    }
}

/// An engine in a process of its own.
pub(crate) struct EngineProcess {
    child: Child,
    address: String,
}

impl EngineProcess {
    pub(crate) fn start(place: &Place, script: &str) -> Self {
        Self::with(place, &format!("--scripted {script}"))
    }

    /// With flags of its own.
    pub(crate) fn with(place: &Place, args: &str) -> Self {
        let port = if args.contains("--port") { "" } else { "--port 0" };
        let args = format!("engine {port} --until-stdin-closes {args}");
        let mut child = place
            .dyno(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn begun(&self) -> u64 {
        begun(&self.address)
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn begun(address: &str) -> u64 {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = answer.lines().find_map(|line| line.strip_prefix("dyno_engine_requests_total "));
    line.unwrap().trim().parse().unwrap()
}
