//! The servers: each answers the preflight properly, and drops its bomb where it is asked to.

use anyhow::Result;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Where a server misbehaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bomb {
    None,
    Models,
    Tokenize,
    /// A body that does not end.
    Bodies,
    /// An event that does not end.
    Events,
    /// Events without end.
    Endless,
}

const MB: usize = 1 << 20;

/// Starts a server, which lives as long as this process, and returns its URL.
pub(super) fn serve(bomb: Bomb) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = answer(stream, bomb);
            });
        }
    });
    Ok(url)
}

fn answer(stream: TcpStream, bomb: Bomb) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut first, mut length, mut preflight) = (String::new(), 0, false);
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            preflight |= line.starts_with("x-dyno-preflight");
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink())?;
        let path = first.split(' ').nth(1).unwrap_or("/");
        let mut out = &stream;
        match (path, bomb) {
            ("/v1/models", Bomb::Models) => send(&mut out, &filler())?,
            ("/v1/models", _) => send(&mut out, "{\"data\":[{\"id\":\"m\"}]}")?,
            ("/tokenize", Bomb::Tokenize) => send(&mut out, &filler())?,
            ("/v1/chat/completions", Bomb::Bodies) if !preflight => {
                endless(out, "application/json", "{\"x\":\"", 60 * MB)?;
            }
            ("/v1/chat/completions", Bomb::Events) if !preflight => {
                endless(out, "text/event-stream", "data: {\"x\":\"", 15 * MB)?;
            }
            ("/v1/chat/completions", Bomb::Endless) if !preflight => {
                let event = event("a", "null").repeat(2_000);
                write!(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")?;
                loop {
                    out.write_all(event.as_bytes())?;
                }
            }
            ("/v1/chat/completions", Bomb::Bodies) => send(
                &mut out,
                "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a b c\"},\
                 \"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":16}}",
            )?,
            ("/v1/chat/completions", _) => {
                let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":16}}";
                let body = format!(
                    "{}{}{usage}\n\ndata: [DONE]\n\n",
                    event("a", "null").repeat(16),
                    event("", "\"length\"")
                );
                let length = body.len();
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
                )?;
            }
            _ => write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?,
        }
    }
}

fn send(out: &mut &TcpStream, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn filler() -> String {
    format!("{{\"data\":[{}0]}}", "{\"\":0},".repeat(60 * MB / 7))
}

fn event(text: &str, finish: &str) -> String {
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\
         \"finish_reason\":{finish}}}]}}\n\n"
    )
}

/// Sends so many bytes and no end, and waits until the client leaves.
fn endless(mut out: &TcpStream, kind: &str, start: &str, bytes: usize) -> std::io::Result<()> {
    write!(out, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{start}")?;
    let part = vec![b'a'; MB];
    for _ in 0..bytes / MB {
        out.write_all(&part)?;
    }
    out.set_read_timeout(Some(Duration::from_secs(120)))?;
    let _ = out.read(&mut [0]);
    Ok(())
}
