//! Conversations of several turns: how many, how long the user thinks between them, and the user's
//! messages, from recorded conversations ([`led`]) or synthetic ([`SyntheticSessions`]). Responses are not
//! here: they come from the server that is measured.

mod made;
mod profile;
mod recorded;
mod think;

pub use made::SyntheticSessions;
pub use profile::SessionProfile;
pub use recorded::{Unusable, led, said};
pub(crate) use recorded::{check, is_answer};
pub use think::Think;

use crate::data::{DataSpec, FIELD_KEYS};
use crate::random::lengths::Lengths;
use crate::random::shared_prefix;
use dyno_model::{Message, message};

/// Default number of turns of a synthetic conversation.
const TURNS: u32 = 4;
/// The most turns that a conversation may have.
pub const MOST_TURNS: u32 = 10_000;

/// The options of `session`.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionOptions {
    /// Turns of a synthetic conversation; the most that are taken of a recorded one.
    pub turns: Option<Lengths>,
    /// Think time of the user from the end of a response to the next turn.
    pub think: Think,
    /// Tokens of the first message, where they differ from those of the others.
    pub first: Option<Lengths>,
    /// The first tokens of synthetic conversations that are shared within a group.
    pub prefix: u32,
    /// Groups that share them.
    pub groups: u32,
}

impl SessionOptions {
    /// Reads the options of a specification.
    pub fn new(spec: &DataSpec) -> Result<Self, Message> {
        match &spec.path {
            Some(_) => spec.only(&[&["turns", "think"][..], &FIELD_KEYS].concat())?,
            None => spec.only(&["turns", "think", "first", "prefix", "groups"])?,
        }
        let lengths = |key: &'static str, allowed: Message| {
            let read =
                |text: &str| text.parse::<Lengths>().map_err(|_| spec.bad_option(key, allowed));
            spec.option(key).map(read).transpose()
        };
        let turns: Option<Lengths> =
            lengths("turns", message!("8 or turns=4-12", "8 或 turns=4-12"))?;
        if let Some(turns) = turns
            && turns.longest().is_none_or(|longest| longest > MOST_TURNS)
        {
            let bounded = message!(
                "8, turns=4-12 or turns=zipf(1.2\\,1-100): it must have a largest number, of at most \
                 10000",
                "8、turns=4-12 或 turns=zipf(1.2\\,1-100)：必须有最大值，且不超过 10000"
            );
            return Err(spec.bad_option("turns", bounded));
        }
        let (prefix, groups) = shared_prefix(spec)?;
        Ok(Self {
            turns,
            think: think(spec)?.unwrap_or_default(),
            first: lengths("first", message!("2048 or first=512-4096", "2048 或 first=512-4096"))?,
            prefix,
            groups,
        })
    }

    /// What replaces the recorded turns and pauses of sessions in a trace: the most turns of each, and
    /// think times.
    pub(crate) fn of_trace(spec: &DataSpec) -> Result<(Option<u32>, Option<Think>), Message> {
        let turns = |text: &str| text.parse().ok().filter(|turns| (1..=MOST_TURNS).contains(turns));
        let turns = match spec.option("turns").map(turns) {
            Some(None) => {
                let most = message!(
                    "8: the most turns of each, 1 to 10000",
                    "8：每个会话最多的轮数，1 到 10000"
                );
                return Err(spec.bad_option("turns", most));
            }
            turns => turns.flatten(),
        };
        Ok((turns, think(spec)?))
    }

    /// Turns of a synthetic conversation.
    fn made_turns(&self) -> Lengths {
        self.turns.unwrap_or(Lengths::fixed(TURNS))
    }
}

/// `think=` of a specification.
fn think(spec: &DataSpec) -> Result<Option<Think>, Message> {
    let allowed = || {
        message!(
            "2s, think=1s-5s, think=exp(2s) or think=lognormal(10s,2)",
            "2s、think=1s-5s、think=exp(2s) 或 think=lognormal(10s,2)"
        )
    };
    let read = |text: &str| text.parse().map_err(|_| spec.bad_option("think", allowed()));
    spec.option("think").map(read).transpose()
}
