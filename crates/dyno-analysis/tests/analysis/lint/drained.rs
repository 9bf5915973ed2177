//! How long a level takes: draining in a closed loop, arrivals in an open one, and latencies in another unit.

use super::made::{Random, assert_clean, codes, consistent, found, level, of};
use dyno_model::LevelSummary;
use dyno_model::Severity::{Error, Warning};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Tokens};

/// What a file states of latencies in milliseconds, without the slowest.
fn stated(mut latencies: Vec<f64>) -> Distribution {
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (latencies.len() - 1) as f64;
        let (low, part) = (place as usize, place.fract());
        let high = latencies[(low + 1).min(latencies.len() - 1)];
        Some(latencies[low] * (1.0 - part) + high * part)
    };
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    Distribution { mean: Some(mean), p50: at(0.5), p99: at(0.99), ..Distribution::default() }
}

fn of_latencies(made: &mut LevelSummary, latencies: Vec<f64>, duration_s: f64) {
    let n = latencies.len() as u64;
    made.requests.planned = Some(n);
    (made.requests.completed, made.requests.failed) = (Some(n), Some(0));
    made.duration_s = Some(duration_s);
    made.throughput.requests_per_s = Some(n as f64 / duration_s);
    made.times[Time::Latency] = Some(stated(latencies));
}

/// Latencies whose logarithms have this deviation: lengths of responses vary like that.
fn lognormal(random: &mut Random, n: usize, deviation: f64) -> Vec<f64> {
    (0..n).map(|_| 2_000.0 * (deviation * random.normal()).exp()).collect()
}

/// A closed loop: each of the slots takes the next request when it is free.
fn closed(random: &mut Random, n: usize, slots: usize, deviation: f64) -> LevelSummary {
    let latencies = lognormal(random, n, deviation);
    let mut free = vec![0.0_f64; slots];
    for latency in &latencies {
        let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        *first += latency / 1e3;
    }
    let duration = free.iter().copied().fold(0.0, f64::max);
    let mut made = level(LoadKind::Concurrency, slots as f64);
    of_latencies(&mut made, latencies, duration);
    made
}

#[test]
fn draining_is_no_finding_where_only_p99_is_stated() {
    let mut random = Random(13);
    let mut found = 0;
    for i in 0..1_200 {
        let (n, slots) = [(100, 32), (200, 32), (64, 8), (1_000, 64)][i % 4];
        let made = closed(&mut random, n, slots, [0.3, 0.7, 1.0][i % 3]);
        found += codes(&of("vllm", vec![made]), Warning).len();
    }
    assert!(found <= 4, "{found} of 1200");
}

#[test]
fn slots_that_were_never_filled_are_found_by_p99() {
    let mut random = Random(14);
    for _ in 0..50 {
        let mut made = closed(&mut random, 1_000, 16, 0.3);
        made.load.value = Some(32.0);
        assert_eq!(codes(&of("vllm", vec![made]), Warning), ["littles_law"]);
    }
}

#[test]
fn latencies_in_another_unit_are_named() {
    let scaled = |factor: f64| {
        let mut made = closed(&mut Random(15), 1_000, 16, 0.3);
        let times = made.times[Time::Latency].take().unwrap();
        let scaled = |value: Option<f64>| value.map(|ms| ms * factor);
        made.times[Time::Latency] = Some(Distribution {
            mean: scaled(times.mean),
            p50: scaled(times.p50),
            p99: scaled(times.p99),
            ..Distribution::default()
        });
        of("vllm", vec![made])
    };
    assert_clean(&scaled(1.0));
    let short = found(&[&scaled(1e-3)], Warning);
    assert!(short[0].cause.contains("in seconds, but labelled milliseconds"), "{short:?}");
    let long = found(&[&scaled(1e3)], Error);
    assert!(long[0].cause.contains("in another unit than labelled"), "{long:?}");
    // A factor that no unit explains has the usual causes.
    let other = found(&[&scaled(1e-2)], Warning);
    assert!(!other[0].cause.contains("labelled"), "{other:?}");
}

/// An open loop without limits: `n` Poisson arrivals, of which the last responses end it.
fn open(random: &mut Random, n: usize, rate: f64, deviation: f64) -> LevelSummary {
    let latencies = lognormal(random, n, deviation);
    let (mut sent, mut ended) = (0.0, 0.0_f64);
    for latency in &latencies {
        ended = ended.max(sent + latency / 1e3);
        sent += random.exponential() / rate;
    }
    let mut made = level(LoadKind::Rate, rate);
    of_latencies(&mut made, latencies, ended);
    made
}

#[test]
fn arrivals_and_the_slowest_response_explain_the_duration() {
    let mut random = Random(9);
    let mut found = 0;
    for i in 0..1_200 {
        let (n, rate) = ([20, 50, 200, 1_000][i % 4], [0.5, 2.0, 10.0][i % 3]);
        let made = open(&mut random, n, rate, [0.0, 0.3, 1.0][i / 4 % 3]);
        found += codes(&of("vllm", vec![made]), Warning).len();
    }
    assert!(found <= 2, "{found} of 1200");
}

#[test]
fn an_overstated_rate_is_found() {
    let mut random = Random(10);
    let mut overstated = open(&mut random, 200, 2.0, 0.3);
    overstated.load.value = Some(20.0);
    assert_eq!(codes(&of("vllm", vec![overstated.clone()]), Warning), ["below_offered"]);
    // Without a latency, TTFT, TPOT and the requested tokens bound it.
    let mut without = overstated.clone();
    let of_tokens = consistent().times;
    without.times[Time::Latency] = None;
    without.output_length = Some(101);
    without.output_tokens = Some(Tokens { total: None, mean: 101.0 });
    for time in [Time::Ttft, Time::Tpot] {
        let mean = of_tokens[time].as_ref().and_then(|time| time.mean);
        without.times[time] =
            Some(Distribution { mean, p50: mean, p99: mean, ..Distribution::default() });
    }
    assert_eq!(codes(&of("vllm", vec![without]), Warning), ["below_offered"]);
    // Failures, whose times are not known, may have taken as long; other tools may limit what is sent.
    let mut failed = overstated.clone();
    (failed.requests.completed, failed.requests.failed) = (Some(190), Some(10));
    failed.throughput.requests_per_s = failed.duration_s.map(|s| 190.0 / s);
    assert_clean(&of("vllm", vec![failed]));
    assert_clean(&of("guidellm", vec![overstated]));
}
