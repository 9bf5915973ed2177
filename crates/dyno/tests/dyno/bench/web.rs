//! A server written for tests: one thread per connection, answers that a closure gives, and a
//! memory of what was asked.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn is(&self, start: &str) -> bool {
        self.head.starts_with(start)
    }

    /// Value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim()).next()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

type Answer = dyn Fn(&Seen) -> Vec<u8> + Send + Sync;
type Wrap = dyn Fn(TcpStream, &Answer, &Mutex<Vec<Seen>>) + Send + Sync;

/// The server; it ends with this value.
pub(crate) struct Web {
    addr: SocketAddr,
    stopped: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<Seen>>>,
    thread: Option<JoinHandle<()>>,
}

impl Web {
    /// Plain HTTP.
    pub(crate) fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::wrapped(answer, |stream, answer, seen| serve(stream, answer, seen))
    }

    /// Something around HTTP, such as TLS.
    pub(crate) fn wrapped(
        answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static,
        wrap: impl Fn(TcpStream, &Answer, &Mutex<Vec<Seen>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (stopped, seen) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (stop, memory) = (Arc::clone(&stopped), Arc::clone(&seen));
        let (answer, wrap): (Arc<Answer>, Arc<Wrap>) = (Arc::new(answer), Arc::new(wrap));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, wrap) = (Arc::clone(&answer), Arc::clone(&wrap));
                let memory = Arc::clone(&memory);
                // Ends with the client's connection.
                std::thread::spawn(move || wrap(stream, &*answer, &memory));
            }
        });
        Self { addr, stopped, seen, thread: Some(thread) }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Generation requests so far, without the preflight's and questions for a count.
    pub(crate) fn generations(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        let measured = |s: &&Seen| {
            let counts = s.is("POST /v1/chat/completions/input_tokens ");
            s.is("POST /v1/") && !counts && s.header("x-dyno-preflight").is_none()
        };
        seen.iter().filter(measured).cloned().collect()
    }

    /// All requests so far that begin with this.
    pub(crate) fn asked(&self, start: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.is(start)).cloned().collect()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.addr);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Answers what comes on a connection until it ends.
pub(crate) fn serve(mut stream: impl Read + Write, answer: &Answer, seen: &Mutex<Vec<Seen>>) {
    let mut pending = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut pending) {
        seen.lock().unwrap().push(request.clone());
        let answer = answer(&request);
        if stream.write_all(&answer).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

/// The next request on a connection; nothing once that has ended.
pub(crate) fn next_request(stream: &mut impl Read, pending: &mut Vec<u8>) -> Option<Seen> {
    let mut buffer = [0; 16 << 10];
    loop {
        if let Some(end) = pending.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&pending[..end]).into_owned();
            let seen = Seen { head, body: Vec::new() };
            let length = seen.header("content-length").map_or(0, |n| n.parse().unwrap());
            if pending.len() >= end + 4 + length {
                let rest = pending.split_off(end + 4 + length);
                let body = std::mem::replace(pending, rest).split_off(end + 4);
                return Some(Seen { body, ..seen });
            }
        }
        match stream.read(&mut buffer) {
            Ok(n @ 1..) => pending.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    }
}

/// A whole answer.
pub(crate) fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    answer(status, "application/json", body)
}

/// The answer of `/v1/models`.
pub(crate) fn models(names: &[&str]) -> Vec<u8> {
    let data: Vec<_> = names.iter().map(|name| serde_json::json!({ "id": name })).collect();
    json("200 OK", &serde_json::json!({ "data": data }).to_string())
}

/// A small OpenAI server: one model, and as many tokens as were asked for, at once.
pub(crate) fn openai(request: &Seen) -> Vec<u8> {
    match request {
        _ if request.is("GET /v1/models") => models(&["small"]),
        _ if request.is("GET ") => json("404 Not Found", "{}"),
        _ => spoken(request, "word"),
    }
}

/// A streamed answer of as many tokens as were asked for, which begins with these words.
pub(crate) fn spoken(request: &Seen, words: &str) -> Vec<u8> {
    let asked = request.json()["max_tokens"].as_u64().unwrap_or(4);
    let mut body = String::new();
    for k in 0..asked {
        let text = if k == 0 { words } else { " more" };
        let event = serde_json::json!({ "choices": [{ "delta": { "content": text } }] });
        body.push_str(&format!("data: {event}\n\n"));
    }
    let finish = serde_json::json!({ "choices": [{ "delta": {}, "finish_reason": "length" }] });
    let usage = serde_json::json!({ "prompt_tokens": 7, "completion_tokens": asked });
    let last = serde_json::json!({ "choices": [], "usage": usage });
    body.push_str(&format!("data: {finish}\n\ndata: {last}\n\ndata: [DONE]\n\n"));
    answer("200 OK", "text/event-stream", &body)
}
