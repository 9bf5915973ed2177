//! The outcomes of the arrivals of a level.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The outcomes of the arrivals; all but `planned` and `resent` add up to those issued. Dyno's own
/// runs have all of them; imported results have those that the tool reported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RequestCounts {
    /// Planned; for a level that ended by time, those issued.
    pub planned: Option<u64>,
    /// Complete, valid responses.
    pub completed: Option<u64>,
    /// Failures, without those that were shed or unconfirmed.
    pub failed: Option<u64>,
    /// Refused because the server was overloaded; absent where that is not told apart from failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shed: Option<u64>,
    /// Ended with neither a finish reason nor the requested number of tokens; absent in imported
    /// results and those of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<u64>,
    /// Could not be sent.
    pub dropped: Option<u64>,
    /// Not sent because they were longer than the server's context; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflowed: Option<u64>,
    /// Still running when the run had to stop.
    pub censored: Option<u64>,
    /// Sent again because a reused connection turned out closed.
    pub resent: Option<u64>,
    /// Failures by class, with those that were `unconfirmed`, without those that were shed.
    pub failures: BTreeMap<String, u64>,
}

impl RequestCounts {
    /// Whether the share of failed, unconfirmed and shed requests is above `allowed`, or no request completed
    /// although some ended.
    pub fn bar_missed(&self, allowed: f64) -> bool {
        let nothing = self.completed == Some(0) && self.planned.is_some_and(|planned| planned > 0);
        nothing && !self.none_ended() || self.failure_share().is_some_and(|share| share > allowed)
    }

    /// Whether all were still running when the level had to stop, so that nothing is known of them.
    pub fn none_ended(&self) -> bool {
        self.ended() == Some(0) && self.censored.is_some_and(|censored| censored > 0)
    }

    /// Those that failed or were unconfirmed.
    pub fn failed_or_unconfirmed(&self) -> Option<u64> {
        Some(self.failed? + self.unconfirmed.unwrap_or_default())
    }

    /// Those that were sent and did not complete: failed, unconfirmed or shed.
    pub fn refused(&self) -> Option<u64> {
        Some(self.failed_or_unconfirmed()? + self.shed.unwrap_or_default())
    }

    /// Those that failed, were unconfirmed or shed, or could not be sent.
    pub fn bad(&self) -> Option<u64> {
        Some(self.refused()? + self.dropped.unwrap_or_default())
    }

    /// Those that completed, failed, were unconfirmed or shed, or could not be sent.
    pub fn ended(&self) -> Option<u64> {
        Some(self.completed? + self.bad()?)
    }

    /// Share of failed, unconfirmed and shed requests among these and those that completed.
    pub fn failure_share(&self) -> Option<f64> {
        let (completed, refused) = (self.completed?, self.refused()?);
        let ended = completed + refused;
        (ended > 0).then(|| refused as f64 / ended as f64)
    }

    /// Share of failed and unconfirmed requests among the same, without those that were shed.
    pub fn failed_share(&self) -> Option<f64> {
        let (failed, ended) = (self.failed_or_unconfirmed()?, self.completed? + self.refused()?);
        (ended > 0).then(|| failed as f64 / ended as f64)
    }

    /// Share of shed requests among the same, where some were shed.
    pub fn shed_share(&self) -> Option<f64> {
        let shed = self.shed.filter(|shed| *shed > 0)?;
        Some(shed as f64 / (self.completed? + self.refused()?) as f64)
    }
}
