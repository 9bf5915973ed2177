//! How far an honest value may be off: by the digits with which it was printed, and by chance.

use super::rows::{LintRows, LintedLevel};

/// Deviation, in standard errors, that chance exceeds once in 10,000 rows: beyond it, a finding is an
/// error.
pub(super) const CERTAIN: f64 = 3.72;
/// The same for once in 1,000 rows: beyond it, a finding is a warning.
pub(super) const NOTICEABLE: f64 = 3.09;

/// The finest digit that is recognised; importers keep no more.
const FINEST: i32 = -6;

/// The place of the last digit that was printed: 0.01 for 2.57. Coarser than `coarsest` is taken for a
/// value that happens to be round.
fn last_digit(value: f64, coarsest: i32) -> f64 {
    let on = |power: &i32| {
        let steps = value / 10_f64.powi(*power);
        (steps - steps.round()).abs() < 1e-4
    };
    let found = (FINEST + 1..=coarsest).rev().find(on);
    10_f64.powi(found.unwrap_or(FINEST))
}

/// By how much rounding may have changed a time in milliseconds that stands alone; it may have been
/// rounded to seconds.
pub(super) fn half_digit(ms: f64) -> f64 {
    last_digit(ms, 3) / 2.0
}

/// A metric as a table prints it: with the same last digit in every row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    last_digit: f64,
}

impl Column {
    /// The column of a metric, by its values in all rows. Times in milliseconds may have been printed
    /// in whole seconds, rates as whole numbers: `coarsest` is that power of ten.
    pub(super) fn of<'a>(
        rows: &LintRows<'a>,
        coarsest: i32,
        value: impl Fn(&LintedLevel<'a>) -> Option<f64>,
    ) -> Self {
        let finest = rows
            .rows
            .iter()
            .filter_map(value)
            .map(|value| last_digit(value, coarsest))
            .min_by(f64::total_cmp);
        Self { last_digit: finest.unwrap_or(0.0).max(rows.finest_digit()) }
    }

    /// A column of times in milliseconds.
    pub(super) fn times<'a>(
        rows: &LintRows<'a>,
        value: impl Fn(&LintedLevel<'a>) -> Option<f64>,
    ) -> Self {
        Self::of(rows, 2, value)
    }

    /// A column of rates per second, or of seconds.
    pub(super) fn rates<'a>(
        rows: &LintRows<'a>,
        value: impl Fn(&LintedLevel<'a>) -> Option<f64>,
    ) -> Self {
        Self::of(rows, 0, value)
    }

    /// By how much rounding may have changed a value.
    pub(super) fn half(self) -> f64 {
        self.last_digit / 2.0
    }

    /// The same as a share of the least value that was printed like this.
    pub(super) fn share(self, value: f64) -> f64 {
        let least = value.abs() - self.half();
        if least > 0.0 { self.half() / least } else { f64::INFINITY }
    }

    /// How many steps of its last digit a value has: what it can tell apart.
    pub(super) fn steps(self, value: f64) -> f64 {
        if self.last_digit > 0.0 { value.abs() / self.last_digit } else { 0.0 }
    }
}

/// The factor by which the rate of `n` random arrivals exceeds the offered one no more often than a
/// normal variable exceeds `sigmas`. The time of the last of `n` Poisson arrivals has a gamma
/// distribution; this is its lower quantile by Wilson and Hilferty.
pub(super) fn above_rate(n: f64, sigmas: f64) -> Option<f64> {
    // A run starts with its first arrival: n requests have n - 1 gaps.
    let gaps = n - 1.0;
    let root = 1.0 - 1.0 / (9.0 * gaps) - sigmas / (3.0 * gaps.sqrt());
    (gaps >= 1.0 && root > 0.1).then(|| n / gaps / root.powi(3))
}

/// How many mean gaps the arrivals of `n` requests take at most, exceeded no more often than a normal
/// variable exceeds `sigmas`: the upper quantile of the same distribution. Gaps of a gamma distribution
/// with a shape vary as much as so many Poisson arrivals.
pub(super) fn longest_arrivals(n: f64, shape: f64, sigmas: f64) -> Option<f64> {
    let gaps = (n - 1.0) * shape;
    let root = 1.0 - 1.0 / (9.0 * gaps) + sigmas / (3.0 * gaps.sqrt());
    (gaps >= 1.0).then(|| (n - 1.0) * root.powi(3))
}

/// The relative standard error of the difference of two means of `a` and `b` values whose standard
/// deviation is `spread` times their mean.
pub(super) fn of_two(spread: f64, a: f64, b: f64) -> f64 {
    spread * (1.0 / a + 1.0 / b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_digit_is_seen_in_the_value() {
        assert_eq!(last_digit(2.57, 0), 0.01);
        assert_eq!(last_digit(13_670.000_000_000_002, 2), 10.0);
        assert_eq!(last_digit(20.0, 0), 1.0);
        assert_eq!(last_digit(2.263_118, 0), 1e-6);
    }

    /// Against simulated arrivals: 1 in 1,000 exceeds the bound of 3.09 standard errors.
    #[test]
    fn random_arrivals_exceed_the_bound_as_rarely_as_stated() {
        let mut state = 7_u64;
        let mut gap = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            -(((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).ln()
        };
        for n in [20, 200] {
            let bound = above_rate(f64::from(n), NOTICEABLE).unwrap();
            let runs = 40_000;
            let beyond = (0..runs)
                .filter(|_| f64::from(n) / (1..n).map(|_| gap()).sum::<f64>() > bound)
                .count();
            assert!((10..=90).contains(&beyond), "{n}: {beyond} of {runs}, expected 40");
        }
    }
}
