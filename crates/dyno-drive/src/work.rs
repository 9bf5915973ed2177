//! What is sent: a single request, or a conversation whose turns depend on the answers.

use crate::transport::Payload;
use dyno_model::Nanos;

/// A conversation after its first turn. Turns are made on the driver's own thread, between the
/// answer and the next request: everything that can be made ahead must have been.
pub trait Dialogue: Send {
    /// The turn that follows this answer; nothing when the conversation is over.
    fn next(&mut self, answer: &str) -> Option<NextTurn>;

    /// About how much memory it holds.
    fn size(&self) -> usize;
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextTurn {
    /// How long the user takes before sending it.
    pub think: Nanos,
    /// What is sent.
    pub payload: Payload,
}

/// What an arrival brings.
pub struct Work {
    /// The request that is sent first.
    pub first: Payload,
    /// What follows, if it is a conversation.
    pub then: Option<Box<dyn Dialogue>>,
}

impl Work {
    /// About how much memory it holds.
    pub(crate) fn size(&self) -> usize {
        self.first.bytes.len() + self.then.as_ref().map_or(0, |then| then.size())
    }
}

impl From<Payload> for Work {
    fn from(first: Payload) -> Self {
        Self { first, then: None }
    }
}
