//! Whether a value meets its bound, and what is missing where that cannot be decided: a pure function
//! of the value, its samples and its instrument range. Bounds and the sources of values are in
//! `slo.rs`.

use dyno_stats::beyond::{self, TailSide};

/// A measured value, in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KnownShare {
    /// As it is shown; absent where it is not shown.
    pub value: Option<f64>,
    /// Of a percentile: its samples.
    pub sampled: Option<Sampled>,
    /// The instrument range that contains the true value; absent where it was measured exactly.
    pub range: Option<[f64; 2]>,
}

/// The samples of a percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The share of samples below the percentile.
    pub share: f64,
    /// How many there are.
    pub count: u64,
    /// How many are needed for the percentile to be shown unmarked.
    pub needed: u64,
    /// How many are beyond the bound: at least, and at most.
    pub beyond: [u64; 2],
    /// The largest.
    pub largest: Option<f64>,
}

/// Why a bound is neither met nor missed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    /// The value is not available.
    NoFigure,
    /// There are too few samples.
    FewSamples {
        /// About how many more would decide it.
        more: u64,
    },
    /// The bound lies within this range, so that the value may be on either side of it.
    InRange([f64; 2]),
}

/// Whether a value meets a bound. `holds` tests one value; if one value holds, so do all better ones.
///
/// With enough samples, the value itself decides. With fewer, the number of samples beyond the bound
/// decides if it is conclusive (95 % confidence, whatever the distribution), or if even the largest
/// sample is so far within the bound that an exponential tail would not reach it. In any case both
/// ends of the instrument range have to agree.
pub fn decide(known: &KnownShare, holds: impl Fn(f64) -> bool) -> Result<bool, Open> {
    let met = match &known.sampled {
        Some(sampled) if sampled.count < sampled.needed => sampled.decide(&holds)?,
        _ => known.value.map(&holds).ok_or(Open::NoFigure)?,
    };
    match known.range {
        Some(range) if range.iter().any(|end| holds(*end) != met) => Err(Open::InRange(range)),
        _ => Ok(met),
    }
}

impl Sampled {
    fn decide(&self, holds: &impl Fn(f64) -> bool) -> Result<bool, Open> {
        let Self { share, count, needed, beyond, largest } = *self;
        let far_within = |largest: f64| holds(largest * beyond::reach(share, count));
        match beyond::side(share, count, beyond) {
            _ if count == 0 => Err(Open::NoFigure),
            TailSide::Within => Ok(true),
            TailSide::Beyond => Ok(false),
            TailSide::Open if beyond[1] == 0 && largest.is_some_and(far_within) => Ok(true),
            TailSide::Open => {
                // At least one more: these do not decide it.
                let more = beyond::more(share, count, beyond, needed).max(1);
                Err(Open::FewSamples { more })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn p99(count: u64, beyond: u64, largest: f64) -> KnownShare {
        let sampled = Sampled {
            share: 0.99,
            count,
            needed: 1_000,
            beyond: [beyond; 2],
            largest: Some(largest),
        };
        KnownShare { value: Some(largest), sampled: Some(sampled), range: None }
    }

    fn below_500(known: &KnownShare) -> Result<bool, Open> {
        decide(known, |value| value < 500.0)
    }

    #[test]
    fn with_enough_samples_the_figure_decides() {
        let mut enough = p99(1_000, 9, 900.0);
        enough.value = Some(499.0);
        assert_eq!(below_500(&enough), Ok(true));
        enough.value = Some(501.0);
        assert_eq!(below_500(&enough), Ok(false));
        let mean = KnownShare { value: Some(499.0), ..KnownShare::default() };
        assert_eq!(below_500(&mean), Ok(true));
        assert_eq!(below_500(&KnownShare::default()), Err(Open::NoFigure));
    }

    #[test]
    fn far_within_the_bound_a_few_samples_are_enough() {
        assert_eq!(below_500(&p99(100, 0, 89.0)), Ok(true));
        assert_eq!(below_500(&p99(20, 0, 190.0)), Ok(true));
        assert_eq!(below_500(&p99(20, 0, 200.0)), Err(Open::FewSamples { more: 348 }));
        assert_eq!(below_500(&p99(300, 0, 490.0)), Err(Open::FewSamples { more: 68 }));
        assert_eq!(below_500(&p99(368, 0, 499.9)), Ok(true));
    }

    #[test]
    fn too_many_beyond_the_bound_are_a_miss_and_a_few_are_not() {
        assert_eq!(below_500(&p99(100, 4, 600.0)), Ok(false));
        assert!(matches!(below_500(&p99(100, 1, 600.0)), Err(Open::FewSamples { .. })));
        assert_eq!(below_500(&p99(3, 3, 600.0)), Ok(false));
        assert_eq!(below_500(&p99(0, 0, 0.0)), Err(Open::NoFigure));
    }

    #[test]
    fn a_range_decides_if_it_lies_on_one_side() {
        let read = |range| KnownShare { value: Some(490.0), sampled: None, range: Some(range) };
        assert_eq!(below_500(&read([480.0, 499.0])), Ok(true));
        assert_eq!(below_500(&read([480.0, 501.0])), Err(Open::InRange([480.0, 501.0])));
        let above = KnownShare { value: Some(600.0), sampled: None, range: Some([501.0, 700.0]) };
        assert_eq!(below_500(&above), Ok(false));
        let few = KnownShare { range: Some([80.0, 600.0]), ..p99(100, 0, 89.0) };
        assert_eq!(below_500(&few), Err(Open::InRange([80.0, 600.0])), "both have to decide it");
    }

    #[test]
    fn a_floor_is_kept_by_what_is_above_it() {
        let rate = |value, range| KnownShare { value: Some(value), sampled: None, range };
        let holds = |value: f64| value > 5.0;
        assert_eq!(decide(&rate(6.0, None), holds), Ok(true));
        assert_eq!(decide(&rate(6.0, Some([4.0, 7.0])), holds), Err(Open::InRange([4.0, 7.0])));
    }

    #[test]
    fn a_percentile_at_its_bound_is_decided_as_seldom_as_promised() {
        let bound = -(0.01_f64).ln();
        for count in [5, 20, 60, 100, 200, 367, 368, 500, 999] {
            let mut rng = dyno_stats::rng::SplitMix::new(count);
            let trials = 2_000;
            let mut decided = 0;
            for _ in 0..trials {
                let samples: Vec<f64> = (0..count).map(|_| -rng.unit().ln()).collect();
                let beyond = samples.iter().filter(|sample| **sample >= bound).count() as u64;
                let largest = samples.iter().copied().fold(0.0, f64::max);
                let found = decide(&p99(count, beyond, largest), |value| value < bound);
                decided += u32::from(found.is_ok());
            }
            let share = f64::from(decided) / f64::from(trials);
            assert!(share < 0.065, "{count} samples: {share} of the trials were decided");
        }
    }

    proptest! {
        #[test]
        fn what_would_decide_it_does(count in 1_u64..900) {
            if let Err(Open::FewSamples { more }) = below_500(&p99(count, 0, 499.0)) {
                prop_assert_eq!(below_500(&p99(count + more, 0, 499.0)), Ok(true));
            }
        }
    }
}
