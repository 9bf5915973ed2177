//! What a task of a coding agent was: a tree of sessions, each a list of turns, with what every turn waits for. It has
//! lengths, times and prefixes of all formats alike; what a format does not say is absent.

use std::fmt;
use std::sync::Arc;

use dyno_model::Nanos;
use serde_json::Value;

use super::format::AgenticFormat;
use crate::data::At;

/// A task: a root session and all its sub-agents. It is replayed whole or not at all.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Its name in the file.
    pub name: String,
    /// Where it begins.
    pub at: At,
    /// The form of its file.
    pub format: AgenticFormat,
    /// The time of its first moment on a clock that it shares with the other trees of the file.
    pub start: Option<Nanos>,
    /// What its prompts are made of.
    pub prompts: PromptParts,
    /// The messages of its turns, where the file has text.
    pub messages: Vec<PromptMessage>,
    /// The root session first, each session after its parent.
    pub sessions: Vec<TreeSession>,
    /// Input and output tokens of the whole tree, where the file has nothing but the totals.
    pub totals: Option<(u64, u64)>,
}

/// What the prompts of a tree are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptParts {
    /// Nothing but lengths.
    Lengths,
    /// Blocks of so many tokens, named by ids. Ids of `local` ones mean nothing in another tree.
    Blocks {
        /// Tokens of a block.
        size: u32,
        /// Whether the ids are those of this tree alone.
        local: bool,
    },
    /// Messages.
    Messages {
        /// Whether they are the whole prompt: logs of agents lack the text of the system and the tools.
        whole: bool,
    },
}

/// A message or a part of one, which is shared whole or not at all. Equal keys are equal messages.
#[derive(Debug, Clone)]
pub struct PromptMessage {
    /// Its parts in order: a key and a number of characters.
    pub parts: Vec<(u64, u32)>,
    /// The message as OpenAI's API has it, where texts are kept.
    pub body: Option<Arc<Value>>,
}

/// Turns that each wait for the one before and repeat its history.
#[derive(Debug, Clone, Default)]
pub struct TreeSession {
    /// Its name in the file.
    pub name: String,
    /// What kind of sub-agent it is, in the words of the file.
    pub kind: Option<String>,
    /// The place of the session that started it; absent in a root.
    pub parent: Option<usize>,
    /// Tokens of the definitions of tools and of the system's text at the beginning of its prompts.
    pub head: Option<(u64, u64)>,
    /// Its turns, in order; at least one.
    pub turns: Vec<TreeTurn>,
}

/// One request and its response.
#[derive(Debug, Clone, Default)]
pub struct TreeTurn {
    /// Input tokens of the whole prompt.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// The most output tokens that the request allowed.
    pub limit: Option<u64>,
    /// Input tokens that the recording server had cached.
    pub cached: Option<u64>,
    /// When it was sent, since the tree began.
    pub sent: Option<Nanos>,
    /// When its response was complete, since the tree began.
    pub ended: Option<Nanos>,
    /// From the latest end among what it waits for to its sending.
    pub gap: Option<Nanos>,
    /// What it waits for; nothing in the first turn of a root.
    pub waits: Vec<Wait>,
    /// The model that was asked.
    pub model: Option<Arc<str>>,
    /// Ids of the blocks of its prompt.
    pub ids: Vec<u64>,
    /// How many messages it keeps of the previous turn's prompt and response.
    pub kept: u32,
    /// Places in the tree's messages of those that it adds.
    pub added: Vec<u32>,
    /// Places in the tree's messages of its response.
    pub response: Vec<u32>,
    /// Calls of tools in its response, and results of tools in its prompt.
    pub tools: Tools,
    /// Definitions of tools, in the first turn that has them.
    pub definitions: Option<Arc<Value>>,
    /// Whether it failed when it was recorded.
    pub failed: bool,
    /// Whether the history was summarised before it.
    pub compacted: bool,
}

/// How often a turn uses tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tools {
    /// Calls in the response.
    pub calls: u32,
    /// Results in the prompt, since the previous turn.
    pub results: u32,
}

/// A turn that another one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// Which.
    pub on: TurnAt,
    /// How that is known.
    pub why: Why,
}

/// The place of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnAt {
    /// The place of its session in the tree.
    pub session: usize,
    /// Its place in the session.
    pub turn: usize,
}

/// How it is known that a turn waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It is the turn before it in its session.
    Session,
    /// The file says so, or it follows from the place of a sub-agent in the file: the other one started this session.
    Spawn,
    /// The same: this one waited for the end of the other session.
    Join,
    /// The response of the other one is in its prompt.
    Text,
    /// The other one was the last to end before it was sent.
    Time,
}

impl Tree {
    /// How many turns all sessions have.
    pub fn turns(&self) -> usize {
        self.sessions.iter().map(|session| session.turns.len()).sum()
    }

    /// A turn by its place.
    pub fn turn(&self, at: TurnAt) -> Option<&TreeTurn> {
        self.sessions.get(at.session)?.turns.get(at.turn)
    }

    /// All turns with their places, session by session.
    pub fn all(&self) -> impl Iterator<Item = (TurnAt, &TreeTurn)> {
        self.sessions.iter().enumerate().flat_map(|(session, of)| {
            of.turns.iter().enumerate().map(move |(turn, one)| (TurnAt { session, turn }, one))
        })
    }

    /// Whether a turn waits for more than the turn before it in its session or the one that started its session.
    pub fn joins(&self, at: TurnAt) -> bool {
        self.turn(at).is_some_and(|turn| {
            turn.waits.len() > 1 || turn.waits.iter().any(|wait| wait.why == Why::Join)
        })
    }

    /// Sub-agents whose end no turn of another session waits for.
    pub fn background(&self) -> usize {
        let mut awaited = vec![false; self.sessions.len()];
        for (at, turn) in self.all() {
            for wait in &turn.waits {
                let last = self.sessions.get(wait.on.session).map(|one| one.turns.len());
                if wait.on.session != at.session && last == Some(wait.on.turn + 1) {
                    awaited[wait.on.session] = true;
                }
            }
        }
        awaited.iter().skip(1).filter(|awaited| !**awaited).count()
    }
}

impl fmt::Display for TurnAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session + 1, self.turn + 1)
    }
}
