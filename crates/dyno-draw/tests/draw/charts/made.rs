//! Summaries made by hand, from one real level.

use dyno_model::load::LoadKind;
use dyno_model::metric::{PerTime, Time};
use dyno_model::summary::{Distribution, LoadSummary, Slice, Throughput};
use dyno_model::{LevelSummary, Summary};

/// A run without levels, and a level to make others from.
pub fn base() -> (Summary, LevelSummary) {
    let (plan, records) = dyno_testing::runs::closed(4, 30);
    let mut summary = dyno_testing::runs::summary_of(&plan, records);
    let level = summary.levels.remove(0);
    (summary, level)
}

pub fn distribution(base: &LevelSummary, mean: f64) -> Option<Distribution> {
    let mut all = base.times[Time::Latency].clone().unwrap();
    all.mean = Some(mean);
    all.p50 = Some(mean * 0.9);
    all.p90 = Some(mean * 1.5);
    all.p99 = Some(mean * 2.0);
    all.max = Some(mean * 3.0);
    all.ci95.mean = Some([mean * 0.95, mean * 1.05]);
    all.ci95.p50 = None;
    all.ci95.p90 = None;
    all.ci95.p99 = None;
    Some(all)
}

/// A level of this load: `requests` per second, of 50 tokens each, `latency` milliseconds long.
pub fn level(
    base: &LevelSummary,
    kind: LoadKind,
    value: f64,
    requests: f64,
    latency: f64,
) -> LevelSummary {
    let times = PerTime::new(|which| match which {
        Time::Ttft => distribution(base, latency / 10.0),
        Time::Latency => distribution(base, latency),
        Time::Tpot | Time::Itl => distribution(base, latency / 50.0),
        _ => base.times[which].clone(),
    });
    LevelSummary {
        label: format!("{kind} {value}"),
        load: LoadSummary { kind, value: Some(value) },
        duration_s: Some(1000.0 / requests),
        throughput: Throughput {
            requests_per_s: Some(requests),
            output_tokens_per_s: Some(requests * 50.0),
            total_tokens_per_s: Some(requests * 150.0),
            ..Throughput::default()
        },
        steady: None,
        times,
        ..base.clone()
    }
}

/// Numbers in flight, with a server that carries 24 requests per second.
pub fn ladder() -> Summary {
    let (mut summary, base) = base();
    let in_flight = [8.0, 16.0, 32.0, 64.0, 128.0, 150.0, 200.0, 256.0, 300.0, 400.0, 512.0, 720.0];
    let made = in_flight.map(|n| {
        let latency = f64::max(3000.0, n / 24.0 * 1e3);
        level(&base, LoadKind::Concurrency, n, n / latency * 1e3, latency)
    });
    summary.levels = made.to_vec();
    summary
}

/// Rates up to and past the same server.
pub fn rates() -> Summary {
    let (mut summary, base) = base();
    for rate in [4.0, 8.0, 12.0, 16.0, 20.0, 28.0] {
        let mut level = level(&base, LoadKind::Rate, rate, rate.min(24.0), 400.0 + rate * 10.0);
        level.offered_per_s = Some(rate);
        level.saturated = Some(rate > 24.0);
        summary.levels.push(level);
    }
    summary
}

/// Two lengths of input by three of output.
pub fn grid() -> Summary {
    let (mut summary, base) = base();
    for (i, input) in [128.0, 512.0].into_iter().enumerate() {
        for output in [32.0, 64.0, 256.0] {
            let requests = 400.0 / (output + input / 8.0);
            let mut level = level(&base, LoadKind::Concurrency, 16.0, requests, 16e3 / requests);
            level.label = format!("{input}→{output} @16");
            level.index = i as u32;
            summary.levels.push(level);
        }
    }
    summary
}

pub fn slice(i: u32, latency: Option<f64>) -> Slice {
    Slice {
        from_s: f64::from(i) * 30.0,
        to_s: f64::from(i + 1) * 30.0,
        offered_per_s: f64::from(i) * 2.0 + 1.0,
        completed_per_s: (f64::from(i) * 2.0 + 1.0).min(9.0),
        ttft_p50_ms: latency.map(|latency| latency / 10.0),
        ttft_p99_ms: latency.map(|latency| latency / 2.0),
        ttft_p99_marked: i == 1,
        latency_p50_ms: latency,
        failed: u64::from(i / 5),
        shed: 0,
        in_flight: u64::from(i * i),
    }
}
