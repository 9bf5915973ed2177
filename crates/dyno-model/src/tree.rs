//! Trees of sessions as they are replayed: what each turn waits for and for how long, and what the record of a request
//! says about its place in a tree.

use crate::Nanos;

/// A turn of a tree as it will be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedTurn {
    /// Place of its session in the tree; 0 is the root.
    pub session: u32,
    /// Its number in the session as it was recorded, from 1.
    pub number: u32,
    /// Places of the turns that it waits for; nothing in turns that start with the tree.
    pub waits: Vec<u32>,
    /// How long after the latest end among them, or after the start of the tree, it is due.
    pub gap: Nanos,
    /// By how much that is less than recorded.
    pub skipped: Nanos,
    /// When it was sent and when its response was complete, from the beginning of the recording.
    pub recorded: Option<(Nanos, Nanos)>,
    /// It only puts the history of its session into the server's cache, because the tree starts behind it.
    pub warms: bool,
}

/// How a prompt follows the one before it in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// It keeps the prompt before it, and has room for the whole response.
    Whole,
    /// It keeps the whole prompt before it, but holds less than its response.
    Trimmed,
    /// It does not keep the prompt before it.
    Cut,
}

/// Input tokens that earlier requests of the same tree have sent or received: what a cache without bounds would hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    /// In the longest beginning that an earlier prompt had.
    pub of_prompts: u32,
    /// The same, with the responses behind the prompts.
    pub with_responses: u32,
}

/// The place of a request in a tree. The session and the number of the turn are in
/// [`RequestRecord::turn`](crate::record::RequestRecord::turn): there a session is its place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOfTree {
    /// Index of the tree in its level.
    pub tree: u64,
    /// Requests of the whole tree. With fewer records it failed or was cut off.
    pub turns: u32,
    /// How long after the latest end among what it waits for it was due.
    pub gap: Nanos,
    /// By how much that is less than recorded.
    pub skipped: Nanos,
    /// From the first to the last end of other sessions that it waited for, where there are several.
    pub join_wait: Option<Nanos>,
    /// When it was sent and when its response was complete, from the beginning of the recording.
    pub recorded: Option<(Nanos, Nanos)>,
    /// How its prompt follows the one before it; absent in the first of a session.
    pub growth: Option<Growth>,
    /// What of it was sent or received before, where that is known.
    pub repeated: Option<Repeated>,
    /// It only warmed the server's cache.
    pub warms: bool,
}
