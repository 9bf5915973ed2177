//! What a search has found, as it stands in `summary.json`.

use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
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
        /// Why it is to be taken with care; written down as text alone.
        #[serde(with = "as_text")]
        doubt: Option<Diagnostic>,
        /// Whether a load was found that keeps the SLO; absent in what version 0.1 wrote.
        #[serde(default)]
        outcome: Option<Decision>,
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

impl SearchSummary {
    /// Whether a load was found that keeps the SLO; nothing where none was asked for. Version 0.1
    /// did not say it: there, no load that was tried was a load that failed.
    pub fn outcome(&self) -> Option<Decision> {
        match self {
            Self::Capacity { outcome: Some(outcome), .. } => Some(*outcome),
            Self::Capacity { holds, does_not_hold, .. } => {
                Some(match (holds.is_some(), does_not_hold.is_some()) {
                    (true, _) => Decision::Met,
                    (false, true) => Decision::Missed,
                    (false, false) => Decision::Inconclusive,
                })
            }
            Self::Knee { .. } => None,
        }
    }
}

/// A diagnostic of which only the text is written down.
mod as_text {
    use crate::diagnostic::Diagnostic;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        doubt: &Option<Diagnostic>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        doubt.as_ref().map(|doubt| &doubt.what).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Diagnostic>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(|what| Diagnostic::new("doubt", what, None::<String>)))
    }
}
