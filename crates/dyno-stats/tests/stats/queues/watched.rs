//! Series with known statistics, and how a watch performs on them.

use super::{exponential, normal};
use dyno_stats::rng::SplitMix;
use dyno_stats::{StabilityWatch, Standing, WatchedStatistic};
use std::fmt;

/// A stationary series of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Series {
    /// Normal about 10, each like the one before by `alike`.
    Autoregressive { alike: f64, deviation: f64 },
    /// Time in an M/M/1 queue at this load, with a mean service of 1.
    Queue { load: f64 },
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Autoregressive { alike, deviation } => {
                write!(f, "AR(1), φ = {alike}, deviation {:.0} %", 10.0 * deviation)
            }
            Self::Queue { load } => write!(f, "time in M/M/1 at {:.0} %", 100.0 * load),
        }
    }
}

impl Series {
    fn start(self, rng: &mut SplitMix) -> f64 {
        match self {
            Self::Autoregressive { .. } => normal(rng),
            Self::Queue { load } => exponential(rng) / (1.0 - load),
        }
    }

    /// The next state, and the sample that it makes.
    fn next(self, rng: &mut SplitMix, state: f64) -> (f64, f64) {
        match self {
            Self::Autoregressive { alike, deviation } => {
                let state = alike * state + (1.0 - alike * alike).sqrt() * normal(rng);
                (state, 10.0 + deviation * state)
            }
            Self::Queue { load } => {
                let waits = (state - exponential(rng) / load).max(0.0);
                let state = waits + exponential(rng);
                (state, state)
            }
        }
    }

    fn truth(self, statistic: WatchedStatistic) -> f64 {
        match self {
            Self::Autoregressive { deviation, .. } => {
                let place = match statistic {
                    WatchedStatistic::Mean | WatchedStatistic::P50 => 0.0,
                    WatchedStatistic::P90 => 1.281_551_6,
                    WatchedStatistic::P95 => 1.644_853_6,
                    WatchedStatistic::P99 => 2.326_347_9,
                };
                10.0 + deviation * place
            }
            Self::Queue { load } => {
                statistic.share().map_or(1.0, |q| -(1.0 - q).ln()) / (1.0 - load)
            }
        }
    }
}

const fn ar(alike: f64, deviation: f64) -> Series {
    Series::Autoregressive { alike, deviation }
}

/// What the table shows.
pub(crate) const ROWS: [(Series, WatchedStatistic); 14] = [
    (ar(0.0, 3.0), WatchedStatistic::Mean),
    (ar(0.5, 3.0), WatchedStatistic::Mean),
    (ar(0.9, 1.0), WatchedStatistic::Mean),
    (ar(0.9, 3.0), WatchedStatistic::Mean),
    (ar(0.98, 1.0), WatchedStatistic::Mean),
    (ar(0.9, 3.0), WatchedStatistic::P50),
    (ar(0.9, 3.0), WatchedStatistic::P90),
    (ar(0.9, 3.0), WatchedStatistic::P95),
    (ar(0.9, 3.0), WatchedStatistic::P99),
    (Series::Queue { load: 0.5 }, WatchedStatistic::Mean),
    (Series::Queue { load: 0.5 }, WatchedStatistic::P50),
    (Series::Queue { load: 0.5 }, WatchedStatistic::P90),
    (Series::Queue { load: 0.5 }, WatchedStatistic::P99),
    (Series::Queue { load: 0.7 }, WatchedStatistic::Mean),
];

/// Runs that take longer are given up.
const MOST_SAMPLES: usize = 1_500_000;

/// How watches performed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fared {
    /// Percentage of runs that stopped.
    pub(crate) stopped: f64,
    /// Percentage of those whose interval contains the true value.
    pub(crate) covered: f64,
    pub(crate) median_count: usize,
}

/// Feeds `runs` watches until they stop.
pub(crate) fn watched(
    series: Series,
    statistic: WatchedStatistic,
    wanted: f64,
    seed: u64,
    runs: usize,
) -> Fared {
    let mut rng = SplitMix::new(seed);
    let truth = series.truth(statistic);
    let (mut counts, mut covered) = (Vec::new(), 0);
    for _ in 0..runs {
        let mut watch = StabilityWatch::new(statistic, wanted);
        let mut state = series.start(&mut rng);
        while watch.count() < MOST_SAMPLES {
            let sample;
            (state, sample) = series.next(&mut rng, state);
            watch.add(sample);
            if let Standing::Known(found) = watch.ask() {
                counts.push(watch.count());
                covered += usize::from((found.value - truth).abs() <= found.half_width);
                break;
            }
        }
    }
    counts.sort_unstable();
    let stopped = counts.len();
    Fared {
        stopped: 100.0 * stopped as f64 / runs.max(1) as f64,
        covered: 100.0 * covered as f64 / stopped.max(1) as f64,
        median_count: counts.get(stopped / 2).copied().unwrap_or_default(),
    }
}
