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
        let (floor, scale) = match time.is_between_tokens() {
            true => (GOOD_TOKEN_MS, value.max(typical.unwrap_or(0.0))),
            false => (GOOD_MS, value),
        };
        Self::of(error(value, range), floor.max(GOOD * scale), FAIR * scale)
    }
}

/// Whether a value is a percentile above the median of a time between tokens. Such a value is marked itself
/// where it is uncertain; the verdict of its level does not depend on it.
pub fn is_judged_alone(metric: Metric, statistic: Option<Statistic>) -> bool {
    let between = metric.time().is_some_and(Time::is_between_tokens);
    between && statistic.is_some_and(Statistic::is_tail)
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

    /// Whether the client could measure a value only roughly, so that every output marks it.
    pub fn is_uncertain(&self, metric: Metric, statistic: Option<Statistic>) -> bool {
        self.quality(metric, statistic).is_some_and(|quality| quality > Quality::Good)
    }

    /// Whether nothing may be concluded from a value itself. Percentiles between tokens have to be good
    /// because the verdict of the level does not depend on them; the verdict covers fair values of the
    /// others.
    pub fn is_inconclusive(&self, metric: Metric, statistic: Option<Statistic>) -> bool {
        let least = match is_judged_alone(metric, statistic) {
            true => Quality::Good,
            false => Quality::Fair,
        };
        self.quality(metric, statistic).is_some_and(|quality| quality > least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Distribution, Ranges};

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
    fn percentiles_between_tokens_are_judged_alone() {
        let mut level = LevelSummary::default();
        let times = |range: [f64; 2]| Distribution {
            mean: Some(20.0),
            p99: Some(20.0),
            instrument: Some(Ranges::new(|_| Some(range))),
            ..Distribution::default()
        };
        let (itl, ttft) = (Metric::Time(Time::Itl), Metric::Time(Time::Ttft));
        for (range, fair, poor) in
            [([19.9, 20.0], false, false), ([19.0, 20.0], true, false), ([10.0, 20.0], true, true)]
        {
            level.times[Time::Itl] = Some(times(range));
            level.times[Time::Ttft] = Some(times(range));
            for statistic in [Statistic::Mean, Statistic::P99].map(Some) {
                assert_eq!(level.is_uncertain(itl, statistic), fair);
                assert_eq!(level.is_inconclusive(ttft, statistic), poor);
            }
            assert_eq!(level.is_inconclusive(itl, Some(Statistic::P99)), fair);
            assert_eq!(level.is_inconclusive(itl, Some(Statistic::Mean)), poor);
        }
        assert!(!level.is_uncertain(itl, Some(Statistic::Std)));
    }

    #[test]
    fn a_gap_that_is_nil_is_weighed_by_the_usual_one() {
        let median = |typical| Quality::of_time(Time::Itl, 0.0, [0.0, 1.0], typical);
        assert_eq!(median(Some(20.0)), Quality::Fair);
        assert_eq!(median(Some(2.0)), Quality::Poor);
    }
}
