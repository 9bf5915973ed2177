//! One run of each side. A block bootstrap within a run gives the precision of a metric, but not how
//! much it would differ in another run, so that is assumed.

use super::effect::{Basis, Effect, Estimate, logarithm};
use super::student::critical;
use super::verdict::CHANCE;
use crate::blocks::Interval;
use crate::stability::WatchedStatistic;

/// The standard deviation between runs of the same server in a closed loop, as a share of a metric.
pub const BETWEEN_RUNS: f64 = 0.01;
/// The same at a given rate of arrivals, for metrics of the middle: a server that is a little
/// slower fills up a little more, and is slower by more than that.
pub const BETWEEN_RUNS_AT_A_RATE: f64 = 0.05;

/// Whether requests wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    /// Closed loop: a fixed number in flight.
    Closed,
    /// Open loop: arrivals do not depend on responses.
    Open,
}

/// The standard deviation between runs that may be assumed where it is not known. Absent for the
/// tail in an open loop: near its capacity a server that is 1 % slower has a p99 that is 10 %
/// higher, or 20 %, and one run does not show how near that is.
pub fn between_runs(kind: Loop, statistic: WatchedStatistic) -> Option<f64> {
    match (kind, statistic) {
        (Loop::Closed, _) => Some(BETWEEN_RUNS),
        (Loop::Open, WatchedStatistic::Mean | WatchedStatistic::P50) => {
            Some(BETWEEN_RUNS_AT_A_RATE)
        }
        (Loop::Open, _) => None,
    }
}

/// A metric of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRunFigure {
    /// Its value.
    pub value: f64,
    /// Its 95 % interval within the run, as [`crate::BlockTable`] gives it.
    pub interval: Option<Interval>,
}

impl OneRunFigure {
    /// A throughput without its own interval, from a closed loop without pauses. There,
    /// by Little's law, it is the number in flight divided by the mean latency, and known as well
    /// as that.
    pub fn by_latency(throughput: f64, mean_latency: Self) -> Self {
        let scaled = |[low, high]: Interval| {
            [throughput * mean_latency.value / high, throughput * mean_latency.value / low]
        };
        Self { value: throughput, interval: mean_latency.interval.map(scaled) }
    }

    /// Value, and how far down and up its interval reaches, as logarithms.
    fn logarithms(self) -> Option<(f64, [f64; 2])> {
        let [low, high] = self.interval?;
        let value = logarithm(self.value)?;
        let (down, up) = (value - logarithm(low)?, logarithm(high)? - value);
        Some((value, [down.max(0.0), up.max(0.0)]))
    }
}

/// The change from one run of A to one of B. Each has its own effect with the standard
/// deviation `assumed` (see [`between_runs`]), besides what its interval says.
///
/// Absent where a run has no interval, or a metric is not above 0.
pub fn one_run(a: OneRunFigure, b: OneRunFigure, assumed: f64) -> Option<Effect> {
    let ((of_a, a), (of_b, b)) = (a.logarithms()?, b.logarithms()?);
    let normal = critical(CHANCE, f64::INFINITY);
    // Where B may be lower and A higher, the change may be less.
    let error = |b: f64, a: f64| {
        let within = (b * b + a * a) / (normal * normal);
        (within + 2.0 * assumed * assumed).sqrt()
    };
    let errors = [error(b[0], a[1]), error(b[1], a[0])];
    let log = Estimate {
        value: of_b - of_a,
        errors,
        freedom: f64::INFINITY,
        spread: errors[0].max(errors[1]),
    };
    Effect::new(log, Basis::OneRunEach { assumed }, [1, 1])
}
