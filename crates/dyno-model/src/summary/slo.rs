//! The SLO of a level in `summary.json`.

use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// Whether a level meets the SLO, and its goodput.
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

/// Whether a level meets the SLO.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedVerdict")]
pub struct SloVerdict {
    /// Of all terms together.
    pub outcome: Decision,
    /// The same as a truth value, absent where it is inconclusive; written by all versions.
    pub passed: Option<bool>,
    /// Term by term.
    pub terms: Vec<TermVerdict>,
}

/// One term with the value that it bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "SavedTerm")]
pub struct TermVerdict {
    /// The term: `ttft.p99<500ms`.
    pub term: String,
    /// The level's value.
    pub value: Option<f64>,
    /// Its bound.
    pub bound: f64,
    /// Of both: `ms`, `%`, `req/s` or `tok/s`.
    pub unit: String,
    /// Whether it holds.
    pub outcome: Decision,
    /// The same as a truth value, absent where it is inconclusive; written by all versions.
    pub met: Option<bool>,
    /// Too few samples for this percentile.
    pub few_samples: bool,
    /// The value is known only roughly, so that its instrument range decided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
    /// Why it is inconclusive, and what would decide it.
    pub why: Option<Box<Diagnostic>>,
}

impl SloVerdict {
    /// From terms that must all be met.
    pub fn of(terms: Vec<TermVerdict>) -> Self {
        let outcome = Decision::all(terms.iter().map(|term| term.outcome));
        Self { outcome, passed: outcome.known(), terms }
    }
}

/// The form of any version: version 0.1 has no `outcome`.
#[derive(Deserialize)]
struct SavedVerdict {
    outcome: Option<Decision>,
    passed: Option<bool>,
    terms: Vec<TermVerdict>,
}

impl From<SavedVerdict> for SloVerdict {
    fn from(saved: SavedVerdict) -> Self {
        let SavedVerdict { outcome, passed, terms } = saved;
        Self { outcome: outcome.unwrap_or_else(|| passed.into()), passed, terms }
    }
}

#[derive(Deserialize)]
struct SavedTerm {
    term: String,
    value: Option<f64>,
    bound: f64,
    unit: String,
    outcome: Option<Decision>,
    met: Option<bool>,
    few_samples: bool,
    #[serde(default)]
    uncertain: bool,
    #[serde(default)]
    why: Option<Box<Diagnostic>>,
}

impl From<SavedTerm> for TermVerdict {
    fn from(saved: SavedTerm) -> Self {
        let SavedTerm { term, value, bound, unit, outcome, met, few_samples, uncertain, why } =
            saved;
        let outcome = outcome.unwrap_or_else(|| met.into());
        Self { term, value, bound, unit, outcome, met, few_samples, uncertain, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_version_0_1_wrote_says_the_same() {
        let term = |met: &str| {
            format!(
                r#"{{"term": "ttft.p99<1s", "value": 1.0, "bound": 1000.0, "unit": "ms",
                     "met": {met}, "few_samples": false}}"#
            )
        };
        let read = |passed: &str| -> SloSummary {
            let text = format!(
                r#"{{"passed": {passed}, "terms": [{}], "goodput_per_s": 1.0, "met_share": null}}"#,
                term(passed)
            );
            serde_json::from_str(&text).unwrap()
        };
        for (saved, outcome) in
            [("true", Decision::Met), ("false", Decision::Missed), ("null", Decision::Inconclusive)]
        {
            let found = read(saved);
            assert_eq!(found.verdict.outcome, outcome);
            assert_eq!(found.verdict.terms[0].outcome, outcome);
            let again: SloSummary =
                serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
            assert_eq!(again, found);
        }
    }
}
