//! Coefficients of simulated engines are within their intervals, and what cannot be told is named.

use super::recovered;
use crate::records::simulated::{Load, Setup};
use crate::records::{Known, LevelSteps, StepCosts, Term, step_costs};
use dyno_engine::core::{Cost, Policy};

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
            if coefficient.known == Known::Yes && term != Term::PrefillStep {
                assert!((coefficient.value / truth - 1.0).abs() < 0.25, "{term:?} {coefficient:?}");
            }
        }
        for term in [Term::Base, Term::PrefillToken] {
            assert_eq!(found.of(term).known, Known::Yes);
        }
    }
    println!("{within} of {known} within their intervals");
    assert!(10 * within >= 9 * known, "{within} of {known}");
}

#[test]
fn what_prompts_of_one_length_cannot_tell_is_named() {
    let setups = [4, 16].map(|slots| Setup::new(Load::Closed(slots), 10 * slots));
    let found = costs(&setups);
    assert_eq!(found.of(Term::Attention).known, Known::Like(Term::PrefillToken));
    assert_eq!(found.of(Term::Attention).error, None);
    assert_eq!(found.of(Term::Base).known, Known::Yes);
}

#[test]
fn a_part_that_takes_no_time_may_be_zero() {
    let cost = Cost { prefill_base: 0.0, kv: 0.0, ..crate::records::simulated::cost() };
    let found = costs(&ladder(cost, Policy::Chunked, 3));
    assert_ne!(found.of(Term::Context).known, Known::Yes, "{found:?}");
    assert_ne!(found.of(Term::PrefillStep).known, Known::Yes, "{found:?}");
    assert_eq!(found.of(Term::Sequence).known, Known::Yes, "{found:?}");
}

#[test]
fn too_few_steps_give_no_costs() {
    let level = recovered(&Setup::new(Load::Closed(1), 8).run()).unwrap();
    assert!(step_costs(&[]).is_none());
    let short = LevelSteps { steps: level.steps[..100].to_vec(), ..level.clone() };
    assert!(step_costs(&[&short]).is_none());
    assert!(step_costs(&[&level]).is_some());
}
