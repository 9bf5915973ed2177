//! A simple blocking client that keeps every byte it receives.

use dyno_engine::core::{Core, Cost, Policy, Scheduler};
use dyno_engine::{Brain, Running, Script, Server, ServerOptions, TwinBrain};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A running engine with a script and faults.
pub(crate) fn engine(script: &str, faults: &[&str]) -> Running {
    running(scripted(script), faults)
}

/// A running engine with faults.
pub(crate) fn running(brain: Brain, faults: &[&str]) -> Running {
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    let options = ServerOptions { brain, faults, ..ServerOptions::default() };
    Server::bind(options).unwrap().spawn().unwrap()
}

/// Tokens by a script.
pub(crate) fn scripted(script: &str) -> Brain {
    script.parse::<Script>().unwrap().into()
}

/// A scheduler with room for everything.
pub(crate) const SCHEDULER: Scheduler = Scheduler {
    policy: Policy::Chunked,
    max_seqs: 1_024,
    token_budget: 4_096,
    block: 4,
    kv_blocks: 1 << 20,
    prefix_cache: false,
    context: None,
    steps_ahead: 0,
};

/// An engine whose steps take this many milliseconds each, with responses of eight tokens.
pub(crate) fn twin(scheduler: Scheduler, step_ms: f64) -> Brain {
    let cost = Cost { base: step_ms / 1e3, ..Cost::default() };
    TwinBrain::new("a-twin", Core::new(scheduler, cost, 1).unwrap(), 1_000, 8).into()
}

/// One of vLLM's metrics.
pub(crate) fn vllm(addr: SocketAddr, name: &str) -> f64 {
    metric(addr, &format!("vllm:{name}{{engine=\"0\",model_name=\"dyno-scripted\"}}"))
}

/// Polls a metric until it has this value.
pub(crate) fn wait_for(name: &str, value: f64, figure: impl Fn() -> f64) {
    let start = Instant::now();
    while figure() != value {
        assert!(start.elapsed() < Duration::from_secs(10), "{name} is {}, not {value}", figure());
    }
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

/// How the reading of a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By its own framing.
    Proper,
    /// The connection was closed.
    Closed,
    /// The connection was reset.
    Reset,
    /// Nothing more came within the time limit.
    Silent,
    /// The framing was wrong.
    Malformed,
}

/// A response as far as it was read.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// When each HTTP chunk was complete, and its bytes.
    pub(crate) chunks: Vec<(Instant, Vec<u8>)>,
    pub(crate) end: End,
}

impl Response {
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

    /// Sends as much as the server takes; whether that is all.
    pub(crate) fn offer(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).is_ok()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Instant {
        self.socket.write_all(bytes).unwrap();
        Instant::now()
    }

    pub(crate) fn get(&mut self, path: &str) -> Response {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        self.response()
    }

    pub(crate) fn chat(&mut self, n: u32) -> Response {
        self.ask("/v1/chat/completions", &chat(n))
    }

    pub(crate) fn ask(&mut self, path: &str, body: &str) -> Response {
        self.send(&post(path, "", body));
        self.response()
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

    /// Takes so many bytes from the buffer.
    fn take(&mut self, n: usize) -> Vec<u8> {
        let taken = self.buffer[..n].to_vec();
        self.buffer.drain(..n);
        taken
    }

    /// Takes everything up to and with `mark` from the buffer.
    fn until(&mut self, mark: &[u8]) -> Result<Vec<u8>, End> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|w| w == mark) {
                return Ok(self.take(at + mark.len()));
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

    pub(crate) fn response(&mut self) -> Response {
        let mut response = Response {
            status: 0,
            head: String::new(),
            body: Vec::new(),
            chunks: Vec::new(),
            end: End::Proper,
        };
        response.end = self.fill(&mut response).err().unwrap_or(End::Proper);
        response
    }

    fn fill(&mut self, response: &mut Response) -> Result<(), End> {
        let head = self.until(b"\r\n\r\n")?;
        response.head = String::from_utf8(head).map_err(|_| End::Malformed)?;
        assert!(response.head.contains("\r\nServer: dyno-engine\r\n"), "{}", response.head);
        response.status = response.head[9..12].parse().map_err(|_| End::Malformed)?;
        let length = response.head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        if let Some(length) = length {
            let length: usize = length.parse().unwrap();
            let got = self.need(length);
            let take = length.min(self.buffer.len());
            response.body = self.take(take);
            return got;
        }
        if !response.head.contains("Transfer-Encoding: chunked") {
            let (body, end) = self.raw();
            response.body = body;
            return if end == End::Closed { Ok(()) } else { Err(end) };
        }
        loop {
            let line = String::from_utf8(self.until(b"\r\n")?).map_err(|_| End::Malformed)?;
            let digits = line.trim_end().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(digits, 16).map_err(|_| End::Malformed)?;
            self.need(size + 2)?;
            let mut chunk = self.take(size + 2);
            assert_eq!(chunk.split_off(size), b"\r\n");
            if size == 0 {
                return Ok(());
            }
            response.body.extend_from_slice(&chunk);
            response.chunks.push((Instant::now(), chunk));
        }
    }
}

/// One value from `/metrics`.
pub(crate) fn metric(addr: SocketAddr, name: &str) -> f64 {
    let text = Client::connect(addr).get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
}
