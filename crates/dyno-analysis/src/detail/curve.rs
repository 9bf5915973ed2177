//! Distributions of times as cumulative curves (CDF).

use dyno_model::summary::round6;
use dyno_stats::Counted;

/// Points between the ends, evenly spaced in share.
const EVEN: u32 = 100;
/// Shares beyond the last of them, for the tail.
const TAIL: [f64; 8] = [0.992, 0.994, 0.996, 0.998, 0.999, 0.9995, 0.9999, 0.99999];

/// A cumulative distribution, by exact quantiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Samples.
    pub count: u64,
    /// Milliseconds, and the share of samples up to that value; both rise.
    pub points: Vec<[f64; 2]>,
}

impl Curve {
    /// Of nanoseconds; none without samples.
    pub(super) fn of(samples: &Counted) -> Option<Self> {
        let count = samples.count();
        let in_ms = |ns: f64| round6(ns / 1e6);
        let even = (0..=EVEN).map(|i| f64::from(i) / f64::from(EVEN));
        // A share with less than one sample beyond it is that of the largest.
        let tail = TAIL.into_iter().filter(|share| (1.0 - share) * count as f64 >= 1.0);
        let mut shares: Vec<f64> = even.chain(tail).collect();
        shares.sort_by(f64::total_cmp);
        let point = |share: f64| Some([in_ms(samples.quantile(share)?), round6(share)]);
        let points: Option<Vec<[f64; 2]>> = shares.into_iter().map(point).collect();
        let points = points.filter(|_| count > 0)?;
        Some(Self { count, points })
    }
}
