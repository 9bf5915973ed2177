//! Whether to trust a level.

use crate::language::Language;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict on a level, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Trust it.
    Valid,
    /// Results of another tool, whose client was not observed.
    #[default]
    Unjudged,
    /// Read it with the stated caveat.
    Suspect,
    /// The results describe the load generator, not the server.
    Invalid,
}

impl Verdict {
    /// What it is called.
    pub fn name(self, language: Language) -> &'static str {
        language.choose(match self {
            Self::Valid => ["valid", "有效"],
            Self::Unjudged => ["unjudged", "未判定"],
            Self::Suspect => ["suspect", "存疑"],
            Self::Invalid => ["invalid", "无效"],
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name(Language::English))
    }
}
