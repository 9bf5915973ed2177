//! Which arrivals of a level each of several load generators sends. They agree on it without a
//! message, and all together send exactly what one would.

use crate::arrivals::seeded;
use dyno_model::plan::{Arrival, Load, Shard};
use rand_chacha::rand_core::Rng;

/// One load generator's part of a level.
///
/// The slots of a level are dealt to the generators in turn, and its arrivals to the slots: a
/// generator that has more slots sends more, and one that has none sends nothing. A level without
/// slots has as many as there are generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    shard: Shard,
    slots: u64,
    dealing: Dealing,
}

/// How arrivals are dealt to slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dealing {
    InTurn,
    /// At random, by a hash with this key. Every n-th arrival of a Poisson process is not a Poisson
    /// process, and parts that start a few milliseconds apart would not add up to one; parts drawn
    /// at random are independent, so they do.
    Hashed(u64),
}

impl Share {
    /// The part of a level that may have `at_most` in flight. It depends on seed and number of the
    /// level where arrivals are random.
    pub fn new(load: Load, at_most: Option<u32>, (seed, level): (u64, u32), shard: Shard) -> Self {
        let slots = match load {
            Load::Concurrency { concurrency } => Some(concurrency),
            _ => at_most.filter(|_| load.is_open()),
        };
        let dealing = match load {
            Load::Rate { arrival: Arrival::Poisson, .. }
            | Load::Ramp { arrival: Arrival::Poisson, .. } => {
                Dealing::Hashed(seeded(seed, level, b"shares  ").next_u64())
            }
            _ => Dealing::InTurn,
        };
        Self { shard, slots: u64::from(slots.unwrap_or(shard.of).max(1)), dealing }
    }

    /// Whether there are no others.
    pub fn is_whole(&self) -> bool {
        self.shard.of <= 1
    }

    /// Whether nothing is its own.
    pub fn is_empty(&self) -> bool {
        self.of_slots(self.slots) == 0
    }

    /// Whether the arrival of this index is its own.
    pub fn has(&self, index: u64) -> bool {
        if self.is_whole() {
            return true;
        }
        let slot = match self.dealing {
            Dealing::InTurn => index % self.slots,
            Dealing::Hashed(key) => below(hash(key, index), self.slots),
        };
        slot % u64::from(self.shard.of) == u64::from(self.shard.index)
    }

    /// The first arrival of its own from this index on.
    pub fn next(&self, from: u64) -> Option<u64> {
        if self.is_empty() || self.is_whole() {
            return self.is_whole().then_some(from);
        }
        match self.dealing {
            Dealing::InTurn => {
                let (index, of) = (u64::from(self.shard.index), u64::from(self.shard.of));
                let (round, slot) = (from - from % self.slots, from % self.slots);
                let own = index + slot.saturating_sub(index).div_ceil(of) * of;
                // Behind the last slot of its own in this round, it is the first of the next.
                Some(round + if own < self.slots { own } else { self.slots + index })
            }
            Dealing::Hashed(_) => (from..).find(|index| self.has(*index)),
        }
    }

    /// How many of the first `total` arrivals are its own.
    pub fn count(&self, total: u64) -> u64 {
        match self.dealing {
            Dealing::Hashed(_) if !self.is_whole() => {
                (0..total).filter(|index| self.has(*index)).count() as u64
            }
            _ => self.in_turn(total),
        }
    }

    /// How many of `total` turns of conversations it sends. Which ones they are depends on the
    /// responses.
    pub fn turns(&self, total: u64) -> u64 {
        self.in_turn(total)
    }

    /// How many of `total` slots are its own.
    pub fn of_slots(&self, total: u64) -> u64 {
        let (index, of) = (u64::from(self.shard.index), u64::from(self.shard.of.max(1)));
        total.saturating_sub(index).div_ceil(of)
    }

    /// The number in the level of its `nth` request or slot, where only those of one generator are
    /// in an order.
    pub(crate) fn interleaved(&self, nth: u64) -> u64 {
        nth * u64::from(self.shard.of.max(1)) + u64::from(self.shard.index)
    }

