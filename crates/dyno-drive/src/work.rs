//! What is sent: a single request, or turns that wait for each other; and how a prompt becomes what a transport
//! sends.

use crate::transport::{Body, Payload};
use dyno_model::prompt::{Conversation, Item};
use dyno_model::tree::{Growth, PlannedTurn, Repeated};
use std::sync::Arc;

/// What an arrival sends, before it has the transport's form.
pub enum Sending {
    /// One request for this many tokens, unless the item states its own number.
    Single(Item, u32),
    /// A conversation.
    Conversation(Conversation),
    /// A tree of sessions.
    Tree(Box<dyn TreePrompts>),
}

/// Makes the prompts of a tree of sessions, when they are needed.
pub trait TreePrompts: Send {
    /// Its turns, each behind those that it waits for.
    fn turns(&self) -> Arc<[PlannedTurn]>;

    /// The prompt of a turn; those of one session are asked for in order. `None` where it cannot be made, which ends
    /// the level.
    fn prompt(&mut self, turn: u32) -> Option<TreePrompt>;

    /// Whether prompts contain the answers to earlier turns, so that they cannot be made before.
    fn contain_answers(&self) -> bool;

    /// The prompt of a turn is sent; what of it was sent before.
    fn sent(&mut self, turn: u32) -> Option<Repeated>;

    /// A turn was answered.
    fn answered(&mut self, turn: u32, answer: &str);

    /// About how much memory it holds.
    fn size(&self) -> usize;
}

/// A prompt of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreePrompt {
    /// What is sent.
    pub item: Item,
    /// How it follows the prompt before it.
    pub growth: Option<Growth>,
    /// It cannot be sent: with its response it is longer than the context of the server.
    pub overflows: bool,
}

/// Converts prompts into what a transport sends. Runs ahead of the driver, on a separate thread.
pub trait Prepare: Send + Sync + 'static {
    /// What the transport sends.
    type Body: Body;

    /// A request for this many tokens, unless the data state their own number.
    fn single(&self, item: &Item, output_tokens: u32) -> Payload<Self::Body>;

    /// The requests of a conversation; `None` for one without turns.
    fn conversation(&self, conversation: &Conversation) -> Option<Turns<Self::Body>>;
}

/// Makes the requests of turns. What can be prepared ahead must have been: requests are taken on the driver's thread.
pub trait TurnRequests<B>: Send {
    /// The request of a turn that is due; those of one session are taken in order. `None` where it cannot be made.
    fn take(&mut self, turn: u32) -> Option<TurnRequest<B>>;

    /// A request was sent: the next one of its session may be made.
    fn sent(&mut self, _turn: u32) {}

    /// A turn was answered.
    fn answered(&mut self, _turn: u32, _answer: &str) {}

    /// About how much memory it holds.
    fn size(&self) -> usize;
}

/// The request of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRequest<B> {
    /// What is sent.
    pub payload: Payload<B>,
    /// How its prompt follows the one before it, in a tree.
    pub growth: Option<Growth>,
    /// What of it was sent before, in a tree.
    pub repeated: Option<Repeated>,
    /// It is longer than the context of the server, and is not sent.
    pub overflows: bool,
}

impl<B> From<Payload<B>> for TurnRequest<B> {
    fn from(payload: Payload<B>) -> Self {
        Self { payload, growth: None, repeated: None, overflows: false }
    }
}

/// Turns that wait for each other.
pub struct Turns<B> {
    /// What waits for what, each turn behind those that it waits for; at least one.
    pub planned: Arc<[PlannedTurn]>,
    /// Makes their requests.
    pub requests: Box<dyn TurnRequests<B>>,
    /// Whether they are a tree of sessions, which its records say, or one conversation.
    pub is_tree: bool,
}

impl<B> Turns<B> {
    /// A conversation whose turns follow each other after these pauses; the first one begins it.
    pub fn conversation(
        pauses: impl IntoIterator<Item = dyno_model::Nanos>,
        requests: Box<dyn TurnRequests<B>>,
    ) -> Self {
        let planned = (0_u32..).zip(pauses).map(|(turn, pause)| PlannedTurn {
            number: turn + 1,
            waits: turn.checked_sub(1).into_iter().collect(),
            gap: if turn == 0 { 0 } else { pause },
            ..PlannedTurn::default()
        });
        Self { planned: planned.collect(), requests, is_tree: false }
    }
}

/// What an arrival brings.
pub enum Work<B> {
    /// One request.
    Single(Payload<B>),
    /// Turns that wait for each other.
    Turns(Turns<B>),
}

impl<B: Body> Work<B> {
    /// About how much memory it holds.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Single(payload) => payload.body.size(),
            Self::Turns(turns) => turns.requests.size() + size_of_val(&turns.planned[..]),
        }
    }
}

impl<B> From<Payload<B>> for Work<B> {
    fn from(first: Payload<B>) -> Self {
        Self::Single(first)
    }
}

/// Where a level takes its work from.
pub trait Supply<B> {
    /// Waits until this many are ready, or as many as there can be.
    fn fill(&self, _wanted: usize) {}

    /// The next arrival's work; `None` when there is no more.
    fn take(&mut self) -> Option<Work<B>>;
}
