//! Due times in order.

use dyno_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// All timers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
    last_id: u64,
}

impl Timers {
    /// Sets a timer and returns its id.
    pub(super) fn set(&mut self, due: Nanos, token: u64) -> u64 {
        self.last_id += 1;
        self.heap.push(Reverse((due, self.last_id, token)));
        self.last_id
    }

    /// When the next one is due.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((due, _, _))| *due)
    }

    /// The owner of the earliest one and its id, if it is due by `now`. It is void if its owner has set
    /// another since.
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(u64, u64)> {
        if self.next_due()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((_, id, token))| (token, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_in_due_order_and_not_early() {
        let mut timers = Timers::default();
        for (due, token) in [(30, 3), (10, 1), (20, 2), (10, 4)] {
            timers.set(due, token);
        }
        let fired = |timers: &mut Timers| {
            std::iter::from_fn(|| timers.pop(20)).map(|(token, _)| token).collect::<Vec<_>>()
        };
        assert_eq!(fired(&mut timers), [1, 4, 2]);
        assert_eq!(timers.next_due(), Some(30));
    }
}
