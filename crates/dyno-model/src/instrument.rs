//! How accurate a value is. An instrument range bounds the error of the measurement itself; a 95 %
//! confidence interval (`ci95`) describes the variation between repetitions.

use crate::metric::{Metric, Statistic, Time};
use crate::summary::LevelSummary;

/// The relative error up to which a value is good, and fair.
const GOOD: f64 = 0.02;
const FAIR: f64 = 0.10;
/// Absolute errors that are always good: half a millisecond for times of requests, a twentieth of one
/// for times between tokens.
const GOOD_MS: f64 = 0.5;
const GOOD_TOKEN_MS: f64 = 0.05;

/// The accuracy of a value, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// Within 2 %.
    Good,
    /// Within 10 %.
    Fair,
    /// The error may be larger.
    Poor,
}

impl Quality {
    fn of(error: f64, good: f64, fair: f64) -> Self {
        match error {
            error if error <= good => Self::Good,
            error if error <= fair.max(good) => Self::Fair,
            _ => Self::Poor,
        }
    }

    /// Of a throughput.
    pub fn of_work(value: f64, range: [f64; 2]) -> Self {
        Self::of(error(value, range), GOOD * value, FAIR * value)
    }

    /// Of a time in milliseconds. `typical` is the mean: errors of shorter gaps between tokens are
    /// relative to it, because many gaps are zero where tokens arrive together.
    pub fn of_time(time: Time, value: f64, range: [f64; 2], typical: Option<f64>) -> Self {
        let per_token = matches!(time, Time::Tpot | Time::Itl | Time::ChunkGap);
        let (floor, scale) = match per_token {
            true => (GOOD_TOKEN_MS, value.max(typical.unwrap_or(0.0))),
            false => (GOOD_MS, value),
        };
        Self::of(error(value, range), floor.max(GOOD * scale), FAIR * scale)
    }
}

/// The largest possible error of a value.
fn error(value: f64, [low, high]: [f64; 2]) -> f64 {
    (high - value).max(value - low).max(0.0)
}

impl LevelSummary {
    /// The instrument range of a value, in its unit; absent where it is not known, as for statistics
    /// without a range. Throughput is the headline throughput.
    pub fn instrument_range(
        &self,
        metric: Metric,
        statistic: Option<Statistic>,
    ) -> Option<[f64; 2]> {
        if let Metric::Time(time) = metric {
            return self.times[time].as_ref()?.instrument.as_ref()?.get(statistic?);
        }
        let work = &self.instrument.as_ref()?.throughput;
        match metric {
            Metric::RequestRate => work.requests_per_s,
            Metric::OutputRate => work.output_tokens_per_s,
            Metric::TotalRate => work.total_tokens_per_s,
            Metric::InputRate => work.inputs_per_s,
            Metric::InputTokenRate => work.input_tokens_per_s,
            _ => None,
        }
    }

    /// How accurate a value is; absent where that is not known.
    pub fn quality(&self, metric: Metric, statistic: Option<Statistic>) -> Option<Quality> {
        let range = self.instrument_range(metric, statistic)?;
        if let Metric::Time(time) = metric {
            let times = self.times[time].as_ref()?;
            return Some(Quality::of_time(time, times.get(statistic?)?, range, times.mean));
        }
        let value = self.steady_throughput().rate(metric);
        Some(Quality::of_work(value?, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_weighed_by_its_own_size() {
        let ttft = |value, range| Quality::of_time(Time::Ttft, value, range, None);
        assert_eq!(ttft(100.0, [98.5, 100.0]), Quality::Good);
        assert_eq!(ttft(100.0, [92.0, 100.0]), Quality::Fair);
        assert_eq!(ttft(126.0, [100.0, 126.0]), Quality::Poor);
        // Half a millisecond is good enough for a first token, not for the gap between two.
        assert_eq!(ttft(2.0, [1.6, 2.0]), Quality::Good);
        assert_eq!(Quality::of_time(Time::Itl, 2.0, [1.6, 2.0], None), Quality::Poor);
        assert_eq!(Quality::of_work(1000.0, [985.0, 1010.0]), Quality::Good);
        assert_eq!(Quality::of_work(1000.0, [1000.0, 1150.0]), Quality::Poor);
    }

    #[test]
    fn a_gap_that_is_nil_is_weighed_by_the_usual_one() {
        let median = |typical| Quality::of_time(Time::Itl, 0.0, [0.0, 1.0], typical);
        assert_eq!(median(Some(20.0)), Quality::Fair);
        assert_eq!(median(Some(2.0)), Quality::Poor);
    }
}
