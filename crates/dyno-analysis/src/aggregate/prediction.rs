//! Intervals around the results of a prediction, by the twin's own accuracy.

use dyno_model::metric::Time;
use dyno_model::plan::PredictionAccuracy;
use dyno_model::summary::{LevelSummary, PercentileIntervals, PredictionIntervals, round6};

/// Around the values that tables show: those of the steady window, where there is one.
pub(super) fn intervals(accuracy: PredictionAccuracy, level: &LevelSummary) -> PredictionIntervals {
    let throughput = level.steady.map_or(level.throughput, |steady| steady.throughput);
    let times = |time: Time, percent: f64| {
        let of = level.times[time].as_ref();
        PercentileIntervals {
            p50: of.and_then(|of| of.p50).map(|value| around(value, percent)),
            p90: of.and_then(|of| of.p90).map(|value| around(value, percent)),
        }
    };
    PredictionIntervals {
        requests_per_s: throughput.requests_per_s.map(|rate| around(rate, accuracy.rate)),
        ttft: times(Time::Ttft, accuracy.ttft),
        itl: accuracy.itl.map_or_else(PercentileIntervals::default, |percent| {
            PercentileIntervals { p90: None, ..times(Time::Itl, percent) }
        }),
        latency: times(Time::Latency, accuracy.latency),
    }
}

/// Errors are factors: half as much is as far away as twice as much.
fn around(value: f64, percent: f64) -> [f64; 2] {
    let factor = 1.0 + percent / 100.0;
    [round6(value / factor), round6(value * factor)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::summary::{Distribution, Throughput, Times};

    #[test]
    fn intervals_lie_around_what_is_predicted_and_absent_stays_absent() {
        let mut times = Times::default();
        let found = |p50, p90| Some(Distribution { p50, p90, ..Distribution::default() });
        times[Time::Ttft] = found(Some(50.0), Some(100.0));
        times[Time::Itl] = found(Some(10.0), Some(20.0));
        let throughput = Throughput { requests_per_s: Some(8.0), ..Throughput::default() };
        let level = LevelSummary { throughput, times, ..LevelSummary::default() };
        let accuracy =
            PredictionAccuracy { rate: 25.0, ttft: 100.0, itl: Some(60.0), latency: 5.0 };
        let found = intervals(accuracy, &level);
        assert_eq!(found.requests_per_s, Some([6.4, 10.0]));
        assert_eq!((found.ttft.p50, found.ttft.p90), (Some([25.0, 100.0]), Some([50.0, 200.0])));
        assert_eq!((found.itl.p50, found.itl.p90), (Some([6.25, 16.0]), None));
        assert_eq!(found.latency, PercentileIntervals::default());
        let unknown = intervals(PredictionAccuracy { itl: None, ..accuracy }, &level);
        assert_eq!(unknown.itl, PercentileIntervals::default());
        assert_eq!(unknown.ttft, found.ttft);
    }
}
