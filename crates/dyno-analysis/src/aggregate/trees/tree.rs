//! One tree from its records, in any order.

use super::{is_failure, is_overflow};
use crate::aggregate::concurrency::Flight;
use crate::aggregate::tokens::TokenSum;
use dyno_model::record::RequestRecord;
use dyno_model::tree::TurnOfTree;
use std::collections::BTreeMap;

/// How a tree ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Every request completed.
    Completed,
    /// A request failed.
    Failed,
    /// A request was longer than the server's context.
    Overflowed,
    /// The level ended first.
    Cut,
}

/// A tree, as far as there are records of it.
#[derive(Debug, Default)]
pub(super) struct OneTree {
    turns: u64,
    records: u64,
    measured: u64,
    completed: u64,
    failed: bool,
    overflowed: bool,
    alive: Option<(u64, u64)>,
    /// From sending to the end, of requests that do more than warm the cache.
    spans: Vec<(u64, u64)>,
    /// The same of completed requests whose recorded times are known, and these.
    own: Option<(u64, u64)>,
    recorded: Option<(u64, u64)>,
    /// By place: whether a request of it was measured, and whether one failed.
    sessions: BTreeMap<u64, (bool, bool)>,
    /// Of completed requests.
    input: TokenSum,
    output: TokenSum,
}

fn widen(range: &mut Option<(u64, u64)>, from: u64, to: u64) {
    let (first, last) = range.unwrap_or((from, to));
    *range = Some((first.min(from), last.max(to)));
}

fn length((from, to): (u64, u64)) -> u64 {
    to.saturating_sub(from)
}

impl OneTree {
    pub(super) fn add(&mut self, record: &RequestRecord, turn: &TurnOfTree) {
        let measured = record.phase.is_measured();
        self.turns = self.turns.max(turn.turns.into());
        self.records += 1;
        self.measured += u64::from(measured);
        self.completed += u64::from(record.is_completed());
        self.failed |= is_failure(record);
        self.overflowed |= is_overflow(record);
        let begun = record.sent.unwrap_or(record.intended);
        widen(&mut self.alive, begun, record.end);
        let session = record.turn.map_or(0, |turn| turn.session);
        let known = self.sessions.entry(session).or_default();
        known.0 |= measured;
        known.1 |= is_failure(record);
        if turn.warms {
            return;
        }
        if let Some(sent) = record.sent {
            self.spans.push((sent, record.end.max(sent)));
        }
        if record.is_completed() {
            if let Some((sent, ended)) = turn.recorded {
                widen(&mut self.own, begun, record.end);
                widen(&mut self.recorded, sent, ended);
            }
            self.input.add(record.input);
            self.output.add(record.output);
        }
    }

    pub(super) fn is_measured(&self) -> bool {
        self.measured > 0
    }

    pub(super) fn ended(&self) -> Ended {
        match () {
            () if self.failed => Ended::Failed,
            () if self.overflowed => Ended::Overflowed,
            () if self.completed >= self.turns => Ended::Completed,
            () => Ended::Cut,
        }
    }

    /// Requests that were not sent because the tree ended early by itself.
    pub(super) fn cancelled(&self) -> u64 {
        let early = matches!(self.ended(), Ended::Failed | Ended::Overflowed);
        if early { self.turns.saturating_sub(self.records) } else { 0 }
    }

    pub(super) fn sessions(&self) -> u64 {
        self.sessions.values().filter(|(measured, _)| *measured).count() as u64
    }

    pub(super) fn subagents(&self) -> u64 {
        let sessions = self.sessions.iter();
        sessions.filter(|(place, (measured, _))| **place > 0 && *measured).count() as u64
    }

    pub(super) fn sessions_failed(&self) -> u64 {
        self.sessions.values().filter(|(measured, failed)| *measured && *failed).count() as u64
    }

    /// From its first request to the last end.
    pub(super) fn alive(&self) -> (u64, u64) {
        self.alive.unwrap_or_default()
    }

    /// The same without requests that only warm the cache.
    pub(super) fn duration(&self) -> Option<u64> {
        let (from, to) = (
            self.spans.iter().map(|span| span.0).min()?,
            self.spans.iter().map(|span| span.1).max()?,
        );
        Some(to - from)
    }

    /// How long requests were in flight, together.
    pub(super) fn work(&self) -> u64 {
        self.spans.iter().copied().map(length).sum()
    }

    /// How long any request was in flight.
    pub(super) fn active(&self) -> u64 {
        let mut spans = self.spans.clone();
        spans.sort_unstable();
        let mut until = 0;
        let mut active = 0;
        for (from, to) in spans {
            active += to.saturating_sub(from.max(until));
            until = until.max(to);
        }
        active
    }

    /// The most requests in flight at once.
    pub(super) fn peak(&self) -> u64 {
        let mut flight = Flight::default();
        self.spans.iter().for_each(|(from, to)| flight.add(*from, *to));
        flight.sort();
        flight.peak(0)
    }

    /// How long its requests took, divided by how long they took when they were recorded.
    pub(super) fn stretch(&self) -> Option<f64> {
        let recorded = length(self.recorded?);
        (recorded > 0).then(|| length(self.own.unwrap_or_default()) as f64 / recorded as f64)
    }

    /// Input tokens, where every request reports them.
    pub(super) fn input(&self) -> Option<u64> {
        self.input.total()
    }

    /// Output tokens, where every request reports them.
    pub(super) fn output(&self) -> Option<u64> {
        self.output.total()
    }
}
