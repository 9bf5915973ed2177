//! Counts the outcomes of requests while records are read.

use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::summary::RequestCounts;
use std::collections::BTreeMap;

/// The outcomes so far; see [`RequestCounts`] for the meaning of each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Requested by the plan.
    pub planned: u64,
    /// Complete, well-formed responses.
    pub completed: u64,
    /// Failed requests, without those that were shed or unconfirmed.
    pub failed: u64,
    /// Ended with neither a finish reason nor the requested number of tokens.
    pub unconfirmed: u64,
    /// Refused because the server was overloaded.
    pub shed: u64,
    /// Could not be sent.
    pub dropped: u64,
    /// Not sent because they were longer than the server's context.
    pub overflowed: u64,
    /// Still running when the run had to stop.
    pub censored: u64,
    /// Never sent: those that were dropped, and those that still waited when sending stopped.
    pub unsent: u64,
    /// Sent again.
    pub resent: u64,
    /// Failures by class.
    pub failures: BTreeMap<String, u64>,
}

impl Counts {
    /// Counts the outcome of a request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        self.resent += u64::from(record.resent);
        self.unsent += u64::from(record.was_never_sent() && !record.outcome.is_overflow());
        match &record.outcome {
            Outcome::Completed => self.completed += 1,
            outcome if outcome.is_overflow() => self.overflowed += 1,
            Outcome::Dropped(_) => self.dropped += 1,
            Outcome::Censored => self.censored += 1,
            Outcome::Shed(_) => return self.shed += 1,
            Outcome::Unconfirmed => self.unconfirmed += 1,
            Outcome::Failed(_) => self.failed += 1,
        }
        if let Some(class) = record.outcome.class() {
            *self.failures.entry(class).or_insert(0) += 1;
        }
    }

    /// Requests that ended with a response, a failure or a refusal, or without having been sent.
    pub(crate) fn ended(&self) -> u64 {
        self.completed + self.bad()
    }

    /// Requests that have a record.
    pub(crate) fn records(&self) -> u64 {
        self.ended() + self.overflowed + self.censored
    }

    /// Requests that failed or were unconfirmed.
    pub fn failed_or_unconfirmed(&self) -> u64 {
        self.failed + self.unconfirmed
    }

    /// Requests that were sent and did not complete: failed, unconfirmed or shed.
    pub(crate) fn refused(&self) -> u64 {
        self.failed_or_unconfirmed() + self.shed
    }

    /// Requests that failed, were unconfirmed or shed, or could not be sent.
    pub fn bad(&self) -> u64 {
        self.refused() + self.dropped
    }

    /// Whether the share of failed and shed requests is above `allowed`, or no request completed.
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
            unconfirmed: Some(counts.unconfirmed),
            shed: Some(counts.shed),
            dropped: Some(counts.dropped),
            overflowed: Some(counts.overflowed).filter(|count| *count > 0),
            censored: Some(counts.censored),
            resent: Some(counts.resent),
            failures: counts.failures,
        }
    }
}
