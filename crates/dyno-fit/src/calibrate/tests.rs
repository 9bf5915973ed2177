//! Engines that are known, measured in virtual time and fitted.

mod asked;
mod cached;
mod checked;
mod full;
mod lengths;
mod one_token;

use super::start::Start;
use super::*;
use crate::steps::{LevelRecords, level_steps};
use crate::trial::{SentRequest, Shared, TrialKind, TrialTime, rerun};
use dyno_engine::core::{Core, Cost, Front, Policy, Scheduler};
use dyno_model::outcome::Outcome;
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::{MS, Nanos};
use dyno_stats::rng::SplitMix;

const INPUT: u32 = 200;
const OUTPUT: u32 = 16;

fn scheduler() -> Scheduler {
    Scheduler {
        policy: Policy::PrefillFirst,
        max_seqs: 512,
        token_budget: 2048,
        block: 16,
        kv_blocks: 1 << 20,
        prefix_cache: true,
        context: None,
        steps_ahead: 0,
    }
}

fn cost() -> Cost {
    Cost {
        base: 8e-3,
        decode: 100e-6,
        prefill_token: 60e-6,
        front_end: 2e-3,
        front: Front { request: 0.2e-3, chunk: 10e-6, ..Front::default() },
        noise: 0.02,
        ..Cost::default()
    }
}

fn sent(when: TrialTime, measured: bool) -> SentRequest {
    let shared = Shared::Nothing;
    SentRequest { when, input: INPUT, output: OUTPUT, shared, measured, seen: Vec::new() }
}

/// What is measured of a closed loop.
fn closed(slots: usize) -> Trial {
    let requests = (0..(5 * slots).max(10)).map(|place| match place.checked_sub(slots) {
        None => sent(TrialTime::At(place as Nanos * MS), slots == 1),
        Some(request) => sent(TrialTime::After { request, pause: 20_000 }, true),
    });
    measured(Trial {
        label: format!("concurrency {slots}"),
        kind: TrialKind::Closed,
        requests: requests.collect(),
        until: None,
    })
}

/// What is measured of Poisson arrivals.
fn open(rate: f64) -> Trial {
    let mut draws = SplitMix::new(rate as u64);
    let mut at = 0.0;
    let requests = (0..60).map(|_| {
        at -= draws.unit().ln() / rate;
        sent(TrialTime::At((1e9 * at) as Nanos), true)
    });
    let requests = requests.collect();
    measured(Trial { label: format!("rate {rate}"), kind: TrialKind::Open, requests, until: None })
}

fn measured(load: Trial) -> Trial {
    rerun(&load, Core::new(scheduler(), cost(), 7).unwrap()).unwrap()
}

/// The steps that the records of a trial show.
fn steps_of(trial: &Trial) -> LevelSteps {
    let mut ends: Vec<Nanos> = Vec::new();
    let mut records: Vec<RequestRecord> = Vec::new();
    for (index, request) in trial.requests.iter().enumerate() {
        let at = match request.when {
            TrialTime::At(at) => at,
            TrialTime::After { request, pause } => ends[request] + pause,
        };
        let mut record = RequestRecord::new(0, index as u64, 0, Phase::Measured, at);
        let usage = |tokens| TokenCount { tokens: u64::from(tokens), source: TokenSource::Usage };
        (record.outcome, record.sent) = (Outcome::Completed, Some(at));
        (record.input, record.output) = (Some(usage(request.input)), Some(usage(request.output)));
        record.chunk_tokens_known = true;
        for chunk in &request.seen {
            record.chunks.push(at + chunk.after, false, chunk.tokens);
            record.first.get_or_insert(at + chunk.after);
        }
        record.end = at + request.seen.last().unwrap().after;
        record.last = Some(record.end);
        ends.push(record.end);
        records.push(record);
    }
    level_steps(LevelRecords { requests: &records, samples: &[], shared: false }).unwrap()
}

fn fitted(trials: &[Trial], known: &FitSettings) -> Calibrated {
    let options = CalibrateOptions { threads: 2, progress: Arc::default(), without: Vec::new() };
    calibrate(trials, &[], known, &options).unwrap()
}

