//! Parses request heads and bodies from the bytes of a connection, however they are split.

use super::body::Chunked;

const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;
/// The largest body that is accepted.
pub(super) const MAX_BODY: usize = 32 * 1024 * 1024;

/// A request line and the headers that matter here.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    /// The connection may carry further requests.
    pub(super) keep_alive: bool,
    /// HTTP/1.0 has no chunked responses.
    pub(super) http10: bool,
    pub(super) authorization: Option<String>,
    pub(super) api_key: Option<String>,
    /// `x-dyno-preflight: 1`: neither counted nor faulted.
    pub(super) preflight: bool,
    expects_continue: bool,
    length: Option<usize>,
}

/// A whole request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) head: RequestHead,
    pub(super) body: Vec<u8>,
}

/// A request that cannot be parsed; the connection must be closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) status: u16,
    pub(super) message: String,
}

pub(super) fn unreadable<T>(status: u16, message: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable { status, message: message.into() })
}

/// The unread bytes of one connection.
#[derive(Debug, Default)]
pub(super) struct Reader {
    buffer: Vec<u8>,
    head: Option<Box<RequestHead>>,
    chunked: Option<Box<Chunked>>,
}

impl Reader {
    /// Adds bytes from the socket.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes wait.
    pub(super) fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes of memory that it holds.
    pub(super) fn holds(&self) -> usize {
        let chunked = self.chunked.as_ref().map_or(0, |chunked| chunked.body.capacity());
        self.buffer.capacity() + chunked
    }

    /// Whether no part of a request has come.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.head.is_none()
    }

    /// The next whole request, if it is there.
    pub(super) fn next(&mut self) -> Result<Option<Request>, Unreadable> {
        if self.head.is_none() && !self.read_head()? {
            return Ok(None);
        }
        let body = if let Some(chunked) = &mut self.chunked {
            if !chunked.read(&mut self.buffer)? {
                return Ok(None);
            }
            std::mem::take(&mut chunked.body)
        } else {
            let length = self.head.as_ref().and_then(|head| head.length).unwrap_or(0);
            if self.buffer.len() < length {
                return Ok(None);
            }
            let rest = self.buffer.split_off(length);
            std::mem::replace(&mut self.buffer, rest)
        };
        self.chunked = None;
        Ok(self.head.take().map(|head| Request { head: *head, body }))
    }

    /// Whether the client waits for `100 Continue`; true only once.
    pub(super) fn take_expectation(&mut self) -> bool {
        self.head.as_mut().is_some_and(|head| std::mem::take(&mut head.expects_continue))
    }

    fn read_head(&mut self) -> Result<bool, Unreadable> {
        // An empty line before a request is to be ignored (RFC 9112, 2.2).
        let blank = self.buffer.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        self.buffer.drain(..blank);
        if self.buffer.is_empty() {
            return Ok(false);
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let too_large = || unreadable(431, "The request head is larger than 64 KiB.");
        let used = match request.parse(&self.buffer) {
            Ok(httparse::Status::Complete(used)) if used <= MAX_HEAD => used,
            Ok(httparse::Status::Partial) if self.buffer.len() <= MAX_HEAD => return Ok(false),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return too_large(),
            Err(error) => return unreadable(400, format!("The request is not HTTP: {error}.")),
        };
        let (head, chunked) = head_of(&request)?;
        if head.length.is_some_and(|length| length > MAX_BODY) {
            return unreadable(413, "The request body is larger than 32 MiB.");
        }
        self.buffer.drain(..used);
        self.head = Some(Box::new(head));
        self.chunked = chunked.then(Box::default);
        Ok(true)
    }
}

fn head_of(request: &httparse::Request<'_, '_>) -> Result<(RequestHead, bool), Unreadable> {
    let target = request.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let http10 = request.version == Some(0);
    let mut head = RequestHead {
        method: request.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        keep_alive: !http10,
        http10,
        authorization: None,
        api_key: None,
        preflight: false,
        expects_continue: false,
        length: None,
    };
    let mut chunked = false;
    for header in request.headers.iter() {
        let Ok(value) = std::str::from_utf8(header.value) else {
            continue;
        };
        let value = value.trim();
        match header.name.to_ascii_lowercase().as_str() {
            "connection" => {
                let has = |word| value.split(',').any(|v| v.trim().eq_ignore_ascii_case(word));
                head.keep_alive = !has("close") && (head.keep_alive || has("keep-alive"));
            }
            "content-length" => match value.parse::<usize>() {
                Ok(length) if head.length.is_none_or(|other| other == length) => {
                    head.length = Some(length);
                }
                _ => return unreadable(400, format!("`{value}` is not a valid Content-Length.")),
            },
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => chunked = true,
            "transfer-encoding" => {
                return unreadable(501, format!("Transfer-Encoding `{value}` is not supported."));
            }
            "expect" => head.expects_continue = value.eq_ignore_ascii_case("100-continue"),
            "authorization" => head.authorization = Some(value.to_owned()),
            "x-api-key" => head.api_key = Some(value.to_owned()),
            "x-dyno-preflight" => head.preflight = value == "1",
            _ => {}
        }
    }
    if chunked && head.length.is_some() {
        return unreadable(400, "Content-Length and Transfer-Encoding cannot be combined.");
    }
    Ok((head, chunked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces(bytes: &[u8], size: usize) -> Vec<Request> {
        let mut reader = Reader::default();
        let mut requests = Vec::new();
        for piece in bytes.chunks(size) {
            reader.push(piece);
            while let Some(request) = reader.next().unwrap() {
                requests.push(request);
            }
        }
        assert_eq!(reader.waiting(), 0);
        requests
    }

    #[test]
    fn requests_are_read_in_any_pieces() {
        let bytes = b"POST /v1/x?reset=1 HTTP/1.1\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello\
            \r\nPOST /y HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n02;a=b\r\nde\r\n0\r\nT: x\r\n\r\n\
            GET /z HTTP/1.0\r\nX-Dyno-Preflight: 1\r\n\r\n";
        for size in 1..bytes.len() {
            let requests = in_pieces(bytes, size);
            assert_eq!(requests.len(), 3);
            assert_eq!(
                (requests[0].body.as_slice(), requests[0].head.keep_alive),
                (&b"hello"[..], false)
            );
            assert_eq!(
                (requests[0].head.path.as_str(), requests[0].head.query.as_str()),
                ("/v1/x", "reset=1")
            );
            assert_eq!(
                (requests[1].body.as_slice(), requests[1].head.keep_alive),
                (&b"abcde"[..], true)
            );
            assert!(requests[2].head.preflight && requests[2].head.http10);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_right_status() {
        let refused = |bytes: &[u8]| {
            let mut reader = Reader::default();
            reader.push(bytes);
            reader.next().unwrap_err().status
        };
        assert_eq!(refused(b"\x16\x03\x01\x02\x00"), 400);
        assert_eq!(refused(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), 400);
        assert_eq!(refused(b"POST / HTTP/1.1\r\nContent-Length: 33554433\r\n\r\n"), 413);
        let both = b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(refused(both), 400);
        let chunk = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n";
        assert_eq!(refused(chunk), 413);
        assert_eq!(refused(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
        let long = format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(MAX_HEAD));
        assert_eq!(refused(long.as_bytes()), 431);
    }
}
