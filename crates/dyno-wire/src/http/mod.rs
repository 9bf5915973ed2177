//! HTTP/1.1 responses, read incrementally and without copying: bytes from the socket in, headers,
//! slices of the body and its end out.

mod body;
mod head;
mod response;
mod retry_after;

pub use head::{Framing, Head};
pub use response::{Piece, ResponseReader};

use thiserror::Error;

/// The bytes do not follow HTTP/1.1.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HttpError {
    /// The headers are malformed.
    #[error("the response is not HTTP/1.1 ({0}); check the host, the port and http or https")]
    Head(String),
    /// The headers do not end.
    #[error("the response headers are longer than {0} bytes")]
    HeadTooLong(usize),
    /// A chunk size, or the line end after a chunk, is wrong.
    #[error("the chunked response body is malformed: {0}")]
    Chunk(String),
}
