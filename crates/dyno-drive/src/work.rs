//! What is sent: a single request, or a conversation whose turns depend on the answers; and how a
//! prompt becomes what a transport sends.

use crate::transport::{Body, Payload};
use dyno_model::Nanos;
use dyno_model::prompt::{Conversation, Item};

/// What an arrival sends, before it has the form that a transport wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Sending {
    /// One request, for so many tokens unless it says otherwise.
    Single(Item, u32),
    /// A conversation.
    Conversation(Conversation),
}

/// Makes of prompts what a transport sends. Runs ahead of the driver, on a thread of its own.
pub trait Prepare: Send + 'static {
    /// What the transport sends.
    type Body: Body;

    /// A request for so many tokens, unless the data ask for a number of their own.
    fn single(&self, item: &Item, output_tokens: u32) -> Payload<Self::Body>;

    /// The requests of a conversation; nothing of one without turns.
    fn conversation(&self, conversation: &Conversation) -> Option<Work<Self::Body>>;

    /// What an arrival brings.
    fn work(&self, sending: &Sending) -> Option<Work<Self::Body>> {
        match sending {
            Sending::Single(item, output) => Some(self.single(item, *output).into()),
            Sending::Conversation(conversation) => self.conversation(conversation),
        }
    }
}

/// A conversation after its first turn. Turns are made on the driver's own thread, between the
/// answer and the next request: everything that can be made ahead must have been.
pub trait Dialogue<B>: Send {
    /// The turn that follows this answer; nothing when the conversation is over.
    fn next(&mut self, answer: &str) -> Option<NextTurn<B>>;

    /// About how much memory it holds.
    fn size(&self) -> usize;
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextTurn<B> {
    /// How long the user takes before sending it.
    pub think: Nanos,
    /// What is sent.
    pub payload: Payload<B>,
}

/// What an arrival brings.
pub struct Work<B> {
    /// The request that is sent first.
    pub first: Payload<B>,
    /// What follows, if it is a conversation.
    pub then: Option<Box<dyn Dialogue<B>>>,
}

impl<B: Body> Work<B> {
    /// About how much memory it holds.
    pub(crate) fn size(&self) -> usize {
        self.first.body.size() + self.then.as_ref().map_or(0, |then| then.size())
    }
}

impl<B> From<Payload<B>> for Work<B> {
    fn from(first: Payload<B>) -> Self {
        Self { first, then: None }
    }
}

/// Where a level takes its work from.
pub trait Supply<B> {
    /// Waits until so much is ready, or as much as can be.
    fn fill(&self, _wanted: usize) {}

    /// The next arrival's; nothing when there is no more.
    fn take(&mut self) -> Option<Work<B>>;
}
