//! Samples of a time in bounded memory: each is rounded to ten significant bits, so that a level of
//! a million requests has a few thousand distinct values.

use super::super::distributions::describe;
use super::super::instrument::ranges;
use dyno_model::summary::Distribution;
use dyno_stats::Tally;

const BITS: u32 = 10;

/// The samples of a time, and the least and the most that each may have been.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounded {
    samples: Tally,
    ends: [Tally; 2],
    count: u64,
    /// Samples that say how exact they are.
    with_ends: u64,
}

impl Rounded {
    /// Adds a sample in nanoseconds, and what it may have been where that is known.
    pub(super) fn add(&mut self, value: u64, ends: Option<[u64; 2]>) {
        self.samples.add(rounded(value), 1);
        self.count += 1;
        if let Some(ends) = ends {
            self.with_ends += 1;
            for (tally, end) in self.ends.iter_mut().zip(ends) {
                tally.add(rounded(end), 1);
            }
        }
    }

    pub(super) fn describe(&self) -> Option<Distribution> {
        let found = describe(&self.samples.clone().freeze())?;
        let instrument = (self.with_ends == self.count).then(|| {
            let [low, high] = self.ends.each_ref().map(|ends| ends.clone().freeze());
            ranges(&low, &high)
        });
        Some(Distribution { instrument, ..found })
    }
}

/// The nearest value of [`BITS`] significant bits. Monotone, so that ranges still hold.
fn rounded(value: u64) -> u64 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    match shift {
        0 => value,
        _ => (value.saturating_add(1 << (shift - 1)) >> shift) << shift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounding_is_near_and_keeps_the_order(a in any::<u64>(), b in any::<u64>()) {
            let (a, b) = (a >> 1, b >> 1);
            prop_assert!((rounded(a) as f64 - a as f64).abs() <= a as f64 / 1e3);
            prop_assert_eq!(rounded(a.min(b)).cmp(&rounded(a.max(b))).is_gt(), false);
        }
    }

    #[test]
    fn a_million_samples_have_few_values() {
        let mut samples = Rounded::default();
        (0..100_000_u64).for_each(|i| samples.add(50_000_000 + i * 997, None));
        assert!(samples.samples.clone().freeze().distinct() < 2_000);
        let found = samples.describe().unwrap();
        let median = found.p50.unwrap();
        assert!((99.7..99.98).contains(&median), "{median}");
        assert_eq!(found.instrument, None);
    }
}
