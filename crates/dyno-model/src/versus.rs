//! Two runs that alternate level by level, so that drift affects both equally.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Which of the two a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The target.
    A,
    /// The second target.
    B,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// One of two alternating runs. Both have the same levels in the same order; levels with the same
/// index are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versus {
    /// Which of the two this is.
    pub side: Side,
    /// The name of the other run.
    pub other_run: String,
    /// The other target, without credentials.
    pub other_target: String,
}
