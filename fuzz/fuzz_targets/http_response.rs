//! Any bytes as an HTTP response, cut anywhere: refusals with `Retry-After` and a body, redirects, web
//! pages, compressed and chunked bodies, or a response with any head at all. Input: the API's number, flags
//! (streamed; the rest is a whole response), the status, a header, where to cut (two bytes); then the value
//! of `Retry-After` and that of the header, a line each, and the body.
#![no_main]

#[path = "reading.rs"]
mod reading;

use libfuzzer_sys::fuzz_target;

const STATUSES: [u16; 12] = [200, 429, 503, 529, 500, 400, 404, 422, 307, 204, 100, 0];
const HEADERS: [&str; 8] = [
    "Content-Type",
    "Location",
    "Content-Encoding",
    "Date",
    "Retry-After-Ms",
    "Transfer-Encoding",
    "Content-Length",
    "Connection",
];

fuzz_target!(|input: &[u8]| {
    let [dialect, flags, status, header, left, right, rest @ ..] = input else { return };
    let cut = u16::from_le_bytes([*left, *right]);
    let stream = flags & 1 == 1;
    if flags & 2 == 2 {
        reading::check(*dialect, stream, rest, cut);
        return;
    }
    let mut lines = rest.splitn(3, |byte| *byte == b'\n');
    let [wait, value, body] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let status = STATUSES[usize::from(*status) % STATUSES.len()];
    let header = HEADERS[usize::from(*header) % HEADERS.len()];
    let head = format!("HTTP/1.1 {status:03} X\r\n{header}: ");
    let parts = [head.as_bytes(), value, b"\r\nRetry-After: ", wait, b"\r\n\r\n", body];
    reading::check(*dialect, stream, &parts.concat(), cut);
});
