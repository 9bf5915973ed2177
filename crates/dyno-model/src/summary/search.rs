//! The result of a search in `summary.json`.

use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[allow(clippy::large_enum_variant, reason = "a run has one")]
pub enum SearchSummary {
    /// The highest load that meets the SLO lies between two loads.
    Capacity {
        /// `req/s` or `in flight`.
        unit: String,
        /// The highest load that meets the SLO; absent: none of those tried.
        holds: Option<f64>,
        /// The lowest load that misses it; absent: all of those tried met it.
        does_not_hold: Option<f64>,
        /// The probability that the capacity is between them; absent where it is not known.
        confidence: Option<f64>,
        /// Why to be cautious; saved as text only.
        #[serde(with = "as_text")]
        doubt: Option<Diagnostic>,
        /// Whether a load was found that meets the SLO; absent in summaries of version 0.1.
        #[serde(default)]
        outcome: Option<Decision>,
    },
    /// Throughput stops rising.
    Knee {
        /// From this concurrency on.
        concurrency: f64,
        /// Completed requests per second there.
        requests_per_s: f64,
        /// The highest of all levels.
        highest_per_s: f64,
    },
}

impl SearchSummary {
    /// Whether a load was found that meets the SLO; absent for other searches. Version 0.1 did not
    /// save it: there, a missing load means that the SLO was missed.
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

/// A diagnostic of which only the text is saved.
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