    fn in_turn(&self, total: u64) -> u64 {
        total / self.slots * self.of_slots(self.slots) + self.of_slots(total % self.slots)
    }
}

/// The generator SplitMix64 with this key as its seed, at any place.
fn hash(key: u64, index: u64) -> u64 {
    let mut z = key.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A whole number below `bound`, as likely as any other.
fn below(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;
    use proptest::prelude::*;

    fn any_load() -> impl Strategy<Value = Load> {
        let arrival = prop_oneof![
            Just(Arrival::Poisson),
            Just(Arrival::Constant),
            Just(Arrival::Gamma { shape: 2.0 }),
        ];
        prop_oneof![
            (1_u32..40).prop_map(|concurrency| Load::Concurrency { concurrency }),
            arrival.clone().prop_map(|arrival| Load::Rate { rate: 5.0, arrival }),
            arrival.prop_map(|arrival| {
                Load::Ramp { from: 1.0, to: 9.0, over_ns: SEC, steps: None, arrival }
            }),
            Just(Load::Burst { requests: 50 }),
            Just(Load::Trace { speed: 1.0 }),
        ]
    }

    proptest! {
        #[test]
        fn every_arrival_belongs_to_exactly_one(
            load in any_load(),
            at_most in prop::option::of(1_u32..30),
            key in (any::<u64>(), any::<u32>()),
            of in 1_u32..12,
            total in 0_u64..200,
        ) {
            let shares: Vec<Share> =
                (0..of).map(|index| Share::new(load, at_most, key, Shard { index, of })).collect();
            for index in 0..total {
                prop_assert_eq!(shares.iter().filter(|share| share.has(index)).count(), 1);
            }
            prop_assert_eq!(shares.iter().map(|share| share.count(total)).sum::<u64>(), total);
            prop_assert_eq!(shares.iter().map(|share| share.turns(total)).sum::<u64>(), total);
            prop_assert_eq!(shares.iter().map(|share| share.of_slots(total)).sum::<u64>(), total);
            for share in &shares {
                let own: Vec<u64> = (0..total).filter(|index| share.has(*index)).collect();
                prop_assert_eq!(own.len() as u64, share.count(total));
                let mut from = 0;
                for index in own {
                    prop_assert_eq!(share.next(from), Some(index));
                    from = index + 1;
                }
                prop_assert_eq!(share.is_empty(), share.next(0).is_none());
            }
        }

        #[test]
        fn who_has_no_slot_sends_nothing(of in 1_u32..12, concurrency in 1_u32..12) {
            for index in 0..of {
                let shard = Shard { index, of };
                let closed = Share::new(Load::Concurrency { concurrency }, None, (3, 0), shard);
                prop_assert_eq!(closed.is_empty(), index >= concurrency);
                prop_assert_eq!(closed.is_empty(), closed.of_slots(u64::from(concurrency)) == 0);
                let rate = Load::Rate { rate: 1.0, arrival: Arrival::Poisson };
                let capped = Share::new(rate, Some(concurrency), (3, 0), shard);
                prop_assert_eq!(capped.is_empty(), index >= concurrency);
            }
        }
    }

    #[test]
    fn requests_go_in_proportion_to_slots() {
        let of = |index| {
            Share::new(Load::Concurrency { concurrency: 3 }, None, (0, 0), Shard { index, of: 2 })
        };
        assert_eq!([of(0).count(300), of(1).count(300)], [200, 100]);
    }

    #[test]
    fn a_hash_deals_evenly_and_differs_between_levels_and_seeds() {
        let load = Load::Rate { rate: 1.0, arrival: Arrival::Poisson };
        let of = |key, index| Share::new(load, None, key, Shard { index, of: 8 });
        for index in 0..8 {
            let count = of((7, 0), index).count(80_000);
            // Five standard deviations.
            assert!(count.abs_diff(10_000) < 470, "{count} of 80000");
        }
        for other in [of((7, 1), 0), of((8, 0), 0)] {
            let first = of((7, 0), 0);
            let both = (0..8_000).filter(|index| first.has(*index) && other.has(*index)).count();
            assert!(both.abs_diff(125) < 60, "{both} of 8000 are in both");
        }
    }
}
