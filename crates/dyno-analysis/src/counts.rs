//! Counting what becomes of arrivals, while records are read.

use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::summary::RequestCounts;
use std::collections::BTreeMap;

/// What became of the arrivals so far; the meaning of each is at [`RequestCounts`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Asked for by the plan.
    pub planned: u64,
    /// Whole, proper answers.
    pub completed: u64,
    /// Answers that were not.
    pub failed: u64,
    /// Could not be sent.
    pub dropped: u64,
    /// Still running when the run had to stop.
    pub censored: u64,
    /// Sent again.
    pub resent: u64,
    /// Failures by class.
    pub failures: BTreeMap<String, u64>,
}

impl Counts {
    /// Counts what became of an arrival.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        self.resent += u64::from(record.resent);
        match &record.outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Dropped(_) => self.dropped += 1,
            Outcome::Censored => self.censored += 1,
            Outcome::Failed(class) => {
                self.failed += 1;
                *self.failures.entry(class.to_string()).or_insert(0) += 1;
            }
        }
    }

    /// Those that ended with an answer, a failure, or without having been sent.
    pub(crate) fn ended(&self) -> u64 {
        self.completed + self.failed + self.dropped
    }

    /// The share of failures is above `allowed`, or not one request completed.
    pub(crate) fn bar_missed(&self, allowed: f64) -> bool {
        RequestCounts::from(self.clone()).bar_missed(allowed)
    }
}

impl From<Counts> for RequestCounts {
    fn from(counts: Counts) -> Self {
        Self {
            planned: Some(counts.planned),
            completed: Some(counts.completed),
            failed: Some(counts.failed),
            dropped: Some(counts.dropped),
            censored: Some(counts.censored),
            resent: Some(counts.resent),
            failures: counts.failures,
        }
    }
}
