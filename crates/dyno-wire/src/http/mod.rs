//! HTTP/1.1 answers, read incrementally and without copying: give it what the socket gave, take
//! out the head, slices of the body, and the end.

mod body;
mod head;
mod response;

pub use head::Head;
pub use response::{Piece, ResponseReader};

use thiserror::Error;

/// The bytes do not follow HTTP/1.1.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HttpError {
    /// The head could not be read.
    #[error("the answer is not HTTP/1.1: {0}")]
    Head(String),
    /// The head does not end.
    #[error("the head of the answer is longer than {0} bytes")]
    HeadTooLong(usize),
    /// A chunk size, or what follows a chunk, is wrong.
    #[error("the chunked body is damaged: {0}")]
    Chunk(String),
}
