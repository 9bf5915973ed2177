//! Which percentiles are reported, how they are computed, and how many samples each needs.

/// A percentile that reports show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentile {
    /// Its name in files: `p50`, `p99_9`.
    pub name: &'static str,
    /// The share of samples below it, in thousandths.
    pub per_mille: u16,
}

/// The percentiles of every distribution, lowest first.
pub const PERCENTILES: [Percentile; 9] = [
    Percentile { name: "p50", per_mille: 500 },
    Percentile { name: "p66", per_mille: 660 },
    Percentile { name: "p75", per_mille: 750 },
    Percentile { name: "p80", per_mille: 800 },
    Percentile { name: "p90", per_mille: 900 },
    Percentile { name: "p95", per_mille: 950 },
    Percentile { name: "p98", per_mille: 980 },
    Percentile { name: "p99", per_mille: 990 },
    Percentile { name: "p99_9", per_mille: 999 },
];

const ENOUGH_BEYOND: u64 = 10;
const ENOUGH_FOR_MARKED: u64 = 20;
const HIGHEST_MARKED: u16 = 990;

/// Whether a percentile of so many samples may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Too few samples: it is left out.
    Absent,
    /// Fewer than ten samples lie beyond it: shown with a mark.
    Marked,
    /// Shown.
    Shown,
}

impl Percentile {
    /// The share of samples below it.
    pub fn share(self) -> f64 {
        f64::from(self.per_mille) / 1000.0
    }

    /// From how many samples on it is shown without a mark.
    pub fn needed(self) -> u64 {
        match self.per_mille {
            500 => 2,
            per_mille => (ENOUGH_BEYOND * 1000).div_ceil(1000 - u64::from(per_mille).min(999)),
        }
    }

    /// Whether it may be shown for `count` samples: the median from 2 on; any other where at
    /// least 10 samples lie beyond it; those up to p99 also from 20 samples on, marked.
    pub fn presence(self, count: u64) -> Presence {
        if self.per_mille == 500 {
            return if count >= 2 { Presence::Shown } else { Presence::Absent };
        }
        let beyond = u128::from(count) * u128::from(1000 - self.per_mille);
        if beyond >= u128::from(ENOUGH_BEYOND) * 1000 {
            Presence::Shown
        } else if count >= ENOUGH_FOR_MARKED && self.per_mille <= HIGHEST_MARKED {
            Presence::Marked
        } else {
            Presence::Absent
        }
    }
}

/// The two order statistics around share `q` of `count` samples, and how far to go from the
/// first to the second.
pub(crate) fn position(count: u64, q: f64) -> (u64, u64, f64) {
    let last = count.saturating_sub(1);
    let exact = last as f64 * q.clamp(0.0, 1.0);
    let low = (exact.floor() as u64).min(last);
    (low, (low + 1).min(last), exact - low as f64)
}

/// Linear interpolation over sorted samples (numpy's default); nothing where there are none.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if sorted.is_empty() {
        return None;
    }
    let (low, high, part) = position(sorted.len() as u64, q);
    let (low, high) = (sorted[low as usize], sorted[high as usize]);
    Some(low + (high - low) * part)
}

/// The same over samples in any order, which it reorders: faster than sorting where one quantile is wanted of many
/// samples.
pub fn quantile_of(samples: &mut [f64], q: f64) -> Option<f64> {
    let (low, _, part) = position(samples.len() as u64, q);
    if samples.is_empty() {
        return None;
    }
    let (_, value, above) = samples.select_nth_unstable_by(low as usize, f64::total_cmp);
    let next = above.iter().copied().fold(f64::INFINITY, f64::min);
    Some(if part > 0.0 { *value + (next - *value) * part } else { *value })
}

