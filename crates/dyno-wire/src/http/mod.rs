//! HTTP/1.1 responses, read incrementally and without copying: bytes from the socket in, headers,
//! slices of the body and its end out.

mod body;
mod head;
mod response;
mod retry_after;

pub use head::{BodyFraming, ResponseHead};
pub use response::{Piece, ResponseReader};

use dyno_model::{Localized, Message};

/// The bytes do not follow HTTP/1.1.
#[derive(Debug, Localized, PartialEq, Eq)]
pub enum HttpError {
    /// The headers are malformed.
    #[message(
        "the response is not HTTP/1.1 ({0}); check the host, the port and http or https",
        "响应不是 HTTP/1.1（{0}）；请检查主机、端口以及 http 或 https"
    )]
    Head(Message),
    /// The headers do not end.
    #[message("the response headers are longer than {0} bytes", "响应头超过 {0} 字节")]
    HeadTooLong(usize),
    /// A chunk size, or the line end after a chunk, is wrong.
    #[message("the chunked response body is malformed: {0}", "分块响应体格式错误：{0}")]
    Chunk(Message),
}
