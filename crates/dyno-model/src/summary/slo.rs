//! Whether a level keeps the SLO, as it stands in `summary.json`.

use serde::{Deserialize, Serialize};

/// What the SLO says of a level, and how much of its work kept it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SloSummary {
    /// The level as a whole.
    #[serde(flatten)]
    pub verdict: SloVerdict,
    /// Completed requests that met every term on times, per second.
    pub goodput_per_s: Option<f64>,
    /// Their share of the requests that ended.
    pub met_share: Option<f64>,
}

/// Whether a level keeps the SLO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SloVerdict {
    /// Every term holds; absent where that cannot be told: no term fails but a figure is absent,
    /// or the level is invalid.
    pub passed: Option<bool>,
    /// Term by term.
    pub terms: Vec<TermVerdict>,
}

/// One term against the figure that it bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TermVerdict {
    /// As it is written: `ttft.p99<500ms`.
    pub term: String,
    /// The level's figure.
    pub value: Option<f64>,
    /// Its bound.
    pub bound: f64,
    /// Of both: `ms`, `%`, `req/s` or `tok/s`.
    pub unit: String,
    /// It holds.
    pub met: Option<bool>,
    /// Too few samples for this percentile.
    pub few_samples: bool,
}