#[test]
fn a_known_engine_is_found_again() {
    let trials = [closed(1), closed(4), closed(16), open(15.0), open(35.0)];
    let known = FitSettings { token_budget: Some(2048), ..FitSettings::default() };
    let found = fitted(&trials, &known);
    assert!(found.residual() < 0.03, "{}", found.residual());
    assert_eq!(found.model.scheduler.policy, Policy::PrefillFirst);
    assert_eq!(found.model.scheduler.token_budget, 2048);
    let near = |name: &str, truth: f64, share: f64| {
        let value = found.coefficients().into_iter().find(|of| of.0 == name).unwrap().1;
        assert!((value / truth - 1.0).abs() < share, "{name} is {value}, not {truth}");
        let [low, high] = found.intervals[name];
        assert!((low..=high).contains(&truth), "{name}: {truth} is not in {low} to {high}");
    };
    near("base_ms", 8.0, 0.06);
    near("prefill_token_us", 60.0, 0.15);

    // A load that was not measured.
    let other = open(25.0);
    let predicted = evidence::simulated(&other, &found.model).unwrap();
    let truth = Figures::of(&other).unwrap();
    for quantity in [Quantity::Rate, Quantity::LatencyP50, Quantity::LatencyP90] {
        let error = miss(&truth, &predicted, quantity);
        assert!(error.abs() < 0.05, "{quantity:?} is off by {error}");
    }

    // All prompts have one length, and far fewer are in flight than it can run.
    for open in [Unknown::Attention, Unknown::Context, Unknown::MaxSeqs, Unknown::KvCache] {
        assert!(found.unknown.contains(&open), "{open:?} is not in {:?}", found.unknown);
    }
    let both =
        [Unknown::Kind(TrialKind::Open), Unknown::Kind(TrialKind::Closed), Unknown::TokenBudget];
    for shown in both {
        assert!(!found.unknown.contains(&shown), "{shown:?} was measured or told");
    }
    // Rates of one length were measured; others would be of several.
    let again = |run: &NextRun| {
        run.flags.starts_with("--rate") && run.flags.contains(&format!("--input-tokens {INPUT} "))
    };
    assert!(!found.next_runs.iter().any(again), "{:?}", found.next_runs);
    // Each level and each kind of load was left out once.
    assert_eq!((found.left_out.levels.len(), found.left_out.kinds.len()), (5, 5));
}

#[test]
fn nothing_can_be_fitted_to_nothing() {
    let options = CalibrateOptions { threads: 1, progress: Arc::default(), without: Vec::new() };
    assert!(calibrate(&[], &[], &FitSettings::default(), &options).is_none());
}

#[test]
fn the_next_run_shows_what_is_unknown_and_only_that() {
    let evidence = Evidence::new(&[closed(1), closed(16)], &[]);
    let flags = |open: &[Unknown]| -> Vec<String> {
        next::runs(open, &evidence, &FitSettings::default())
            .into_iter()
            .map(|run| run.flags)
            .collect()
    };
    assert!(flags(&[]).is_empty());
    // No run of requests shows how large the KV cache is.
    assert!(flags(&[Unknown::KvCache]).is_empty());
    let rates = flags(&[Unknown::Kind(TrialKind::Open)]);
    assert_eq!(rates.len(), 1);
    assert!(
        rates[0].starts_with("--rate ") && rates[0].contains("--input-tokens 200"),
        "{rates:?}"
    );
    assert!(flags(&[Unknown::Attention])[0].contains("--input-tokens 1600"));
    assert!(flags(&[Unknown::MaxSeqs])[0].starts_with("--concurrency 32 "));
    let launches = [Unknown::Coefficient("launch.large_ms")];
    assert!(flags(&launches)[0].starts_with("--rate "));
    // With open loops of one length it has been tried.
    let evidence = Evidence::new(&[closed(1), open(20.0)], &[]);
    let shown = next::runs(&launches, &evidence, &FitSettings::default());
    assert!(shown.iter().all(|run| run.flags.contains("--input-tokens 25-400")), "{shown:?}");
}
