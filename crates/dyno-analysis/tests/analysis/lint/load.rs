//! Checks against the load: Little's law, offered rates, and how results change with load.

use super::made::{
    PER_S, Random, assert_clean, codes, consistent, found, level, mean_of, of, printed,
};
use dyno_model::LevelSummary;
use dyno_model::Severity::{Error, Warning};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Reported};

/// `n` arrivals at a rate, all answered at once: the worst case for completions above the offered rate.
fn arrived(
    random: &mut Random,
    n: u64,
    rate: f64,
    gap: impl Fn(&mut Random) -> f64,
) -> LevelSummary {
    let duration: f64 = (1..n).map(|_| gap(random) / rate).sum();
    let mut made = level(LoadKind::Rate, rate);
    made.requests.completed = Some(n);
    made.duration_s = Some(duration);
    made.throughput.requests_per_s = Some(n as f64 / duration);
    made
}

#[test]
fn random_arrivals_are_rarely_above_the_offered_rate() {
    let mut random = Random(10);
    for n in [50, 400] {
        let wrong = |_: &usize| {
            let made = arrived(&mut random, n, 4.0, Random::exponential);
            !codes(&of("vllm", vec![made]), Error).is_empty()
        };
        let alarms = (0..4_000).filter(wrong).count();
        // 0.4 are expected at 1 in 10,000.
        assert!(alarms <= 3, "{alarms} of 4,000 with {n} requests");
    }
}

#[test]
fn burstier_arrivals_vary_more() {
    let mut random = Random(11);
    let mut alarms = [0, 0];
    for _ in 0..2_000 {
        // Gamma gaps of shape 0.25, by the sum of squares of normals: as vLLM's burstiness of 0.25.
        let gap = |random: &mut Random| 2.0 * (0.5 * random.normal().powi(2)).powi(2) / 1.5;
        let mut made = arrived(&mut random, 200, 4.0, gap);
        alarms[0] += codes(&of("vllm", vec![made.clone()]), Error).len();
        let figures = [("burstiness".to_owned(), 0.1)].into();
        made.reported = Some(Reported { file: None, line: None, figures });
        alarms[1] += codes(&of("vllm", vec![made]), Error).len();
    }
    assert!(alarms[0] > 50 && alarms[1] <= 10, "{alarms:?}");
}

#[test]
fn a_rate_of_another_row_is_found() {
    let mut made = level(LoadKind::Rate, 4.0);
    made.requests.completed = Some(100);
    made.throughput.requests_per_s = Some(6.4);
    assert_eq!(codes(&of("vllm", vec![made.clone()]), Error), ["above_offered"]);
    // Of ten requests it says nothing.
    made.requests.completed = Some(10);
    assert_clean(&of("vllm", vec![made.clone()]));
    // Of an unknown number it is worth a look.
    made.requests.completed = None;
    assert_eq!(codes(&of("guidellm", vec![made.clone()]), Warning), ["above_offered"]);
    made.throughput.requests_per_s = Some(4.6);
    assert_clean(&of("guidellm", vec![made]));
}

/// Full slots, printed with two decimals, at any rate and latency.
#[test]
fn full_slots_are_not_too_many() {
    let mut random = Random(12);
    for _ in 0..2_000 {
        let slots = (1.0 + 200.0 * random.unit()).floor();
        let latency_s = 10_f64.powf(3.0 * random.unit() - 1.0);
        let mut made = level(LoadKind::Concurrency, slots);
        made.throughput.requests_per_s = printed(slots / latency_s, 2).filter(|rate| *rate > 0.0);
        made.times[Time::Latency] = Some(mean_of(printed(latency_s, 2).unwrap().max(0.01) * 1e3));
        assert_clean(&of("vllm", vec![made]));
    }
}

#[test]
fn more_in_flight_than_slots_is_an_error() {
    let mut made = consistent();
    made.load.value = Some(3.6);
    assert_eq!(codes(&of("vllm", vec![made.clone()]), Error), ["littles_law"]);
    // So it is by TTFT and TPOT alone, which leave more room.
    let mut unstated = made.clone();
    unstated.times[Time::Latency] = None;
    let tpot = Distribution { std: Some(1.2), ..mean_of(18.0) };
    unstated.times[Time::Tpot] = Some(tpot);
    assert_clean(&of("vllm", vec![unstated.clone()]));
    unstated.load.value = Some(3.0);
    assert_eq!(codes(&of("vllm", vec![unstated]), Error), ["littles_law"]);
    // A slot of AIPerf may be a conversation with several requests at once.
    assert_eq!(codes(&of("aiperf", vec![made]), Error), [""; 0]);
}

