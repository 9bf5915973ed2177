//! `dyno engine` as a process: it prints its address, serves requests, and stops when asked.

use crate::cli::common::{dyno, run};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus, Stdio};

/// An engine on a free port that cannot outlive the test.
struct Engine {
    child: Child,
    address: String,
}

impl Engine {
    fn start(more: &[&str]) -> Self {
        let args = [&["engine", "--port", "0", "--until-stdin-closes"], more].concat();
        let mut child = dyno(&std::env::temp_dir(), &args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Self { child, address }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn end(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_serves_its_model_and_ends_with_its_parent() {
    let mut engine = Engine::start(&["--model", "tiny"]);
    assert!(engine.address.starts_with("127.0.0.1:"));
    let answer = engine.get("/v1/models");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"tiny\""), "{answer}");
    drop(engine.child.stdin.take());
    assert_eq!(engine.end().code(), Some(0));
}

#[test]
fn ctrl_c_ends_it_cleanly() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut engine = Engine::start(&[]);
        kill_process(Pid::from_child(&engine.child), signal).unwrap();
        assert_eq!(engine.end().code(), Some(0));
    }
}

#[test]
fn a_port_in_use_is_named() {
    let engine = Engine::start(&[]);
    let port = engine.address.rsplit(':').next().unwrap();
    let output = run(&std::env::temp_dir(), &["engine", "--port", port]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("error: --port: ") && stderr.contains(port), "{stderr}");
}

#[test]
fn every_fault_is_listed_and_taken() {
    let output = run(&std::env::temp_dir(), &["engine", "--list-faults"]);
    let list = String::from_utf8_lossy(&output.stdout);
    for info in dyno_engine::Fault::all() {
        assert!(list.contains(&format!("  {} ", info.name)), "{}", info.name);
    }
    let engine = Engine::start(&["--fault", "stall:every=10", "--fault", "crlf"]);
    assert!(engine.get("/health").starts_with("HTTP/1.1 200"));
}
