//! What is sent: a single request, or a conversation whose turns depend on the responses; and how a
//! prompt becomes what a transport sends.

use crate::transport::{Body, Payload};
use dyno_model::Nanos;
use dyno_model::prompt::{Conversation, Item};

/// What an arrival sends, before it has the transport's form.
#[derive(Debug, Clone, PartialEq)]
pub enum Sending {
    /// One request for this many tokens, unless the item states its own number.
    Single(Item, u32),
    /// A conversation.
    Conversation(Conversation),
}

/// Converts prompts into what a transport sends. Runs ahead of the driver, on a separate thread.
pub trait Prepare: Send + 'static {
    /// What the transport sends.
    type Body: Body;

    /// A request for this many tokens, unless the data state their own number.
    fn single(&self, item: &Item, output_tokens: u32) -> Payload<Self::Body>;

    /// The requests of a conversation; `None` for one without turns.
    fn conversation(&self, conversation: &Conversation) -> Option<Work<Self::Body>>;

    /// What an arrival brings.
    fn work(&self, sending: &Sending) -> Option<Work<Self::Body>> {
        match sending {
            Sending::Single(item, output) => Some(self.single(item, *output).into()),
            Sending::Conversation(conversation) => self.conversation(conversation),
        }
    }
}

/// A conversation after its first turn. Turns are completed on the driver's thread, between the
/// response and the next request, so everything that can be prepared ahead must have been.
pub trait Dialogue<B>: Send {
    /// The turn that follows this response; `None` when the conversation is over.
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
    /// Waits until this many are ready, or as many as there can be.
    fn fill(&self, _wanted: usize) {}

    /// The next arrival's work; `None` when there is no more.
    fn take(&mut self) -> Option<Work<B>>;
}
