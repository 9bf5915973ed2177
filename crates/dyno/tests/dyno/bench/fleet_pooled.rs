//! What is reported of several load generators is computed from all of their records, not from what each
//! would have reported.

use crate::bench::engines::Engine;
use crate::bench::place::Place;
use crate::bench::process::run;
use dyno_analysis::{DirSource, summarise};
use dyno_model::metric::Time;
use dyno_record::RunDir;

/// Linear interpolation between the two nearest samples.
fn quantile(mut samples: Vec<u64>, q: f64) -> f64 {
    samples.sort_unstable();
    let exact = (samples.len() - 1) as f64 * q;
    let low = exact.floor() as usize;
    let [low, high] = [low, (low + 1).min(samples.len() - 1)].map(|at| samples[at] as f64);
    (low + (high - low) * exact.fract()) / 1e6
}

/// Equal in all six digits that a summary has.
#[track_caller]
fn expect_equal(name: &str, reported: Option<f64>, pooled: f64) {
    let pooled: f64 = format!("{pooled:.5e}").parse().unwrap();
    assert_eq!(reported, Some(pooled), "{name}");
}

#[test]
fn percentiles_of_a_fleet_are_those_of_its_pooled_records() {
    let engine = Engine::start("ttft=20ms,itl=2ms,tokens=12", &[]);
    let place = Place::new();
    let args = "--agents 3 --concurrency 6 --requests 90 --output-tokens 12 --input-tokens 8";
    run(place.bench(&engine.url(), args)).expect_measured();
    let records = place.requests();
    assert_eq!(records.len(), 90);
    let dir = RunDir::open(place.run_dir()).unwrap();
    let plan = dir.read_plan().unwrap();
    let summary = summarise(&plan, None, &DirSource::open(&dir).unwrap());
    let level = &summary.levels[0];
    let ttft = |agent: Option<u32>| -> Vec<u64> {
        let of = records.iter().filter(|record| agent.is_none() || record.agent == agent);
        of.map(|record| record.first.unwrap() - record.sent.unwrap()).collect()
    };
    let latency: Vec<u64> =
        records.iter().map(|record| record.last.unwrap() - record.sent.unwrap()).collect();
    let reported = level.times[Time::Ttft].as_ref().unwrap();
    for (name, value, q) in
        [("p50", reported.p50, 0.5), ("p90", reported.p90, 0.9), ("p99", reported.p99, 0.99)]
    {
        expect_equal(name, value, quantile(ttft(None), q));
    }
    let reported = level.times[Time::Latency].as_ref().unwrap();
    expect_equal("latency p99", reported.p99, quantile(latency, 0.99));
    // Neither the mean nor the worst of what agents would have reported.
    let each: Vec<f64> = (0..3).map(|agent| quantile(ttft(Some(agent)), 0.9)).collect();
    assert!((0..3).all(|agent| ttft(Some(agent)).len() == 30), "each sent its third");
    let pooled = quantile(ttft(None), 0.9);
    assert!((each.iter().sum::<f64>() / 3.0 - pooled).abs() > 1e-9, "{each:?} {pooled}");
    for (agent, p90) in level.agents.iter().zip(&each) {
        assert_eq!((agent.sent, agent.completed), (30, 30), "{p90}");
    }
}
