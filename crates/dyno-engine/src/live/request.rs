//! A request of the server while it is in the engine, and what is to be written of it.

use dyno_model::Nanos;
use dyno_respond::api::AnswerFinish;
use dyno_respond::api::prompt::Prompt;
use dyno_respond::api::response::ResponseStart;

/// A request from the server.
#[derive(Debug)]
pub(crate) struct LiveRequest<'a> {
    /// Where its tokens go.
    pub(crate) connection: u64,
    /// The prompts; each is a request of its own in the engine.
    pub(crate) prompts: &'a [Prompt],
    /// Tokens of the response to each.
    pub(crate) output: u32,
    /// Whether each token is written as it comes, or all of them at the end.
    pub(crate) streamed: bool,
    /// Why it will end.
    pub(crate) finish: AnswerFinish,
    /// Which words the response has.
    pub(crate) salt: u64,
}

/// The requests in the engine that stand for one of the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Accepted {
    /// Whether a request is one of them.
    pub(crate) fn has(self, id: u64) -> bool {
        id.wrapping_sub(self.first) < self.count
    }

    /// How many there are.
    pub(crate) fn count(self) -> u64 {
        self.count
    }
}

/// A request with tokens that are not written yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) connection: u64,
    pub(super) input: u32,
    /// Cached prompt tokens, once known.
    pub(super) cached: Option<u32>,
    /// How long it waited before it was in a step.
    pub(super) queued: Nanos,
    pub(super) streamed: bool,
    pub(super) finish: AnswerFinish,
    pub(super) arrived: Nanos,
    /// When its first token came.
    pub(super) began: Nanos,
    /// Tokens it has got, and when the last of them came.
    pub(super) tokens: u32,
    pub(super) last: Nanos,
    pub(super) over: bool,
    /// Whether it is in the list of pending writes.
    pub(super) listed: bool,
}

/// Tokens to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// The request.
    pub(crate) id: u64,
    /// Where they go.
    pub(crate) connection: u64,
    /// Tokens that the request has got by now, those written before included.
    pub(crate) tokens: u32,
    /// Whether the response is complete with them.
    pub(crate) over: bool,
    /// Cached prompt tokens; absent without a prefix cache.
    pub(crate) cached: Option<u32>,
    /// When the earliest unwritten token came.
    pub(crate) at: Nanos,
    /// When the request arrived, and when its first token came.
    pub(crate) arrived: Nanos,
    pub(crate) began: Nanos,
    /// How long it waited before it was in a step.
    pub(crate) queued: Nanos,
    /// When the last token came.
    pub(crate) came: Nanos,
    /// Whether they are the first and the last that are written of their step.
    pub(super) first: bool,
    pub(super) last: bool,
}

impl Due {
    /// How the request started.
    pub(crate) fn start(&self) -> ResponseStart {
        ResponseStart { cached: self.cached, queued: self.queued }
    }
}
