//! How long to wait after a refusal, and the slots of a closed loop that do. A server that refuses at
//! once would otherwise be sent as many requests as the client can.

use crate::running::{Due, Freed};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::{MS, Nanos, SEC};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A failure within this time of its dispatch is a refusal, whatever its reason.
const AT_ONCE: Nanos = 10 * MS;
/// The first wait, and the shortest.
const SHORTEST: Nanos = 10 * MS;
/// The longest wait where the server did not ask for one.
const LONGEST: Nanos = SEC;
/// The longest wait that a server may ask for.
const LONGEST_ASKED: Nanos = 10 * SEC;

/// A request that the server refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// How long the server asked to wait.
    asked: Option<Nanos>,
}

impl Refusal {
    /// Whether an ended request was refused: shed, or failed at once.
    pub(crate) fn of(record: &RequestRecord) -> Option<Self> {
        let took = record.end.saturating_sub(record.dispatched.unwrap_or(record.intended));
        match record.outcome {
            Outcome::Shed(_) => Some(Self { asked: record.retry_after }),
            Outcome::Failed(_) if took < AT_ONCE => Some(Self { asked: None }),
            _ => None,
        }
    }

    /// How long to wait after the `nth` refusal in a row, from 1: as the server asked, else twice as
    /// long as the last time.
    pub(crate) fn wait(self, nth: u32) -> Nanos {
        match self.asked {
            Some(asked) => asked.clamp(SHORTEST, LONGEST_ASKED),
            None => (SHORTEST << nth.saturating_sub(1).min(16)).min(LONGEST),
        }
    }
}

/// A slot that waits: until when, which, and since when.
type Waiting = Reverse<(Nanos, u32, Nanos)>;

/// The waiting slots of a closed loop.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    /// Refusals in a row, by slot.
    in_a_row: Vec<u32>,
    waiting: BinaryHeap<Waiting>,
    pub(crate) total: Nanos,
    pub(crate) count: u64,
}

impl Pauses {
    pub(crate) fn new(slots: u32) -> Self {
        Self { in_a_row: vec![0; slots as usize], ..Self::default() }
    }

    /// Whether a slot that became free has to wait; if so, it is kept.
    pub(crate) fn holds(&mut self, freed: &Freed) -> bool {
        let Some(in_a_row) = self.in_a_row.get_mut(freed.slot as usize) else { return false };
        let Some(refusal) = freed.refusal else {
            *in_a_row = 0;
            return false;
        };
        *in_a_row = in_a_row.saturating_add(1);
        let until = freed.at.saturating_add(refusal.wait(*in_a_row));
        self.waiting.push(Reverse((until, freed.slot, freed.at)));
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When the next wait is over.
    pub(crate) fn next_over(&self) -> Option<Nanos> {
        self.waiting.peek().map(|Reverse((until, ..))| *until)
    }

    /// A slot whose wait is over; its next request is due when it was.
    pub(crate) fn over(&mut self, now: Nanos) -> Option<(u32, Due)> {
        if self.next_over()? > now {
            return None;
        }
        let Reverse((until, slot, from)) = self.waiting.pop()?;
        self.count(from, until);
        Some((slot, until.into()))
    }

    /// Nothing is sent any more.
    pub(crate) fn end(&mut self, at: Nanos) {
        while let Some(Reverse((until, _, from))) = self.waiting.pop() {
            self.count(from, until.min(at));
        }
    }

    fn count(&mut self, from: Nanos, to: Nanos) {
        self.total = self.total.saturating_add(to.saturating_sub(from));
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::FailureClass;
    use dyno_model::record::Phase;

    fn ended(outcome: Outcome, took: Nanos, asked: Option<Nanos>) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        (record.dispatched, record.end) = (Some(SEC), SEC + took);
        (record.outcome, record.retry_after) = (outcome, asked);
        record
    }

    #[test]
    fn waits_grow_unless_the_server_says_how_long() {
        let shed = |asked| {
            let record = ended(Outcome::Shed(FailureClass::Http(429)), SEC, asked);
            Refusal::of(&record).unwrap()
        };
        let waits = [1, 2, 3, 7, 8, 4_000_000].map(|nth| shed(None).wait(nth) / MS);
        assert_eq!(waits, [10, 20, 40, 640, 1000, 1000]);
        // As asked, but neither at once nor for ever.
        let asked = [0, 2 * SEC, 3600 * SEC].map(|asked| shed(Some(asked)).wait(5) / MS);
        assert_eq!(asked, [10, 2_000, 10_000]);
    }

    #[test]
    fn a_failure_is_a_refusal_only_if_it_comes_at_once() {
        let failed = |took| {
            Refusal::of(&ended(Outcome::Failed(FailureClass::Connect), took, None)).is_some()
        };
        assert_eq!([failed(MS), failed(9 * MS), failed(10 * MS)], [true, true, false]);
        assert_eq!(Refusal::of(&ended(Outcome::Completed, MS, None)), None);
        assert_eq!(Refusal::of(&ended(Outcome::Censored, MS, None)), None);
    }
}
