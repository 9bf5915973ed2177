//! Prompts of many lengths: they show what attention costs, and that launches take no time.

use super::*;
use crate::parameters::Parameter;
use dyno_engine::core::Launch;

/// As on a processor, with a narrow model: attention costs a thousandth of a token for each token before, ten times what it
/// does in wide models, and nothing is launched.
fn narrow() -> Cost {
    Cost {
        base: 3e-3,
        decode: 200e-6,
        prefill_token: 140e-6,
        attention: 140e-9,
        front_end: 2e-3,
        front: Front { request: 0.2e-3, chunk: 20e-6, ..Front::default() },
        noise: 0.02,
        ..Cost::default()
    }
}

/// Requests of these lengths, so many in flight.
fn of_lengths(slots: usize, lengths: &dyn Fn(usize) -> u32) -> Trial {
    let requests = (0..80_usize).map(|place| {
        let when = match place.checked_sub(slots) {
            None => TrialTime::At(place as Nanos * 7 * MS),
            Some(request) => TrialTime::After { request, pause: 20_000 },
        };
        let output = 12 + (place % 9) as u32;
        SentRequest { input: lengths(place), output, ..sent(when, place >= slots || slots == 1) }
    });
    let label = format!("concurrency {slots}");
    let load = Trial { label, kind: TrialKind::Closed, requests: requests.collect(), until: None };
    let scheduler = Scheduler { policy: Policy::Chunked, ..scheduler() };
    rerun(&load, Core::new(scheduler, narrow(), 7).unwrap()).unwrap()
}

/// From 32 to 768.
fn mixed(place: usize) -> u32 {
    32 + (place as u32 * 277) % 737
}

#[test]
fn steps_with_a_prompt_tell_how_long_a_launch_is_at_most() {
    let trials = [of_lengths(1, &|_| 256), of_lengths(3, &mixed)];
    let of = |trials: &[Trial]| {
        let steps: Vec<_> = trials.iter().map(|trial| Some(steps_of(trial))).collect();
        Start::of(trials, &steps)
    };
    let all = of(&trials);
    let launch = |ms: f64| Launch {
        prefill: 1e-3 * ms,
        captured: 256,
        large: 1e-3 * ms,
        ..Launch::default()
    };
    // A prompt of 100 tokens takes 18 ms, one of 256 some 45.
    let [small, large] = all.too_long(&launch(30.0)).map(Option::unwrap);
    assert!(small > 0.2 && large < -0.3, "{small} {large}");
    assert!(all.too_long(&launch(8.0))[0].unwrap() < 0.0);
    // What each sequence adds is part of it.
    let each = Launch { sequence: 10e-3, ..launch(8.0) };
    assert!(all.too_long(&each)[0].unwrap() > 0.5);
    // One request at a time has no step before its first token.
    assert_eq!(of(&trials[..1]).too_long(&launch(30.0)), [None, None]);
}

#[test]
fn a_launch_that_is_longer_than_steps_with_a_prompt_counts_against_a_fit() {
    let trials = [of_lengths(3, &mixed)];
    let evidence = Evidence::new(&trials, &[Some(steps_of(&trials[0]))]);
    let (start, known) = (evidence.start(), FitSettings::default());
    let options = CalibrateOptions { threads: 1, progress: Arc::default(), without: Vec::new() };
    let search = CostSearch {
        evidence: &evidence,
        start: &start,
        known: &known,
        options: &options,
        typical: TYPICAL,
    };
    let choice = choice::Choice { captured: 512, ..choice::Choice::usual(&known, &start) };
    let stay = descent::Descent { rounds: 0, steps: 0, ..search::NEAR };
    let found = search.fit(choice, None, stay);
    let axis = found.parameters.iter().position(|of| *of == Parameter::LaunchPrefill).unwrap();
    // By what is likely, without any level.
    let unlikely = |ms: f64| {
        let mut at = found.point.at.clone();
        at[axis] = ms / found.scales[axis];
        search.rows(&found, &at, &[]).iter().map(|row| row * row).sum::<f64>()
    };
    assert!((unlikely(10.0) - unlikely(5.0)).abs() < 1e-9);
    assert!(unlikely(45.0) > unlikely(10.0) + 50.0 * TYPICAL * TYPICAL);
}

#[test]
fn attention_of_a_narrow_model_is_found_and_no_launch_is_made_up() {
    let trials = [of_lengths(1, &|_| 256), of_lengths(6, &|_| 256), of_lengths(3, &mixed)];
    let steps: Vec<_> = trials.iter().map(|trial| Some(steps_of(trial))).collect();
    let options = CalibrateOptions { threads: 2, progress: Arc::default(), without: Vec::new() };
    let known = FitSettings { token_budget: Some(2048), ..FitSettings::default() };
    let found = calibrate(&trials, &steps, &known, &options).unwrap();
    for (length, share) in [(32, 0.15), (1_500, 0.1)] {
        let other = of_lengths(1, &|_| length);
        let predicted = evidence::simulated(&other, &found.model).unwrap();
        let error = miss(&Figures::of(&other).unwrap(), &predicted, Quantity::TtftMean);
        assert!(
            error.abs() < share,
            "TTFT of {length} tokens is off by {error}: {:?}",
            found.model
        );
    }
}
