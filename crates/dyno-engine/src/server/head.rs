//! Writes response heads and whole responses.

/// On every response: the server's name, and that it is simulated. Proxies replace the first and pass
/// the second on.
const SERVER: &str = "Server: dyno-engine\r\nX-Dyno-Simulated: true\r\n";

/// How the end of a streamed body is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Chunked encoding.
    Chunked,
    /// By closing the connection.
    Close,
}

/// The head of a streamed response.
pub(super) fn stream_head(transfer: Transfer, keep_alive: bool) -> Vec<u8> {
    let framing = match transfer {
        Transfer::Chunked => "Transfer-Encoding: chunked\r\n",
        Transfer::Close => "",
    };
    format!(
        "HTTP/1.1 200 OK\r\n{SERVER}Content-Type: text/event-stream; charset=utf-8\r\n\
         Cache-Control: no-cache\r\n{framing}{}\r\n",
        connection(keep_alive && transfer == Transfer::Chunked)
    )
    .into_bytes()
}

/// The head of a response whose length is known.
pub(super) fn sized_head(status: u16, kind: &str, length: usize, keep_alive: bool) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} {}\r\n{SERVER}Content-Type: {kind}\r\nContent-Length: {length}\r\n{}\r\n",
        reason(status),
        connection(keep_alive)
    )
    .into_bytes()
}

/// Adds a header to a whole response.
pub(super) fn add(response: &mut Vec<u8>, header: &str) {
    if let Some(line) = response.windows(2).position(|two| two == b"\r\n") {
        response.splice(line..line, format!("\r\n{header}").into_bytes());
    }
}

/// A whole JSON response.
pub(super) fn json(status: u16, body: &[u8], keep_alive: bool) -> Vec<u8> {
    let mut bytes = sized_head(status, "application/json", body.len(), keep_alive);
    bytes.extend_from_slice(body);
    bytes
}

/// A whole plain-text response.
pub(super) fn text(status: u16, body: &str, keep_alive: bool) -> Vec<u8> {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let mut bytes = sized_head(status, kind, body.len(), keep_alive);
    bytes.extend_from_slice(body.as_bytes());
    bytes
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
        _ if status < 400 => "Redirect",
        _ if status < 500 => "Client Error",
        _ => "Server Error",
    }
}
