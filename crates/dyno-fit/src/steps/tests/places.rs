//! Requests are placed in the steps that served them, and steps are counted as the engine does.

use super::recovered;
use crate::steps::simulated::{Load, Run, Setup};
use crate::steps::{LevelSteps, Placed, PrefillSteps, ServedStep};
use dyno_engine::core::{Policy, Step};
use std::collections::BTreeMap;

/// The true steps that gave tokens, by their ends in microseconds.
fn truth(run: &Run) -> BTreeMap<u64, Step> {
    let firsts: Vec<u64> = run.firsts.iter().map(|at| at / 1_000).collect();
    let gave = |step: &&Step| step.decodes > 0 || firsts.contains(&(step.end / 1_000));
    run.steps.iter().filter(gave).map(|step| (step.end / 1_000, *step)).collect()
}

/// The step that had ended last when the first arrival of this one came.
fn true_step<'a>(truth: &'a BTreeMap<u64, Step>, step: &ServedStep) -> Option<&'a Step> {
    truth.range(..=step.end_us as u64).next_back().map(|(_, step)| step)
}

struct Score {
    requests: usize,
    wrong: usize,
    steps: usize,
    /// Steps whose sequences or context are not those of the engine.
    miscounted: usize,
}

fn score(run: &Run, found: &LevelSteps) -> Score {
    let truth = truth(run);
    let right = |placed: &&Placed| {
        let step = true_step(&truth, &found.steps[placed.step]);
        step.is_some_and(|step| step.end == run.firsts[placed.record])
    };
    let same = |step: &&ServedStep| {
        true_step(&truth, step)
            .is_some_and(|of| (of.decodes, of.kv_tokens) == (step.decodes, step.context))
    };
    Score {
        requests: found.placed.len(),
        wrong: found.placed.len() - found.placed.iter().filter(right).count(),
        steps: truth.len(),
        miscounted: found.steps.len().abs_diff(truth.len())
            + found.steps.iter().filter(|step| !same(step)).count(),
    }
}

#[test]
fn at_least_999_of_1000_requests_are_placed_in_the_step_that_served_them() {
    let mixed = |load, requests| Setup {
        prompt: [16, 2000],
        output: [2, 256],
        ..Setup::new(load, requests)
    };
    let ahead = |load, requests| Setup { ahead: true, ..mixed(load, requests) };
    let separate = |setup: Setup| {
        let mut setup = setup;
        setup.scheduler.policy = Policy::PrefillFirst;
        setup
    };
    // Nothing but lateness tells steps apart that take the same time, and it drifts at the end.
    let mut regular = Setup { output: [100, 160], ..Setup::new(Load::Closed(64), 600) };
    regular.cost.noise = 0.0;
    let setups = [
        ("1 in flight", Setup::new(Load::Closed(1), 20), PrefillSteps::Unknown),
        ("4 in flight", Setup::new(Load::Closed(4), 80), PrefillSteps::Mixed),
        ("16 in flight", Setup::new(Load::Closed(16), 300), PrefillSteps::Mixed),
        ("48 in flight", Setup::new(Load::Closed(48), 600), PrefillSteps::Mixed),
        ("56 in flight", Setup::new(Load::Closed(56), 600), PrefillSteps::Mixed),
        ("10 req/s", Setup::new(Load::Poisson(10.0), 300), PrefillSteps::Mixed),
        ("35 req/s", Setup::new(Load::Poisson(35.0), 600), PrefillSteps::Mixed),
        ("mixed, 4 in flight", mixed(Load::Closed(4), 100), PrefillSteps::Mixed),
        ("mixed, 32 in flight", mixed(Load::Closed(32), 600), PrefillSteps::Mixed),
        ("regular, 64 in flight", regular, PrefillSteps::Mixed),
        ("mixed, 10 req/s", mixed(Load::Poisson(10.0), 300), PrefillSteps::Mixed),
        ("planned ahead, 16 in flight", ahead(Load::Closed(16), 300), PrefillSteps::Mixed),
        ("planned ahead, 10 req/s", ahead(Load::Poisson(10.0), 300), PrefillSteps::Mixed),
        (
            "prefill first, 2 in flight",
            separate(mixed(Load::Closed(2), 100)),
            PrefillSteps::Separate,
        ),
        (
            "prefill first, 8 in flight",
            separate(mixed(Load::Closed(8), 200)),
            PrefillSteps::Separate,
        ),
        (
            "prefill first, 10 req/s",
            separate(mixed(Load::Poisson(10.0), 300)),
            PrefillSteps::Separate,
        ),
    ];
    let (mut requests, mut wrong) = (0, 0);
    println!("{:27} {:>9} {:>6} {:>7} {:>11}", "", "requests", "wrong", "steps", "miscounted");
    for (name, setup, prefills) in setups {
        let run = setup.run();
        let found = recovered(&run).unwrap();
        let score = score(&run, &found);
        println!(
            "{name:27} {:9} {:6} {:7} {:11}",
            score.requests, score.wrong, score.steps, score.miscounted
        );
        assert_eq!(score.requests, run.records.len(), "{name}");
        assert_eq!(found.prefills, prefills, "{name}");
        assert!(1000 * score.miscounted <= score.steps, "{name}");
        requests += score.requests;
        wrong += score.wrong;
    }
    assert!(1000 * wrong <= requests, "{wrong} of {requests}");
}

#[test]
fn prompts_are_counted_without_what_was_cached() {
    let mut run = Setup::new(Load::Closed(4), 40).run();
    let whole: u64 = recovered(&run).unwrap().steps.iter().map(|step| step.prefill_tokens).sum();
    run.records.iter_mut().for_each(|record| record.cached = Some(500));
    let rest: u64 = recovered(&run).unwrap().steps.iter().map(|step| step.prefill_tokens).sum();
    let truth: u64 = run.steps.iter().map(|step| step.prefill_tokens).sum();
    assert_eq!((whole, rest), (truth, 40 * 12));
}

#[test]
fn a_step_has_no_time_where_the_engine_may_have_been_idle() {
    let run = Setup::new(Load::Closed(1), 20).run();
    let steps = recovered(&run).unwrap().steps;
    let unknown = steps.iter().filter(|step| step.time_us.is_none());
    assert!(unknown.clone().all(|step| step.first_tokens == 1 && step.decodes == 0));
    assert_eq!(unknown.count(), 20);
}
