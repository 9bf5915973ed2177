//! Requests that are sent again because the server was overloaded, where the plan says so. Such a request
//! stays one arrival with one record: it was sent when it was first sent, and ends as its last
//! attempt does.

use crate::refusal::Refusal;
use crate::transport::{Ended, Job, Payload};
use dyno_model::Nanos;
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// How often and for how long a refused request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The most attempts after the first.
    pub at_most: u32,
    /// No attempt starts later than this after the first.
    pub within: Nanos,
}

/// A request that may have to be sent again.
#[derive(Debug)]
struct Kept<B> {
    payload: Payload<B>,
    /// What is known of it since it was first refused.
    refused: Option<Box<RequestRecord>>,
}

/// The requests of a level that may have to be sent again, by the index of their arrival.
#[derive(Debug)]
pub(crate) struct Retries<B> {
    rule: Option<Retry>,
    kept: HashMap<u64, Kept<B>>,
    /// Which are to be sent again, and when.
    waiting: BinaryHeap<Reverse<(Nanos, u64)>>,
}

impl<B: Clone> Retries<B> {
    pub(crate) fn new(rule: Option<Retry>) -> Self {
        Self { rule, kept: HashMap::new(), waiting: BinaryHeap::new() }
    }

    /// A request is sent for the first time. Without a rule, nothing is kept of it.
    pub(crate) fn sent(&mut self, index: u64, payload: &Payload<B>) {
        if self.rule.is_some() {
            self.kept.insert(index, Kept { payload: payload.clone(), refused: None });
        }
    }

    /// A request has ended; returned unless it is to be sent again.
    pub(crate) fn ended(&mut self, mut ended: Ended) -> Option<Ended> {
        let index = ended.record.index;
        let Some(kept) = self.kept.get_mut(&index) else { return Some(ended) };
        if let Some(before) = &kept.refused {
            keep_first_sending(&mut ended.record, before);
        }
        if let Some(due) = self.rule.and_then(|rule| again(rule, &ended.record)) {
            ended.record.first_refused.get_or_insert(ended.record.end);
            if let Outcome::Shed(class) = ended.record.outcome {
                ended.record.refused_as.get_or_insert(class);
            }
            kept.refused = Some(ended.record);
            self.waiting.push(Reverse((due, index)));
            return None;
        }
        self.kept.remove(&index);
        Some(ended)
    }

    /// Whether none waits to be sent again.
    pub(crate) fn nobody_waits(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the next one is due.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.waiting.peek().map(|Reverse((due, _))| *due)
    }

    /// The next attempt of a request that is due.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Job<B>> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse((_, index)) = self.waiting.pop()?;
        let Kept { payload, refused } = self.kept.get_mut(&index)?;
        let record = refused.as_mut()?;
        record.retries += 1;
        Some(Job {
            level: record.level,
            index,
            slot: record.slot,
            turn: record.turn,
            tree: record.tree.clone(),
            phase: record.phase,
            intended: record.intended,
            slack: record.widths.map_or(0, |widths| widths.intended),
            admitted: record.admitted,
            dispatched: now,
            payload: payload.clone(),
        })
    }

    /// Sends nothing again from now on: what waits ends as it was refused last.
    pub(crate) fn give_up(&mut self, ended: &mut Vec<Ended>) {
        self.rule = None;
        while let Some(Reverse((_, index))) = self.waiting.pop() {
            let refused = self.kept.remove(&index).and_then(|kept| kept.refused);
            ended.extend(refused.map(Ended::from));
        }
    }
}

/// When a request is to be sent again, if it is.
fn again(rule: Retry, record: &RequestRecord) -> Option<Nanos> {
    let refusal = Refusal::of(record).filter(|_| matches!(record.outcome, Outcome::Shed(_)))?;
    let left = rule.at_most.checked_sub(record.retries).filter(|left| *left > 0);
    let due = record.end.saturating_add(refusal.wait(record.retries + 1));
    let since = due.saturating_sub(record.dispatched.unwrap_or(record.intended));
    left.filter(|_| since <= rule.within).map(|_| due)
}

/// All attempts are one request, sent when the first of them was.
fn keep_first_sending(record: &mut RequestRecord, before: &RequestRecord) {
    record.retries = before.retries;
    record.first_refused = before.first_refused;
    record.refused_as = before.refused_as;
    // What the last refusal asked for.
    record.retry_after = record.retry_after.or(before.retry_after);
    record.dispatched = before.dispatched;
    record.connected = before.connected;
    record.reused = before.reused;
    record.resent |= before.resent;
    record.sent = before.sent.or(record.sent);
    if let (Some(widths), Some(first)) = (&mut record.widths, before.widths) {
        widths.sent = first.sent;
    }
}
