//! An exact distribution: each distinct value with its count.

use crate::percentile::position;

/// Sorted distinct values with cumulative counts. Every metric is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    values: Vec<u64>,
    /// How many samples are at most the value at the same place.
    cumulative: Vec<u64>,
    sum: u128,
}

impl Counted {
    /// From plain samples in any order.
    pub fn from_samples(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        let mut counted = Self::default();
        for chunk in samples.chunk_by(|a, b| a == b) {
            counted.push(chunk[0], chunk.len() as u64);
        }
        counted
    }

    /// From (value, count) pairs with rising values.
    pub(crate) fn from_sorted_pairs(pairs: Vec<(u64, u64)>) -> Self {
        let mut counted = Self::default();
        pairs.into_iter().for_each(|(value, times)| counted.push(value, times));
        counted
    }

    fn push(&mut self, value: u64, times: u64) {
        let before = self.count();
        self.values.push(value);
        self.cumulative.push(before + times);
        self.sum += u128::from(value) * u128::from(times);
    }

    /// How many samples.
    pub fn count(&self) -> u64 {
        self.cumulative.last().copied().unwrap_or(0)
    }

    /// No samples.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many distinct values.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The smallest sample.
    pub fn min(&self) -> Option<u64> {
        self.values.first().copied()
    }

    /// The largest sample.
    pub fn max(&self) -> Option<u64> {
        self.values.last().copied()
    }

    /// The sum of all samples.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The standard deviation of the samples themselves (divided by n); it needs two.
    pub fn std(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.count() >= 2)?;
        let squares: f64 =
            self.pairs().map(|(value, times)| times as f64 * (value as f64 - mean).powi(2)).sum();
        Some((squares / self.count() as f64).sqrt())
    }

    /// Linear interpolation at share `q`; see [`crate::quantile`].
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.is_empty() {
            return None;
        }
        let (low, high, part) = position(self.count(), q);
        let (low, high) = (self.nth(low) as f64, self.nth(high) as f64);
        Some(low + (high - low) * part)
    }

    /// The sample at place `rank` of the sorted samples, from 0.
    fn nth(&self, rank: u64) -> u64 {
        let at = self.cumulative.partition_point(|upto| *upto <= rank);
        self.values[at.min(self.values.len() - 1)]
    }

    /// The distinct values in rising order, with their counts.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let before = std::iter::once(0).chain(self.cumulative.iter().copied());
        self.values.iter().zip(&self.cumulative).zip(before).map(|((v, upto), b)| (*v, upto - b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;
    use proptest::prelude::*;

    #[test]
    fn figures_of_a_known_set() {
        let c = Counted::from_samples(vec![9, 2, 4, 4, 4, 5, 5, 7]);
        assert_eq!((c.count(), c.distinct(), c.min(), c.max()), (8, 5, Some(2), Some(9)));
        assert_eq!((c.mean(), c.std()), (Some(5.0), Some(2.0)));
        assert_eq!(c.quantile(0.5), Some(4.5));
        assert_eq!(c.pairs().collect::<Vec<_>>(), [(2, 1), (4, 3), (5, 2), (7, 1), (9, 1)]);
    }

    #[test]
    fn nothing_is_absent_and_one_sample_has_no_spread() {
        let none = Counted::default();
        assert_eq!((none.mean(), none.std(), none.quantile(0.5)), (None, None, None));
        let one = Counted::from_samples(vec![3]);
        assert_eq!((one.mean(), one.std(), one.quantile(0.9)), (Some(3.0), None, Some(3.0)));
    }

    proptest! {
        #[test]
        fn quantiles_equal_those_of_the_plain_samples(
            values in proptest::collection::vec(0_u64..60, 1..200),
            q in 0.0_f64..=1.0,
        ) {
            let mut plain: Vec<f64> = values.iter().map(|v| *v as f64).collect();
            plain.sort_by(f64::total_cmp);
            prop_assert_eq!(Counted::from_samples(values).quantile(q), quantile(&plain, q));
        }
    }
}
