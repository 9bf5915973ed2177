//! The requests waiting for admission, by time and then by order of submission. Nearly all are
//! added at the end and taken from the front, so a ring buffer is faster than a tree.

use dyno_model::Nanos;
use std::collections::VecDeque;

/// When a request was queued, and which one it was.
pub(super) type Key = (Nanos, u64);

/// Slots, by their keys.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue(VecDeque<(Key, u32)>);

impl Queue {
    /// Adds a slot; no two have the same key.
    pub(super) fn insert(&mut self, key: Key, slot: u32) {
        match self.0.back() {
            Some((last, _)) if *last > key => {
                let place = self.0.partition_point(|(other, _)| *other < key);
                self.0.insert(place, (key, slot));
            }
            _ => self.0.push_back((key, slot)),
        }
    }

    /// Removes the slot with this key, if there is one.
    pub(super) fn remove(&mut self, key: Key) {
        if let Ok(place) = self.0.binary_search_by_key(&key, |(other, _)| *other) {
            self.0.remove(place);
        }
    }

    /// Since when the first has waited, and its slot.
    pub(super) fn first(&self) -> Option<(Nanos, u32)> {
        self.0.front().map(|((at, _), slot)| (*at, *slot))
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Nanos, u32)> {
        self.0.iter().map(|((at, _), slot)| (*at, *slot))
    }

    /// Takes out the first.
    pub(super) fn pop_first(&mut self) {
        self.0.pop_front();
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_sorted_map(changes in prop::collection::vec((0_u8..4, 0_u64..20), 0..60)) {
            let (mut queue, mut map) = (Queue::default(), BTreeMap::new());
            for (order, (what, at)) in (0..).zip(changes) {
                match what {
                    0 => {
                        queue.pop_first();
                        map.pop_first();
                    }
                    1 => {
                        let key = map.keys().copied().nth(at as usize).unwrap_or((at, order));
                        queue.remove(key);
                        map.remove(&key);
                    }
                    _ => {
                        queue.insert((at, order), order as u32);
                        map.insert((at, order), order as u32);
                    }
                }
                let first = map.first_key_value().map(|((at, _), slot)| (*at, *slot));
                prop_assert_eq!((queue.first(), queue.len()), (first, map.len()));
            }
        }
    }
}