#[test]
fn idle_slots_are_a_warning_and_only_beyond_ramp_up_and_drain() {
    let mut made = consistent();
    made.load.value = Some(8.0);
    made.requests.failed = Some(0);
    let tail = |max| Some(Distribution { max: Some(max), ..mean_of(1_924.3) });
    made.times[Time::Latency] = tail(30_000.0);
    assert_clean(&of("vllm", vec![made.clone()]));
    made.times[Time::Latency] = tail(5_000.0);
    let warned = found(&[&of("vllm", vec![made.clone()])], Warning);
    assert!(warned[0].cause.starts_with("a straggler"), "{warned:?}");
    made.requests.planned = Some(110);
    made.requests.failed = Some(10);
    let warned = found(&[&of("vllm", vec![made])], Warning);
    assert!(warned[0].cause.starts_with("failed requests occupied slots"), "{warned:?}");
}

#[test]
fn a_stated_mean_concurrency_is_rate_times_latency() {
    let mut made = consistent();
    made.load = level(LoadKind::Burst, 100.0).load;
    let stated = |mean| {
        Some(Reported {
            file: None,
            line: None,
            figures: [("concurrency".to_owned(), mean)].into(),
        })
    };
    made.reported = stated(PER_S * 1.924);
    assert_clean(&of("sglang", vec![made.clone()]));
    made.reported = stated(3.2);
    assert_eq!(codes(&of("sglang", vec![made]), Error), ["littles_law"]);
}

/// Two loads with the same true throughput; what is measured varies by chance.
fn same_throughput(random: &mut Random, n: u64) -> Vec<LevelSummary> {
    let mut one = |slots: f64| {
        let mut made = level(LoadKind::Concurrency, slots);
        let duration: f64 = (0..n).map(|_| random.exponential() / 10.0).sum();
        made.requests.completed = Some(n);
        made.duration_s = Some(duration);
        made.throughput.requests_per_s = Some(n as f64 / duration);
        made
    };
    vec![one(8.0), one(16.0)]
}

#[test]
fn throughput_that_only_varies_does_not_fall() {
    let mut random = Random(13);
    for n in [50, 500] {
        let fell =
            |_: &usize| !codes(&of("vllm", same_throughput(&mut random, n)), Warning).is_empty();
        let alarms = (0..5_000).filter(fell).count();
        assert!(alarms <= 25, "{alarms} of 5,000 with {n} requests");
    }
    let mut levels = same_throughput(&mut random, 1_000);
    let slower = levels[0].throughput.requests_per_s.map(|rate| rate * 0.7);
    levels[1].throughput.requests_per_s = slower;
    levels[1].duration_s = slower.map(|rate| 1_000.0 / rate);
    assert_eq!(codes(&of("vllm", levels.clone()), Warning), ["throughput_falls"]);
    // Requests with more texts take longer.
    for (level, inputs) in levels.iter_mut().zip([1.0, 8.0]) {
        level.inputs_per_request = Some(inputs);
    }
    assert_clean(&of("vllm", levels));
}

#[test]
fn a_round_time_out_needs_stated_failures() {
    let mut made = level(LoadKind::Burst, 100.0);
    made.times[Time::Latency] = Some(Distribution { max: Some(29_950.0), ..mean_of(9_000.0) });
    assert_clean(&of("vllm", vec![made.clone()]));
    made.requests.failed = Some(3);
    assert_eq!(codes(&of("vllm", vec![made.clone()]), Warning), ["round_timeout"]);
    made.times[Time::Latency] = Some(Distribution { max: Some(29_500.0), ..mean_of(9_000.0) });
    assert_clean(&of("vllm", vec![made]));
}

/// Single requests and a load, of prompts of random lengths; the TTFT of a load is `times` as long.
fn ttfts(random: &mut Random, n: u64, times: f64) -> Vec<LevelSummary> {
    let mut one = |slots: f64, times: f64| {
        let mut made = level(LoadKind::Concurrency, slots);
        let each = (0..n).map(|_| times * 200.0 * random.exponential());
        made.times[Time::Ttft] = Some(mean_of(each.sum::<f64>() / n as f64));
        made.requests.completed = Some(n);
        made
    };
    vec![one(1.0, 1.0), one(16.0, times)]
}

#[test]
fn ttft_of_a_few_random_prompts_may_differ() {
    let mut random = Random(14);
    for n in [20, 100, 500] {
        let below = |_: &usize| !codes(&of("vllm", ttfts(&mut random, n, 1.0)), Warning).is_empty();
        let alarms = (0..2_000).filter(below).count();
        assert!(alarms <= 10, "{alarms} of 2,000 with {n} requests");
    }
    let cached = of("vllm", ttfts(&mut random, 500, 0.3));
    assert_eq!(codes(&cached, Warning), ["ttft_below_synchronous"]);
}

#[test]
fn seconds_of_queueing_below_a_higher_rate_are_a_warning() {
    let rate = |rate: f64, ttft: f64| {
        let mut made = level(LoadKind::Rate, rate);
        made.times[Time::Ttft] = Some(mean_of(ttft));
        made
    };
    assert_clean(&of("guidellm", vec![rate(1.0, 1_900.0), rate(2.0, 700.0)]));
    let queued = of("guidellm", vec![rate(1.0, 9_000.0), rate(2.0, 700.0)]);
    assert_eq!(
        (codes(&queued, Warning), codes(&queued, Error).len()),
        (vec!["slow_at_low_rate".to_owned()], 0)
    );
}
