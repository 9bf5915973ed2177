//! What goes in and comes out: requests, refusals, steps and events.

use dyno_model::Nanos;
use std::error::Error;
use std::fmt;

/// A request for tokens.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its name, which no other request in the engine may have at the same time.
    pub id: u64,
    /// Tokens of the prompt, at least 1.
    pub input: u32,
    /// Tokens of the response, at least 1. All of them are produced.
    pub output: u32,
    /// For the prefix cache, a hash of each full block of the prompt together with all before it,
    /// and of those that the response will fill. Those missing at the end are not shared; none are
    /// needed without a cache.
    pub hashes: &'a [u64],
}

/// Why a request was rejected. Its text is what a server answers, in English as from any server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedRequest {
    /// Longer than the context.
    TooLong {
        /// The context length.
        context: u32,
        /// Tokens of the prompt.
        input: u32,
        /// Tokens of the response.
        output: u32,
    },
    /// It would not fit even alone.
    NeverFits {
        /// Tokens that the KV pool holds.
        pool: u64,
        /// Tokens of the prompt.
        input: u32,
        /// Tokens of the response.
        output: u32,
    },
    /// No prompt.
    NoInput,
    /// No output tokens requested.
    NoOutput,
    /// Another request of this name is in the engine.
    Duplicate(u64),
}

impl fmt::Display for RefusedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { context, input, output } => write!(
                f,
                "This model's maximum context length is {context} tokens. However, you requested \
                 {output} output tokens and your prompt contains {input} input tokens."
            ),
            Self::NeverFits { pool, input, output } => write!(
                f,
                "The KV cache holds {pool} tokens. However, you requested {output} output tokens and \
                 your prompt contains {input} input tokens, which can never fit. Reduce the length of \
                 the prompt or the output, or enlarge the KV cache."
            ),
            Self::NoInput => f.write_str("The decoder prompt cannot be empty."),
            Self::NoOutput => f.write_str("max_tokens must be at least 1, got 0."),
            Self::Duplicate(id) => {
                write!(f, "Request {id} is already in the engine; give each request a unique id.")
            }
        }
    }
}

impl Error for RefusedRequest {}

/// One step of the engine: what it does, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Counted from 0.
    pub number: u64,
    /// When it is decided, and starts unless the device is still busy.
    pub start: Nanos,
    /// When it ends and its tokens are handed out.
    pub end: Nanos,
    /// Tokens that it prefills.
    pub prefill_tokens: u64,
    /// Sequences that it prefills, wholly or in part.
    pub prefills: u32,
    /// Sequences that it decodes: one token each.
    pub decodes: u32,
    /// Tokens that the decoding sequences attend to.
    pub kv_tokens: u64,
    /// Sequences that it preempted.
    pub preempted: u32,
}

/// What became of a request at the end of a step, at the time when the client can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Its first token is there.
    First {
        /// The request.
        id: u64,
        /// When.
        at: Nanos,
    },
    /// Its last token is there, and it has left the engine.
    Finished {
        /// The request.
        id: u64,
        /// When.
        at: Nanos,
    },
}

impl Event {
    /// The request.
    pub fn id(&self) -> u64 {
        match *self {
            Self::First { id, .. } | Self::Finished { id, .. } => id,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Nanos {
        match *self {
            Self::First { at, .. } | Self::Finished { at, .. } => at,
        }
    }
}

/// A token that a request got in the step just committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The request.
    pub id: u64,
    /// Its place in the response, counted from 1.
    pub number: u32,
    /// Whether it is the last of the response.
    pub last: bool,
    /// When the client can see it.
    pub at: Nanos,
}
