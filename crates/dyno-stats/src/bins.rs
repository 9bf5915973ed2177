//! Sorts samples of a known distribution into a bounded number of bins, so that a resampled quantile
//! costs the same for a thousand samples as for a hundred million.

use crate::counted::Counted;
use crate::tally::{DENSE_STEP, dense_index};

/// Up to so many distinct values, each has its own bin and nothing is lost.
pub const EXACT_LIMIT: usize = 2_000;
const BODY_CELLS: f64 = 1_500.0;
const TAIL_CELLS: f64 = 500.0;
const TAIL_FROM: f64 = 0.95;

/// Bins of about equal counts over a distribution, ten times finer beyond its 95th percentile.
#[derive(Debug, Clone)]
pub struct Bins {
    /// The largest value in each bin.
    upper: Vec<u64>,
    /// The mean of the values in each bin.
    mean: Vec<f64>,
    /// The bin of each small multiple of [`DENSE_STEP`].
    lookup: Vec<u16>,
}

fn cell(share: f64) -> u64 {
    let cell = if share < TAIL_FROM {
        share / TAIL_FROM * BODY_CELLS
    } else {
        BODY_CELLS + (share - TAIL_FROM) / (1.0 - TAIL_FROM) * TAIL_CELLS
    };
    cell as u64
}

impl Bins {
    /// Bins for `pooled`; one per distinct value where there are at most [`EXACT_LIMIT`].
    pub fn new(pooled: &Counted) -> Self {
        let exact = pooled.distinct() <= EXACT_LIMIT;
        let total = pooled.count() as f64;
        let (mut upper, mut mean) = (Vec::new(), Vec::new());
        let (mut before, mut open_cell) = (0_u64, None);
        let (mut sum, mut n) = (0_u128, 0_u64);
        for (value, times) in pooled.pairs() {
            let here = cell((before as f64 + times as f64 / 2.0) / total);
            if exact || open_cell != Some(here) {
                if n > 0 {
                    mean.push(sum as f64 / n as f64);
                }
                upper.push(value);
                (sum, n, open_cell) = (0, 0, Some(here));
            }
            if let Some(last) = upper.last_mut() {
                *last = value;
            }
            sum += u128::from(value) * u128::from(times);
            n += times;
            before += times;
        }
        if n > 0 {
            mean.push(sum as f64 / n as f64);
        }
        let mut bins = Self { upper, mean, lookup: Vec::new() };
        bins.lookup = bins.small_multiples();
        bins
    }

    fn small_multiples(&self) -> Vec<u16> {
        let mut lookup = Vec::new();
        for (bin, upper) in self.upper.iter().enumerate() {
            let end = upper / DENSE_STEP;
            if dense_index(end * DENSE_STEP).is_none() {
                break;
            }
            while (lookup.len() as u64) <= end {
                lookup.push(bin as u16);
            }
        }
        lookup
    }

    /// How many bins.
    pub fn len(&self) -> usize {
        self.upper.len()
    }

    /// No bins: the distribution was empty.
    pub fn is_empty(&self) -> bool {
        self.upper.is_empty()
    }

    /// The bin that `value` belongs to; a value above all goes to the last.
    pub fn of(&self, value: u64) -> usize {
        if let Some(bin) = dense_index(value).and_then(|index| self.lookup.get(index)) {
            return usize::from(*bin);
        }
        self.upper.partition_point(|upper| *upper < value).min(self.len().saturating_sub(1))
    }

    /// The mean of the values in bin `bin`.
    pub fn value(&self, bin: usize) -> f64 {
        self.mean[bin]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_values_are_held_in_few_bins_with_a_fine_tail() {
        let pooled = Counted::from_samples((0..1_000_000).map(|i| i * 7 + 1).collect());
        let bins = Bins::new(&pooled);
        assert!((1_900..=2_100).contains(&bins.len()), "{}", bins.len());
        let width = |i: usize| bins.value(i + 1) - bins.value(i);
        assert!(width(1_800) < width(500) / 5.0);
        let p99 = bins.value(bins.of(7 * 990_000));
        assert!((p99 / (7.0 * 990_000.0) - 1.0).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn few_values_are_exact(
            values in proptest::collection::vec(
                prop_oneof![0_u64..90, (0_u64..90).prop_map(|v| v * 1000), 0_u64..1 << 40],
                1..300,
            ),
        ) {
            let bins = Bins::new(&Counted::from_samples(values.clone()));
            for value in values {
                prop_assert_eq!(bins.value(bins.of(value)), value as f64);
            }
        }
    }
}
