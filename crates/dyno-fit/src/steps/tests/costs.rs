//! Coefficients of simulated engines are within their intervals, and what is not identifiable is named.

use super::recovered;
use crate::steps::simulated::{Load, Setup};
use crate::steps::{KnownCosts, LevelSteps, ServedStep, StepCosts, Term, step_costs};
use dyno_engine::core::{Cost, Policy};
use dyno_stats::rng::SplitMix;

fn costs(setups: &[Setup]) -> StepCosts {
    let levels: Vec<LevelSteps> =
        setups.iter().map(|setup| recovered(&setup.run()).unwrap()).collect();
    step_costs(&levels.iter().collect::<Vec<_>>()).unwrap()
}

fn truth(cost: &Cost) -> [(Term, f64); 6] {
    [
        (Term::Base, cost.base),
        (Term::Sequence, cost.decode),
        (Term::Context, cost.kv),
        (Term::PrefillToken, cost.prefill_token),
        (Term::PrefillStep, cost.prefill_base),
        (Term::Attention, cost.attention),
    ]
}

/// Loads of several kinds with mixed lengths.
fn ladder(cost: Cost, policy: Policy, seed: u64) -> Vec<Setup> {
    let loads = [
        (Load::Closed(2), 40),
        (Load::Closed(8), 120),
        (Load::Closed(24), 240),
        (Load::Poisson(6.0), 150),
    ];
    let setup = |(index, (load, requests)): (usize, (Load, usize))| {
        let mut setup = Setup::new(load, requests);
        setup.scheduler.policy = policy;
        setup.seed = 100 * seed + index as u64;
        Setup { cost, prompt: [16, 3000], output: [16, 200], ..setup }
    };
    loads.into_iter().enumerate().map(setup).collect()
}

#[test]
fn coefficients_are_within_their_intervals() {
    let (mut known, mut within) = (0, 0);
    println!("{:13} {:>12} {:>12} {:>12} {:>12}  known", "", "truth µs", "found µs", "from", "to");
    for seed in 1..=8 {
        let uneven = seed as f64 / 4.0;
        let cost = Cost {
            base: 4e-3 * uneven.sqrt(),
            prefill_token: 20e-6 / uneven.sqrt(),
            decode: 40e-6 * uneven,
            kv: 40e-9 / uneven,
            prefill_base: 4e-3,
            attention: 2e-9 * uneven,
            noise: 0.03,
            ..Cost::default()
        };
        let policy = if seed % 2 == 0 { Policy::Chunked } else { Policy::PrefillFirst };
        let found = costs(&ladder(cost, policy, seed));
        println!("{policy:?}, {} windows, residual {:.4}", found.windows, found.residual);
        for (term, truth) in truth(&cost) {
            let coefficient = found.of(term);
            let [low, high] = coefficient.interval().unwrap();
            println!(
                "{:13} {:12.5} {:12.5} {:12.5} {:12.5}  {:?}",
                format!("{term:?}"),
                1e6 * truth,
                1e6 * coefficient.value,
                1e6 * low,
                1e6 * high,
                coefficient.known
            );
            known += 1;
            within += usize::from((low..=high).contains(&truth));
            if coefficient.known == KnownCosts::Yes && term != Term::PrefillStep {
                assert!((coefficient.value / truth - 1.0).abs() < 0.25, "{term:?} {coefficient:?}");
            }
        }
        for term in [Term::Base, Term::PrefillToken] {
            assert_eq!(found.of(term).known, KnownCosts::Yes);
        }
    }
    println!("{within} of {known} within their intervals");
    assert!(10 * within >= 9 * known, "{within} of {known}");
}

#[test]
fn what_prompts_of_one_length_cannot_tell_is_named() {
    let setups = [4, 16].map(|slots| Setup::new(Load::Closed(slots), 10 * slots));
    let found = costs(&setups);
    assert_eq!(found.of(Term::Attention).known, KnownCosts::Like(Term::PrefillToken));
    assert_eq!(found.of(Term::Attention).error, None);
    assert_eq!(found.of(Term::Base).known, KnownCosts::Yes);
}

#[test]
fn a_part_that_takes_no_time_may_be_zero() {
    let cost = Cost { prefill_base: 0.0, kv: 0.0, ..crate::steps::simulated::cost() };
    let found = costs(&ladder(cost, Policy::Chunked, 3));
    assert_ne!(found.of(Term::Context).known, KnownCosts::Yes, "{found:?}");
    assert_ne!(found.of(Term::PrefillStep).known, KnownCosts::Yes, "{found:?}");
    assert_eq!(found.of(Term::Sequence).known, KnownCosts::Yes, "{found:?}");
}

/// Steps by a law: 4 ms and 20 µs for each prompt token, but 20 ms at least beyond 256 tokens. Every twelfth step prefills; the output of the one before waits for 15 ms of its launch.
fn bound_by_launches() -> LevelSteps {
    let level = recovered(&Setup::new(Load::Closed(1), 8).run()).unwrap();
    let mut draws = SplitMix::new(5);
    let mut end = 0.0;
    let mut steps: Vec<ServedStep> = Vec::new();
    for number in 0..12_000 {
        let prefills = number % 12 == 6;
        let prefill_tokens = if prefills { 1 + draws.below(1_200) as u64 } else { 0 };
        let work = 4_000.0 + 20.0 * prefill_tokens as f64;
        let time = if prefill_tokens > 255 { work.max(20_000.0) } else { work };
        end += time * (0.95 + 0.1 * draws.unit());
        if prefills && let Some(before) = steps.last_mut() {
            before.end_us += 15_000.0;
        }
        steps.push(ServedStep {
            end_us: end,
            decodes: 1,
            context: 1,
            first_tokens: u32::from(prefills),
            prefill_tokens,
            pairs: 0.0,
            ..level.steps[1]
        });
    }
    let ends: Vec<f64> = steps.iter().map(|step| step.end_us).collect();
    for (step, before) in steps[1..].iter_mut().zip(ends) {
        step.time_us = Some(step.end_us - before);
    }
    let ahead = crate::steps::ahead::ahead(&steps);
    LevelSteps { steps, ahead, ..level }
}

#[test]
fn steps_that_wait_for_their_launch_are_told_from_those_that_prefill_longer() {
    let level = bound_by_launches();
    let found = step_costs(&[&level]).unwrap();
    let launch = found.of(Term::Launch);
    let token = found.of(Term::PrefillToken);
    assert!((launch.value / 20e-3 - 1.0).abs() < 0.02, "{launch:?}");
    assert!((token.value / 20e-6 - 1.0).abs() < 0.02, "{token:?}");
    assert_eq!((launch.known, token.known), (KnownCosts::Yes, KnownCosts::Yes));
    let bound = found.launch.unwrap();
    assert_eq!(bound.above, 256);
    assert!(found.residual < 0.8 * bound.without, "{} {bound:?}", found.residual);
    let in_time = LevelSteps { ahead: None, ..level };
    let found = step_costs(&[&in_time]).unwrap();
    assert_eq!((found.of(Term::Launch).known, found.launch), (KnownCosts::Absent, None));
}

#[test]
fn too_few_steps_give_no_costs() {
    let level = recovered(&Setup::new(Load::Closed(1), 8).run()).unwrap();
    assert!(step_costs(&[]).is_none());
    let short = LevelSteps { steps: level.steps[..100].to_vec(), ..level.clone() };
    assert!(step_costs(&[&short]).is_none());
    assert!(step_costs(&[&level]).is_some());
}
