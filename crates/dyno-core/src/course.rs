//! How a run goes from level to level: what happens between them, and who chooses the next.

use crate::Nanos;
use crate::slo::Condition;
use serde::{Deserialize, Serialize};

/// From level to level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// Rest between levels, once nothing is in flight.
    #[serde(skip_serializing_if = "is_zero")]
    pub cooldown_ns: Nanos,
    /// The server is asked to forget what it has cached before each level.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset_cache: bool,
    /// No more levels are run once a level meets one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_on: Vec<Condition>,
    /// Levels are chosen by what the levels before them showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
}

impl Course {
    /// Level after level, as they stand in the plan.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// What the levels to come are chosen for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Search {
    /// Rates between one request at a time and as many as the server completes.
    Sweep {
        /// Levels in all.
        points: u32,
        /// Where they lie.
        spacing: Spacing,
    },
    /// A closed loop that doubles until throughput stops rising, then fills in the knee.
    Ladder {
        /// The most in flight.
        most: u32,
    },
}

/// Where the rates of a sweep lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Where the curve bends.
    Bend,
    /// In equal steps.
    Linear,
}

fn is_zero(nanos: &Nanos) -> bool {
    *nanos == 0
}
