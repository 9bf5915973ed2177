//! The slots of an open loop with a limit on requests in flight. An arrival that finds no free slot
//! waits in the client. The time at which its slot became free separates that wait from the client's
//! own send delay.

use dyno_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One slot for each request that may be in flight.
#[derive(Debug)]
pub(crate) struct Slots {
    unused: u64,
    /// When each free slot became free.
    freed: BinaryHeap<Reverse<Nanos>>,
}

impl Slots {
    pub(crate) fn new(count: u64) -> Self {
        Self { unused: count, freed: BinaryHeap::new() }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.unused > 0 || !self.freed.is_empty()
    }

    /// Takes the slot that has been free for longest and returns since when; nothing for one that
    /// has been free from the start.
    pub(crate) fn take(&mut self) -> Option<Nanos> {
        match self.unused.checked_sub(1) {
            Some(left) => {
                self.unused = left;
                None
            }
            None => self.freed.pop().map(|Reverse(at)| at),
        }
    }

    pub(crate) fn free(&mut self, at: Nanos) {
        self.freed.push(Reverse(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_that_has_been_free_for_longest_is_taken() {
        let mut slots = Slots::new(2);
        assert_eq!((slots.take(), slots.take(), slots.has_room()), (None, None, false));
        slots.free(30);
        slots.free(20);
        assert_eq!((slots.take(), slots.take(), slots.has_room()), (Some(20), Some(30), false));
    }
}
