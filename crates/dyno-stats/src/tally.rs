//! Collects an exact distribution of very many samples with few distinct values.

use crate::counted::Counted;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Values that are whole multiples of this are counted in a plain array.
pub(crate) const DENSE_STEP: u64 = 1_000;
/// Length that the array may grow to.
pub(crate) const DENSE_LIMIT: u64 = 1 << 18;

/// Counts of exact values. Memory grows with the number of distinct values, not of samples;
/// multiples of 1,000 (whole microseconds, where values are nanoseconds) are cheap.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    dense: Vec<u64>,
    rest: HashMap<u64, u64, BuildHasherDefault<Mix>>,
}

impl Tally {
    /// Counts `value` `times` times.
    pub fn add(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        match dense_index(value) {
            Some(index) => {
                if index >= self.dense.len() {
                    self.dense.resize((index + 1).next_power_of_two(), 0);
                }
                self.dense[index] += times;
            }
            None => *self.rest.entry(value).or_insert(0) += times,
        }
    }

    /// The collected distribution, sorted.
    pub fn freeze(self) -> Counted {
        let dense = self
            .dense
            .into_iter()
            .enumerate()
            .filter(|(_, times)| *times > 0)
            .map(|(index, times)| (index as u64 * DENSE_STEP, times));
        let mut pairs: Vec<(u64, u64)> = dense.chain(self.rest).collect();
        pairs.sort_unstable();
        Counted::from_sorted_pairs(pairs)
    }
}

/// The index of `value` in an array over small multiples of [`DENSE_STEP`].
pub(crate) fn dense_index(value: u64) -> Option<usize> {
    let index = value / DENSE_STEP;
    (index < DENSE_LIMIT && index * DENSE_STEP == value).then_some(index as usize)
}

/// A multiplicative hash: keys are measurements, not chosen by an attacker.
#[derive(Debug, Clone, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_same_as_keeping_every_sample(
            values in proptest::collection::vec(
                prop_oneof![0_u64..50, (0_u64..40).prop_map(|v| v * 1000), 0_u64..u64::MAX / 1000],
                0..300,
            ),
        ) {
            let mut tally = Tally::default();
            values.iter().for_each(|v| tally.add(*v, 1));
            prop_assert_eq!(tally.freeze(), Counted::from_samples(values));
        }
    }
}
