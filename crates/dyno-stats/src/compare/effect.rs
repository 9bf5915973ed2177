//! A change from A to B, and how well it is known.

use super::student::{critical, two_sided};
use super::verdict::Better;

/// Differences of logarithms below this are errors of rounding.
const ROUNDING: f64 = 1e-12;

/// What an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Basis {
    /// One run of each. How much runs differ among themselves could not be measured and was
    /// assumed: this standard deviation, as a share of the metric.
    OneRunEach {
        /// The standard deviation between runs.
        assumed: f64,
    },
    /// One run against several: it is taken to vary as they do.
    OneAgainstSeveral,
    /// Several runs of each.
    Rounds,
    /// Several rounds of one run of each.
    Paired,
}

/// A change of a metric from A to B. Shares: 0.05 is 5 % more, −0.05 is 5 % less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The estimate, B / A − 1.
    pub change: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// The upper end of the 95 % interval.
    pub high: f64,
    /// The probability of a change like this, or a larger one in either direction, if there is none.
    pub p: f64,
    /// What this rests on.
    pub basis: Basis,
    /// Runs of A and of B.
    pub runs: [usize; 2],
    pub(super) log: Estimate,
}

/// The logarithm of B / A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    /// Standard errors for the way down and the way up.
    pub(super) errors: [f64; 2],
    pub(super) freedom: f64,
    /// Standard deviation of the difference between one run of A and one of B.
    pub(super) spread: f64,
}

impl Estimate {
    /// The ends of the interval that misses the truth with this probability, on both sides together.
    pub(super) fn interval(&self, chance: f64) -> [f64; 2] {
        let t = critical(chance, self.freedom);
        [self.value - t * self.errors[0], self.value + t * self.errors[1]]
    }

    fn p(&self) -> f64 {
        if self.value == 0.0 {
            return 1.0;
        }
        self.farther(self.value.abs(), self.value > 0.0)
    }

    /// The probability of a change that is worse than `limit` by as much as this one, if the limit
    /// is the truth; two-sided, as [`p`](Effect::p) is. 1 where it is not worse than the limit.
    pub(super) fn beyond(&self, limit: f64, better: Better) -> f64 {
        let above = better == Better::Lower;
        let distance = if above { self.value - limit } else { limit - self.value };
        if distance > 0.0 { self.farther(distance, above) } else { 1.0 }
    }

    /// The probability of an estimate so far above, or below, a truth.
    fn farther(&self, distance: f64, above: bool) -> f64 {
        // The error for the way that leads back to it.
        let error = self.errors[usize::from(!above)];
        if error == 0.0 { 0.0 } else { two_sided(distance / error, self.freedom) }
    }
}

impl Effect {
    /// The ends of the interval that misses the true change with this probability, on both sides
    /// together.
    pub(super) fn interval(&self, chance: f64) -> [f64; 2] {
        self.log.interval(chance).map(libm::expm1)
    }

    /// Absent where something is not a finite number.
    pub(super) fn new(mut log: Estimate, basis: Basis, runs: [usize; 2]) -> Option<Self> {
        if log.value.abs() < ROUNDING {
            log.value = 0.0;
        }
        let [low, high] = log.interval(super::verdict::CHANCE);
        let share = |log: f64| libm::expm1(log);
        let usable = low.is_finite() && high.is_finite() && share(high).is_finite();
        usable.then(|| Self {
            change: share(log.value),
            low: share(low),
            high: share(high),
            p: log.p(),
            basis,
            runs,
            log,
        })
    }
}

/// The logarithm of a metric; absent where there is none.
pub(super) fn logarithm(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| libm::log(value))
}
