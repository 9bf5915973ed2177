//! How a streamed body is cut into frames: server-sent events, lines of JSON, or JSON documents that
//! end with a NUL. What a frame means is the dialect's business.

pub mod lines;
pub mod sse;

use dyno_model::Localized;
use lines::LineDecoder;
use sse::SseDecoder;

/// The framings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// A JSON document per line (NDJSON).
    Ndjson,
    /// JSON documents that each end with a NUL.
    Nul,
    /// Not streamed: the body is one JSON document.
    Whole,
}

/// One frame of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireFrame<'a> {
    /// The name of a server-sent event; empty if it has none.
    pub kind: &'a [u8],
    /// What it carries.
    pub data: &'a [u8],
}

/// A frame is larger than the limit.
#[derive(Debug, Localized, PartialEq, Eq)]
#[message("an event of the stream is larger than {0} bytes", "流中的一个事件超过 {0} 字节")]
pub struct TooLarge(pub usize);

/// Cuts a body into frames, however its bytes are split into reads.
#[derive(Debug)]
pub enum Framer {
    /// Server-sent events.
    Sse(SseDecoder),
    /// Documents that each end with a certain byte.
    Lines(LineDecoder),
}

impl Framer {
    /// The start of a body. Frames of more than `limit` bytes are refused. A body that is not
    /// streamed has no frames, so its framing does not matter here.
    pub fn new(framing: Framing, limit: usize) -> Self {
        match framing {
            Framing::Sse | Framing::Whole => Self::Sse(SseDecoder::new(limit)),
            Framing::Ndjson => Self::Lines(LineDecoder::new(b'\n', limit)),
            Framing::Nul => Self::Lines(LineDecoder::new(0, limit)),
        }
    }

    /// The next frame completed by `input`, which is advanced past it; absent once all of `input`
    /// has been consumed.
    pub fn next<'d, 'i: 'd>(
        &'d mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<WireFrame<'d>>, TooLarge> {
        match self {
            Self::Sse(decoder) => decoder.next(input),
            Self::Lines(decoder) => decoder.next(input),
        }
    }

    /// Bytes of memory that it holds.
    pub fn holds(&self) -> usize {
        match self {
            Self::Sse(decoder) => decoder.holds(),
            Self::Lines(decoder) => decoder.holds(),
        }
    }

    /// What has arrived of a frame that is not complete; empty between two frames.
    pub fn pending(&self) -> Vec<u8> {
        match self {
            Self::Sse(decoder) => decoder.pending(),
            Self::Lines(decoder) => decoder.pending().to_vec(),
        }
    }

    /// Text outside of frames, which no server should send; at most 2 KiB of it.
    pub fn stray(&self) -> Vec<u8> {
        match self {
            Self::Sse(decoder) => decoder.stray(),
            // Here all text is in frames.
            Self::Lines(_) => Vec::new(),
        }
    }

    /// Whether the last frame may lack its end: a last line without a line feed is whole if it is a
    /// JSON document, while an event without its empty line is only begun.
    pub fn last_may_be_open(&self) -> bool {
        matches!(self, Self::Lines(_))
    }
}
