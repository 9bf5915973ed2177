//! What a search has found, as it stands in `summary.json`.

use super::Doubted;
use serde::{Deserialize, Serialize};

/// What levels that were chosen as the run went have found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum SearchSummary {
    /// The highest load that keeps the SLO lies between two.
    Capacity {
        /// `req/s` or `in flight`.
        unit: String,
        /// The highest load that it is said to hold; absent: none of those that were tried.
        holds: Option<f64>,
        /// The lowest that it is said not to hold; absent: it held all that were tried.
        does_not_hold: Option<f64>,
        /// The chance that the edge is between them; absent where there is none to tell.
        confidence: Option<f64>,
        /// Why it is to be taken with care.
        doubt: Option<Doubted>,
    },
    /// Throughput rises no further.
    Knee {
        /// From so many in flight on.
        concurrency: f64,
        /// Completed requests per second there.
        requests_per_s: f64,
        /// The highest of all levels.
        highest_per_s: f64,
    },
}
