//! A plain blocking client that keeps what it was sent, byte by byte.

use dyno_engine::{Running, Script, Server, ServerOptions};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A running engine with a script and faults.
pub(crate) fn engine(script: &str, faults: &[&str]) -> Running {
    let script: Script = script.parse().unwrap();
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    let options = ServerOptions { script, faults, ..ServerOptions::default() };
    Server::bind(options).unwrap().spawn().unwrap()
}

/// A streamed chat request for `n` tokens with usage.
pub(crate) fn chat(n: u32) -> String {
    format!(
        "{{\"model\":\"dyno-scripted\",\"messages\":[{{\"role\":\"user\",\"content\":\"one two three\"}}],\
         \"max_tokens\":{n},\"ignore_eos\":true,\"stream\":true,\"stream_options\":{{\"include_usage\":true}}}}"
    )
}

/// The bytes of a request.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

/// How the reading of an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By its own framing.
    Proper,
    /// The connection was closed.
    Closed,
    /// The connection was reset.
    Reset,
    /// Nothing more came within the patience.
    Silent,
    /// The framing was wrong.
    Malformed,
}

/// An answer as far as it was read.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// When each HTTP chunk was complete, and its bytes.
    pub(crate) chunks: Vec<(Instant, Vec<u8>)>,
    pub(crate) end: End,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The data of plainly framed events.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = self.text();
        text.split("\n\n").filter_map(|e| e.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    /// The events but `[DONE]`, as JSON.
    pub(crate) fn values(&self) -> Vec<Value> {
        let events = self.events();
        let json = events.iter().filter(|e| *e != "[DONE]");
        json.map(|e| serde_json::from_str(e).unwrap()).collect()
    }

    /// How many chunks carry text in `delta.content`.
    pub(crate) fn contents(&self) -> usize {
        let has_text = |v: &Value| {
            v["choices"][0]["delta"]["content"].as_str().is_some_and(|text| !text.is_empty())
        };
        self.values().iter().filter(|v| has_text(v)).count()
    }
}

pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).unwrap();
        socket.set_nodelay(true).unwrap();
        let mut client = Self { socket, buffer: Vec::new() };
        client.patience(Duration::from_secs(10));
        client
    }

    pub(crate) fn patience(&mut self, patience: Duration) {
        self.socket.set_read_timeout(Some(patience)).unwrap();
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Instant {
        self.socket.write_all(bytes).unwrap();
        Instant::now()
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        self.answer()
    }

    pub(crate) fn chat(&mut self, n: u32) -> Answer {
        self.ask("/v1/chat/completions", &chat(n))
    }

    pub(crate) fn ask(&mut self, path: &str, body: &str) -> Answer {
        self.send(&post(path, "", body));
        self.answer()
    }

    /// Reads more; how it went, if it went badly.
    fn more(&mut self) -> Result<(), End> {
        let mut piece = [0; 64 * 1024];
        match self.socket.read(&mut piece) {
            Ok(0) => Err(End::Closed),
            Ok(n) => {
                self.buffer.extend_from_slice(&piece[..n]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(End::Reset),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(End::Silent),
            Err(error) => panic!("{error}"),
        }
    }

    fn need(&mut self, n: usize) -> Result<(), End> {
        while self.buffer.len() < n {
            self.more()?;
        }
        Ok(())
    }

    /// Takes everything up to and with `mark` from the buffer.
    fn until(&mut self, mark: &[u8]) -> Result<Vec<u8>, End> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|w| w == mark) {
                return Ok(self.buffer.drain(..at + mark.len()).collect());
            }
            self.more()?;
        }
    }

    /// Everything that comes until the connection ends or is silent.
    pub(crate) fn raw(&mut self) -> (Vec<u8>, End) {
        loop {
            if let Err(end) = self.more() {
                return (std::mem::take(&mut self.buffer), end);
            }
        }
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = Answer {
            status: 0,
            head: String::new(),
            body: Vec::new(),
            chunks: Vec::new(),
            end: End::Proper,
        };
        answer.end = self.fill(&mut answer).err().unwrap_or(End::Proper);
        answer
    }

    fn fill(&mut self, answer: &mut Answer) -> Result<(), End> {
        let head = self.until(b"\r\n\r\n")?;
        answer.head = String::from_utf8(head).map_err(|_| End::Malformed)?;
        assert!(answer.head.contains("\r\nServer: dyno-engine\r\n"), "{}", answer.head);
        answer.status = answer.head[9..12].parse().map_err(|_| End::Malformed)?;
        let length = answer.head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        if let Some(length) = length {
            let length: usize = length.parse().unwrap();
            let got = self.need(length);
            let take = length.min(self.buffer.len());
            answer.body = self.buffer.drain(..take).collect();
            return got;
        }
        if !answer.head.contains("Transfer-Encoding: chunked") {
            let (body, end) = self.raw();
            answer.body = body;
            return if end == End::Closed { Ok(()) } else { Err(end) };
        }
        loop {
            let line = String::from_utf8(self.until(b"\r\n")?).map_err(|_| End::Malformed)?;
            let digits = line.trim_end().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(digits, 16).map_err(|_| End::Malformed)?;
            self.need(size + 2)?;
            let mut chunk: Vec<u8> = self.buffer.drain(..size + 2).collect();
            assert_eq!(chunk.split_off(size), b"\r\n");
            if size == 0 {
                return Ok(());
            }
            answer.body.extend_from_slice(&chunk);
            answer.chunks.push((Instant::now(), chunk));
        }
    }
}

/// One figure from `/metrics`.
pub(crate) fn metric(addr: SocketAddr, name: &str) -> f64 {
    let text = Client::connect(addr).get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
}
