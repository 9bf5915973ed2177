//! Intervals around the results of a prediction, by the twin's own accuracy.

use dyno_model::metric::Time;
use dyno_model::plan::{LevelPlan, Load, PredictionAccuracy};
use dyno_model::summary::{LevelSummary, PercentileIntervals, PredictionIntervals, round6};

/// Half the width of the rate of an open loop that the server can take, in percent: what ends after the last
/// arrival differs a little from run to run.
const TAKEN: f64 = 2.0;
/// Half the width of a 95 % interval in standard deviations of one run: both the prediction and what is measured are one.
/// Somewhat more than 1.96, as the ends of the window follow the arrivals, too.
const HALF: f64 = 2.5 * std::f64::consts::SQRT_2;

/// Around the values that tables show: those of the steady window, where there is one.
pub(super) fn intervals(
    accuracy: PredictionAccuracy,
    plan: &LevelPlan,
    level: &LevelSummary,
) -> PredictionIntervals {
    let throughput = level.steady.map_or(level.throughput, |steady| steady.throughput);
    let times = |time: Time, percent: f64| {
        let of = level.times[time].as_ref();
        PercentileIntervals {
            p50: of.and_then(|of| of.p50).map(|value| around(value, percent)),
            p90: of.and_then(|of| of.p90).map(|value| around(value, percent)),
        }
    };
    PredictionIntervals {
        requests_per_s: throughput
            .requests_per_s
            .map(|rate| completed(rate, accuracy, plan, level)),
        ttft: times(Time::Ttft, accuracy.ttft),
        itl: accuracy.itl.map_or_else(PercentileIntervals::default, |percent| {
            PercentileIntervals { p90: None, ..times(Time::Itl, percent) }
        }),
        latency: times(Time::Latency, accuracy.latency),
    }
}

/// Around completed requests per second. An open loop completes what arrives, if the server can: how many arrivals fall
/// into the steady window is chance, and no error of the twin.
fn completed(
    value: f64,
    accuracy: PredictionAccuracy,
    plan: &LevelPlan,
    level: &LevelSummary,
) -> [f64; 2] {
    let (Load::Rate { rate, .. }, Some(offered)) = (plan.load, level.offered_per_s) else {
        return around(value, accuracy.rate);
    };
    let arrivals = 100.0 * HALF * by_chance(level);
    if plan.capacity.is_some_and(|[least, _]| rate <= least) {
        return around(value, TAKEN.max(arrivals).min(accuracy.rate.max(TAKEN)));
    }
    let [low, high] = around(value, accuracy.rate);
    [low, high.min(round6(value.max(offered) * (1.0 + arrivals / 100.0)))]
}

/// The standard deviation of arrivals in the steady window, as a share: their number in the whole level is fixed.
fn by_chance(level: &LevelSummary) -> f64 {
    let (Some(steady), Some(whole)) = (level.steady, level.duration_s) else { return 0.0 };
    let share = (steady.window_s / whole).clamp(f64::MIN_POSITIVE, 1.0);
    ((1.0 - share) / (share * level.requests.completed.unwrap_or(1).max(1) as f64)).sqrt()
}

/// Errors are factors: half as much is as far away as twice as much.
fn around(value: f64, percent: f64) -> [f64; 2] {
    let factor = 1.0 + percent / 100.0;
    [round6(value / factor), round6(value * factor)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Arrival;
    use dyno_model::summary::{Distribution, RequestCounts, Steady, Throughput, Times};

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
        let plan = LevelPlan::new(Load::Concurrency { concurrency: 4 });
        let found = intervals(accuracy, &plan, &level);
        assert_eq!(found.requests_per_s, Some([6.4, 10.0]));
        assert_eq!((found.ttft.p50, found.ttft.p90), (Some([25.0, 100.0]), Some([50.0, 200.0])));
        assert_eq!((found.itl.p50, found.itl.p90), (Some([6.25, 16.0]), None));
        assert_eq!(found.latency, PercentileIntervals::default());
        let unknown = intervals(PredictionAccuracy { itl: None, ..accuracy }, &plan, &level);
        assert_eq!(unknown.itl, PercentileIntervals::default());
        assert_eq!(unknown.ttft, found.ttft);
    }

    /// 300 requests at 10 per second, of which 27 s are the steady window, by a twin whose throughput may be 21 % off.
    fn completed_per_s(value: f64, capacity: Option<[f64; 2]>) -> [f64; 2] {
        let arrival = Arrival::Poisson;
        let plan = LevelPlan { capacity, ..LevelPlan::new(Load::Rate { rate: 10.0, arrival }) };
        let throughput = Throughput { requests_per_s: Some(value), ..Throughput::default() };
        let level = LevelSummary {
            requests: RequestCounts { completed: Some(300), ..RequestCounts::default() },
            offered_per_s: Some(10.0),
            duration_s: Some(30.0),
            steady: Some(Steady { window_s: 27.0, throughput }),
            ..LevelSummary::default()
        };
        let accuracy = PredictionAccuracy { rate: 21.0, ttft: 9.0, itl: None, latency: 9.0 };
        intervals(accuracy, &plan, &level).requests_per_s.unwrap()
    }

    #[test]
    fn an_open_loop_that_the_server_can_take_completes_what_arrives() {
        // Of 300 arrivals 270 are in the window, with a standard deviation of 5.2.
        let [low, high] = completed_per_s(10.0, Some([14.0, 16.0]));
        assert!((9.3..9.4).contains(&low) && (10.6..10.7).contains(&high), "{low} {high}");
    }

    #[test]
    fn one_that_it_may_not_take_completes_less_but_not_more_than_arrives() {
        for capacity in [Some([9.0, 11.0]), None] {
            let [low, high] = completed_per_s(10.0, capacity);
            assert!((8.2..8.3).contains(&low) && (10.6..10.7).contains(&high), "{low} {high}");
        }
    }
}
