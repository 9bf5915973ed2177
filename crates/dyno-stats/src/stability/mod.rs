//! Whether a metric is precise enough to stop measuring: its 95 % half-width for correlated samples,
//! whether the samples are steady, and a watch that may be checked repeatedly without stopping by
//! chance.

mod batches;
mod steady;
mod watch;

pub use steady::is_steady;
pub use watch::{FIRST_LOOK, StabilityWatch, Standing, samples_to_stop};

use crate::quantile;
use batches::{Batches, STUDENT_95};

/// Fewer samples than this give no precision.
pub const FEWEST_SAMPLES: usize = 100;
/// A percentile needs at least this many samples beyond it.
const FEWEST_BEYOND: f64 = 10.0;

/// The statistic whose precision is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchedStatistic {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

impl WatchedStatistic {
    /// The share of samples that lie below a percentile; none for the mean.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
        }
    }
}

/// A statistic and its precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// The metric, over all samples.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub half_width: f64,
}

impl Precision {
    /// The half-width as a share of the metric; absent where that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.value != 0.0).then(|| self.half_width / self.value.abs())
    }
}

/// The precision of a statistic of samples in the order of time. Absent with fewer than
/// [`FEWEST_SAMPLES`], fewer than 10 beyond a percentile, or a sample that is not a finite number.
///
/// The samples are cut into 20 batches of consecutive ones, and the scatter of the batches gives
/// the error. For a percentile it is the scatter of the share of samples that lie above it, and
/// the interval reaches to the samples whose shares lie that much higher and lower.
pub fn precision(samples: &[f64], statistic: WatchedStatistic) -> Option<Precision> {
    let count = samples.len();
    if count < FEWEST_SAMPLES || samples.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let Some(share) = statistic.share() else {
        let batches = Batches::new(samples.iter().copied());
        let value = samples.iter().sum::<f64>() / count as f64;
        return Some(Precision { value, half_width: STUDENT_95 * batches.error() });
    };
    if count as f64 * share.min(1.0 - share) < FEWEST_BEYOND {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let value = quantile(&sorted, share)?;
    let beyond = samples.iter().map(|s| if *s > value { 1.0 } else { 0.0 });
    let reach = STUDENT_95 * Batches::new(beyond).error();
    if share + reach >= 1.0 {
        return None;
    }
    let low = quantile(&sorted, (share - reach).max(0.0))?;
    let high = quantile(&sorted, share + reach)?;
    Some(Precision { value, half_width: (value - low).max(high - value) })
}

#[cfg(test)]
mod tests;
