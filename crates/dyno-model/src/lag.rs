//! A small log-linear histogram for the client's own delays, of which there are millions.
//!
//! Latencies of requests are never kept like this: they are exact. The client's delays only have to
//! be accurate enough for a verdict, and the upper edge of a bucket overestimates them.

use crate::Nanos;

const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
const BUCKETS: usize = SUB * 41;

/// Counts of nanosecond values in buckets no wider than 1/16 of their value, plus the exact
/// maximum.
#[derive(Clone, PartialEq, Eq)]
pub struct DelayHistogram {
    counts: Vec<u64>,
    count: u64,
    max: Nanos,
}

impl std::fmt::Debug for DelayHistogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DelayHistogram {{ count: {}, max: {} }}", self.count, self.max)
    }
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, max: 0 }
    }
}

fn bucket(value: Nanos) -> usize {
    let high = 64 - value.leading_zeros();
    if high <= SUB_BITS {
        return value as usize;
    }
    let shift = high - SUB_BITS - 1;
    let index = (shift as usize + 1) * SUB + ((value >> shift) as usize & (SUB - 1));
    index.min(BUCKETS - 1)
}

fn upper_edge(index: usize) -> Nanos {
    if index < SUB {
        return index as Nanos;
    }
    let shift = index / SUB - 1;
    (((SUB + index % SUB + 1) as Nanos) << shift) - 1
}

impl DelayHistogram {
    /// Counts one value.
    pub fn record(&mut self, value: Nanos) {
        self.counts[bucket(value)] += 1;
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest value, or nothing when nothing was counted.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.max)
    }

    /// The value below which a share `q` of the counts lies, rounded up to its bucket's edge.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, n) in self.counts.iter().enumerate() {
            seen += n;
            if seen >= rank {
                return Some(upper_edge(index).min(self.max));
            }
        }
        Some(self.max)
    }

    /// Adds another histogram's counts to this one.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// The non-empty buckets, for writing to disk.
    pub fn sparse(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|(_, n)| *n > 0)
    }

    /// Rebuilds a histogram from [`DelayHistogram::sparse`] and its maximum; a bucket that does
    /// not exist, or counts that overflow, give nothing.
    pub fn from_sparse(
        buckets: impl IntoIterator<Item = (usize, u64)>,
        max: Nanos,
    ) -> Option<Self> {
        let mut histogram = Self { max, ..Self::default() };
        for (index, n) in buckets {
            let slot = histogram.counts.get_mut(index)?;
            *slot = slot.checked_add(n)?;
            histogram.count = histogram.count.checked_add(n)?;
        }
        Some(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_err_upwards_by_at_most_a_sixteenth() {
        let mut h = DelayHistogram::default();
        let values: Vec<u64> = (0..10_000).map(|i| i * i + 3).collect();
        values.iter().for_each(|v| h.record(*v));
        for q in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let exact = values[((q * 10_000.0_f64).ceil() as usize).max(1) - 1];
            let got = h.quantile(q).unwrap();
            assert!(got >= exact && got as f64 <= exact as f64 * 1.0626 + 1.0, "{q} {exact} {got}");
        }
        assert_eq!(h.max(), values.last().copied());
    }

    #[test]
    fn empty_is_absent_and_huge_values_do_not_panic() {
        let mut h = DelayHistogram::default();
        assert_eq!((h.quantile(0.5), h.max()), (None, None));
        h.record(u64::MAX);
        assert_eq!(h.max(), Some(u64::MAX));
    }

    #[test]
    fn sparse_form_round_trips() {
        let mut h = DelayHistogram::default();
        (0..1000).for_each(|i| h.record(i * 977));
        let back = DelayHistogram::from_sparse(h.sparse(), h.max().unwrap()).unwrap();
        assert_eq!(h, back);
        assert!(DelayHistogram::from_sparse([(usize::MAX, 1)], 0).is_none());
    }
}
