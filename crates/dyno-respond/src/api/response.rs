//! What an API has to write: a whole response, or the frames of a stream.

use super::AnswerFinish;
use crate::fault::Quirks;
use crate::framing::Out;
use dyno_model::Nanos;
use std::fmt::Debug;

/// How the response to one request is written.
pub trait Response: Debug + Send {
    /// The response in one piece, rendered when the request is read.
    fn whole(&self, facts: &Facts<'_>) -> Whole;

    /// Fills in what was not known then, in the bytes of the response.
    fn settle(&self, _bytes: &mut [u8], _known: &KnownPrompt) {}

    /// The frames of a stream; none if there is no such thing.
    fn stream(&self, _facts: &Facts<'_>) -> Option<Box<dyn Chunks>> {
        None
    }
}

/// What is known of a response when its request has been read.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// How it is unusual.
    pub quirks: Quirks,
    /// Seeds the words and the id of this response.
    pub salt: u64,
    /// The server's own, the same for all responses.
    pub seed: u64,
    /// When the request was read, in nanoseconds since 1970.
    pub start: Nanos,
    /// The model's name as a JSON string, quotes included.
    pub model_json: &'a str,
    /// Tokens of all prompts.
    pub prompt_tokens: u32,
    /// Tokens the response is going to have; results, if it has no tokens.
    pub tokens: u32,
    /// Why it is going to end.
    pub finish: AnswerFinish,
    /// Whether the number of cached prompt tokens is reported.
    pub tells_cached: bool,
}

impl Facts<'_> {
    /// When the request was read, in seconds since 1970.
    pub fn created(&self) -> u64 {
        self.start / 1_000_000_000
    }
}

/// A response in one piece.
#[derive(Debug, Default)]
pub struct Whole {
    /// Its body.
    pub body: Vec<u8>,
    /// Header lines of its own, each with its line end.
    pub headers: String,
}

impl From<Vec<u8>> for Whole {
    fn from(body: Vec<u8>) -> Self {
        Self { body, headers: String::new() }
    }
}

/// What an engine knows of a request when its first token is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseStart {
    /// Cached prompt tokens, if they are reported.
    pub cached: Option<u32>,
    /// How long it waited before it was in a step.
    pub queued: Nanos,
}

/// What is known of a response when its last token is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownPrompt {
    /// How it started, if an engine knows.
    pub start: Option<ResponseStart>,
    /// From the request to the first token.
    pub first: Nanos,
    /// From the request to the last token.
    pub last: Nanos,
}

/// A token of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseToken {
    /// Its number, from 0.
    pub k: u32,
    /// When it came, since the request was read.
    pub at: Nanos,
}

/// The frames of one stream, in the order in which they are asked for. What does not change is
/// rendered once, so that a token costs a few copies.
pub trait Chunks: Debug + Send {
    /// Whether something is sent before the first token is due.
    fn opens_early(&self) -> bool {
        false
    }

    /// What is sent at once.
    fn open(&mut self, _out: &mut Out<'_>) {}

    /// How the request started, before its first token, if an engine knows.
    fn start(&mut self, _start: ResponseStart) {}

    /// A token, and why it is the last if it is.
    fn token(&mut self, out: &mut Out<'_>, token: ResponseToken, end: Option<AnswerFinish>);

    /// The end of a response that has no tokens.
    fn end_without_tokens(&mut self, out: &mut Out<'_>, finish: AnswerFinish, at: Nanos);

    /// What follows the last token, to the last frame.
    fn close(&mut self, out: &mut Out<'_>, at: Nanos);

    /// The terminal frame alone, as from a server that gives up: no finish reason, no usage. Nothing
    /// where an API's terminal frame has the finish reason in it.
    fn give_up(&mut self, _out: &mut Out<'_>) {}

    /// An error in the middle of the stream, and what follows it.
    fn fail(&mut self, out: &mut Out<'_>, message: &str);
}
