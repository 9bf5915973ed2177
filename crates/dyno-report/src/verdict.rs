//! Whether a level is to be believed.

use crate::messages::{Language, Message};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict on a level, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Believe it.
    Valid,
    /// Another tool's figures: nobody saw how its client fared.
    Unjudged,
    /// Read it with the stated caveat.
    Suspect,
    /// The figures describe the load generator, not the server.
    Invalid,
}

impl Verdict {
    /// What it is called.
    pub(crate) fn word(self) -> Message {
        match self {
            Self::Valid => Message::Valid,
            Self::Unjudged => Message::Unjudged,
            Self::Suspect => Message::Suspect,
            Self::Invalid => Message::Invalid,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word().text(Language::English))
    }
}