/// The sample that a share `q` of the others does not exceed, its rank rounded down: one of the samples, where
/// [`quantile`] lies between two. Takes them in any order and reorders them; nothing where there are none.
pub fn by_rank(samples: &mut [f64], q: f64) -> Option<f64> {
    let last = samples.len().checked_sub(1)?;
    let rank = ((samples.len() as f64 * q) as usize).min(last);
    Some(*samples.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// The sample in the middle, the upper one of two; see [`by_rank`].
pub fn upper_median(samples: &mut [f64]) -> Option<f64> {
    by_rank(samples, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn presence(name: &str, count: u64) -> Presence {
        PERCENTILES.iter().find(|p| p.name == name).unwrap().presence(count)
    }

    #[test]
    fn interpolates_as_numpy_does() {
        let v = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&v, 0.5), Some(3.0));
        assert!((quantile(&v, 0.9).unwrap() - 6.8).abs() < 1e-12);
        assert_eq!(quantile(&v, 1.0), Some(8.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_middle_one_is_found_whatever_the_order() {
        assert_eq!(upper_median(&mut []), None);
        assert_eq!(upper_median(&mut [7.0]), Some(7.0));
        assert_eq!(upper_median(&mut [9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(upper_median(&mut [9.0, 1.0]), Some(9.0));
        assert_eq!(by_rank(&mut [3.0, 1.0, 2.0, 4.0], 0.25), Some(2.0));
        assert_eq!(by_rank(&mut [3.0, 1.0, 2.0, 4.0], 1.0), Some(4.0));
        assert_eq!(quantile_of(&mut [], 0.5), None);
    }

    #[test]
    fn a_percentile_needs_samples_beyond_it() {
        assert_eq!(presence("p50", 1), Presence::Absent);
        assert_eq!(presence("p50", 2), Presence::Shown);
        assert_eq!(presence("p90", 19), Presence::Absent);
        assert_eq!(presence("p90", 20), Presence::Marked);
        assert_eq!(presence("p90", 99), Presence::Marked);
        assert_eq!(presence("p90", 100), Presence::Shown);
        assert_eq!(presence("p99", 200), Presence::Marked);
        assert_eq!(presence("p99", 1000), Presence::Shown);
        assert_eq!(presence("p99_9", 200), Presence::Absent);
        assert_eq!(presence("p99_9", 9_999), Presence::Absent);
        assert_eq!(presence("p99_9", 10_000), Presence::Shown);
        assert_eq!(presence("p66", 19), Presence::Absent);
        assert_eq!(presence("p66", 29), Presence::Marked);
        assert_eq!(presence("p66", 30), Presence::Shown);
    }

    proptest! {
        #[test]
        fn lies_between_the_extremes_and_never_falls(
            mut v in proptest::collection::vec(-1e9_f64..1e9, 1..200),
            a in 0.0_f64..=1.0,
            b in 0.0_f64..=1.0,
        ) {
            v.sort_by(f64::total_cmp);
            let (a, b) = (a.min(b), a.max(b));
            let (x, y) = (quantile(&v, a).unwrap(), quantile(&v, b).unwrap());
            prop_assert!(x <= y + 1e-6);
            prop_assert!(x >= v[0] - 1e-6 && y <= v[v.len() - 1] + 1e-6);
        }

        #[test]
        fn a_quantile_does_not_depend_on_the_order(
            v in proptest::collection::vec(-1e9_f64..1e9, 1..200),
            q in prop_oneof![Just(0.0), Just(0.5), Just(0.9), Just(1.0), 0.0_f64..=1.0],
        ) {
            let mut sorted = v.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(quantile_of(&mut v.clone(), q), quantile(&sorted, q));
        }

        #[test]
        fn needed_is_where_the_mark_goes(at in 0..PERCENTILES.len()) {
            let (p, needed) = (PERCENTILES[at], PERCENTILES[at].needed());
            prop_assert_eq!(p.presence(needed), Presence::Shown);
            prop_assert_ne!(p.presence(needed - 1), Presence::Shown);
        }

        #[test]
        fn more_samples_never_hide_a_percentile(count in 0_u64..100_000, more in 0_u64..10_000) {
            let rank = |p: Presence| p as u8;
            for p in PERCENTILES {
                prop_assert!(rank(p.presence(count)) <= rank(p.presence(count + more)));
            }
        }
    }
}
