//! Writes response heads and whole responses.

use dyno_respond::framing::{Frames, Transfer};

/// On every response: the server's name, and that it is simulated. Proxies replace the first and pass
/// the second on.
const SERVER: &str = "Server: dyno-engine\r\nX-Dyno-Simulated: true\r\n";

/// The head of a streamed response.
pub(super) fn stream_head(frames: Frames, transfer: Transfer, keep_alive: bool) -> Vec<u8> {
    let framing = match transfer {
        Transfer::Chunked => "Transfer-Encoding: chunked\r\n",
        Transfer::Close => "",
    };
    format!(
        "HTTP/1.1 200 OK\r\n{SERVER}Content-Type: {}\r\nCache-Control: no-cache\r\n{framing}{}\r\n",
        frames.content_type(),
        connection(keep_alive && transfer == Transfer::Chunked)
    )
    .into_bytes()
}

/// What a head says of a response whose length is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sized<'a> {
    pub(super) status: u16,
    pub(super) kind: &'a str,
    /// Further header lines, each with its line end.
    pub(super) headers: &'a str,
    pub(super) keep_alive: bool,
}

impl Sized<'_> {
    /// The head of JSON.
    pub(super) fn json(status: u16, keep_alive: bool) -> Self {
        Self { status, kind: "application/json", headers: "", keep_alive }
    }

    /// The whole response.
    pub(super) fn with(self, body: &[u8]) -> Vec<u8> {
        let Self { status, kind, headers, keep_alive } = self;
        let length = body.len();
        let mut bytes = format!(
            "HTTP/1.1 {status} {}\r\n{SERVER}Content-Type: {kind}\r\nContent-Length: {length}\r\n\
             {headers}{}\r\n",
            reason(status),
            connection(keep_alive)
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        bytes
    }
}

fn connection(keep_alive: bool) -> &'static str {
    if keep_alive { "" } else { "Connection: close\r\n" }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ if status < 400 => "Redirect",
        _ if status < 500 => "Client Error",
        _ => "Server Error",
    }
}
