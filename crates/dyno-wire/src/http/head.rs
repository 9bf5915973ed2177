//! The headers of a response: status, headers, and how the body is delimited.

use super::HttpError;
use dyno_model::{Message, message};
use httparse::Error;

pub(super) const MAX_HEAD: usize = 64 << 10;
const MAX_HEADERS: usize = 100;

/// The status and headers of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status code.
    pub status: u16,
    /// Headers as received, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// How the body ends.
    pub framing: BodyFraming,
    /// The connection may carry another request afterwards.
    pub keep_alive: bool,
}

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFraming {
    /// By its last chunk.
    Chunked,
    /// After so many bytes.
    Length(u64),
    /// When the connection closes.
    Close,
}

impl ResponseHead {
    /// The value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reads the headers from the front of `bytes`; absent if they are not complete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, HttpError> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut fields);
        let length = match response.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(HttpError::Head(said(error))),
        };
        let headers: Vec<(String, String)> = response
            .headers
            .iter()
            .map(|h| (h.name.to_ascii_lowercase(), String::from_utf8_lossy(h.value).into_owned()))
            .collect();
        let status = response.code.unwrap_or(0);
        let mut head = Self { status, headers, framing: BodyFraming::Close, keep_alive: true };
        head.framing = head.find_framing()?;
        let connection = head.header("connection").unwrap_or("").to_ascii_lowercase();
        let has = |token: &str| connection.split(',').any(|t| t.trim() == token);
        head.keep_alive = head.framing != BodyFraming::Close
            && !has("close")
            && (response.version == Some(1) || has("keep-alive"));
        Ok(Some((head, length)))
    }

    fn find_framing(&self) -> Result<BodyFraming, HttpError> {
        if self.status < 200 || self.status == 204 || self.status == 304 {
            return Ok(BodyFraming::Length(0));
        }
        if let Some(coding) = self.header("transfer-encoding") {
            let chunked = coding.rsplit(',').next().unwrap_or("").trim();
            return if chunked.eq_ignore_ascii_case("chunked") {
                Ok(BodyFraming::Chunked)
            } else {
                Err(HttpError::Head(message!(
                    "transfer-encoding `{coding}` is not supported",
                    "不支持 transfer-encoding `{coding}`"
                )))
            };
        }
        match self.header("content-length") {
            None => Ok(BodyFraming::Close),
            Some(text) => text.trim().parse().map(BodyFraming::Length).map_err(|_| {
                HttpError::Head(message!(
                    "content-length `{text}` is not a number",
                    "content-length `{text}` 不是数字"
                ))
            }),
        }
    }
}

/// What the parser says.
fn said(error: Error) -> Message {
    match error {
        Error::Status => message!("invalid response status", "响应状态码无效"),
        Error::Version => message!("invalid HTTP version", "HTTP 版本无效"),
        Error::HeaderName => message!("invalid header name", "响应头名称无效"),
        Error::HeaderValue => message!("invalid header value", "响应头的值无效"),
        other => Message::quoted(other),
    }
}
