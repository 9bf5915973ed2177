//! Agents on other machines, over a NATS server: the bus. Both sides dial out to it and listen nowhere.
//!
//! | subject | from → to | what |
//! | --- | --- | --- |
//! | `PREFIX.lobby` | coordinator → all agents | a call for agents |
//! | `PREFIX.agent.ID` | coordinator → one agent | engaged, released; frames of its line |
//! | `PREFIX.run.SESSION.ID` | agent → coordinator | who is there and whether it is free; frames |
//!
//! `ID` and `SESSION` are drawn at random for each agent process and each run, so runs on one bus do not
//! see each other. Agents of any version answer a call, so that a coordinator can say why it does not
//! take them.
//!
//! Frames to agents ask for an answer on the agent's subject of the run, which nobody gives: this is how a
//! server tells that an agent's connection is gone, at once after its process was killed.
//!
//! A bus delivers at most once: what is under way when a server dies is lost. Lines are therefore numbered
//! and repeated (`link.rs`), and an interruption that is shorter than the limits of silence is survived.
//! The bus runs on a thread of its own, far from anything that is measured. Slow-consumer limits do not
//! matter: there are a call and a beat a second, and pieces of files and records are asked for one at a
//! time. Nothing of JetStream is used.

mod connection;
mod early;
mod error;
mod hub;
mod link;
mod lobby;
mod notice;
mod options;
mod roster;

pub use error::{BusError, TooFew};
pub use hub::{Bus, Call, hub};
pub use lobby::{Engagement, Lobby, Notice};
pub use options::{BusOptions, Given};

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Names an agent process or a run on the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Id(u64);

impl Id {
    /// A new one. It has to be different from others, not secret: who may use the bus sees it.
    fn draw() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }

    /// Reads what [`Display`](fmt::Display) writes, and nothing else: ids become parts of subjects.
    fn read(text: &str) -> Option<Self> {
        let digits =
            text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        digits.then(|| u64::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Where messages go.
#[derive(Debug, Clone)]
struct Subjects {
    prefix: String,
}

impl Subjects {
    fn lobby(&self) -> String {
        format!("{}.lobby", self.prefix)
    }

    fn agent(&self, id: Id) -> String {
        format!("{}.agent.{id}", self.prefix)
    }

    fn run(&self, session: Id, id: Id) -> String {
        format!("{}.run.{session}.{id}", self.prefix)
    }

    fn whole_run(&self, session: Id) -> String {
        format!("{}.run.{session}.*", self.prefix)
    }

    /// The agent that sent to a subject of a run.
    fn sender(subject: &str) -> Option<Id> {
        subject.rsplit('.').next().and_then(Id::read)
    }
}
