//! Ramps: as many arrivals as the rate says, slice by slice, the same for a seed, and a level that
//! ends when the ramp does.
#![allow(clippy::unwrap_used)]

use crate::simulated::*;
use dyno_drive::ramp::RampArrivals;
use dyno_drive::{LevelOutcome, Lookahead, Payload, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::ramp::Ramp;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;

const SEEDS: u64 = 200;
const SLICES: u64 = 10;

fn ramp(from: f64, to: f64, steps: Option<u32>) -> Ramp {
    Ramp { from, to, over_ns: 60 * SEC, steps }
}

fn schedule(seed: u64, ramp: Ramp, arrival: Arrival) -> Vec<Nanos> {
    RampArrivals::new(seed, 0, ramp, arrival, 0).collect()
}

fn load(from: f64, to: f64, over: Nanos, arrival: Arrival) -> Load {
    Load::Ramp { from, to, over_ns: over, steps: None, arrival }
}

fn per_slice(offsets: &[Nanos], ramp: Ramp) -> Vec<f64> {
    let mut counts = vec![0.0; SLICES as usize];
    offsets.iter().for_each(|at| counts[(at * SLICES / ramp.over_ns) as usize] += 1.0);
    counts
}

/// The mean over 200 seeds has a standard error of √(expected / 200) at most, times the spread of
/// the gaps; four of them are allowed.
#[test]
fn every_slice_has_the_arrivals_that_its_rate_asks_for() {
    let arrivals =
        [(Arrival::Poisson, 1.0), (Arrival::Gamma { shape: 0.25 }, 2.0), (Arrival::Constant, 0.5)];
    for (from, to) in [(1.0, 50.0), (50.0, 1.0), (0.0, 20.0)] {
        for steps in [None, Some(5)] {
            let ramp = ramp(from, to, steps);
            for (arrival, spread) in arrivals {
                let mut sums = vec![0.0; SLICES as usize];
                for seed in 0..SEEDS {
                    let slices = per_slice(&schedule(seed, ramp, arrival), ramp);
                    sums.iter_mut().zip(slices).for_each(|(sum, n)| *sum += n);
                }
                for (i, sum) in (0..).zip(sums) {
                    let edge = |i: u64| ramp.over_ns * i / SLICES;
                    let expected = ramp.due_by(edge(i + 1)) - ramp.due_by(edge(i));
                    let mean: f64 = sum / SEEDS as f64;
                    let allowed = 4.0 * spread * (expected / SEEDS as f64).sqrt() + 1.0;
                    let off = (mean - expected).abs();
                    assert!(off <= allowed, "{ramp:?} {arrival:?} {i}: {mean}, not {expected}");
                }
            }
        }
    }
}

/// With time measured by what is due, a ramp is the plain process that it was made from.
#[test]
fn constant_spacing_puts_the_nth_arrival_where_n_are_due() {
    let ramp = ramp(1.0, 5.0, None);
    let offsets = schedule(3, ramp, Arrival::Constant);
    assert_eq!(offsets.len(), 180);
    for (n, at) in offsets.iter().enumerate() {
        assert!((ramp.due_by(*at) - n as f64).abs() < 1e-5, "{n} at {at}");
    }
}

#[test]
fn the_schedule_is_the_same_on_every_machine() {
    // Written down once: a change here breaks the promise that a seed means the same everywhere.
    let first = |arrival, steps| -> Vec<Nanos> {
        RampArrivals::new(42, 0, ramp(1.0, 50.0, steps), arrival, 0).take(3).collect()
    };
    assert_eq!(first(Arrival::Poisson, None), [1_345_118_703, 1_936_883_744, 1_964_051_682]);
    let gamma = first(Arrival::Gamma { shape: 0.5 }, None);
    assert_eq!(gamma, [34_123_594, 76_699_891, 1_448_889_896]);
    let stepped = first(Arrival::Poisson, Some(10));
    assert_eq!(stepped, [2_083_934_302, 3_468_753_853, 3_539_197_111]);
}

proptest! {
    #[test]
    fn arrivals_are_in_order_within_the_ramp_and_of_the_expected_number(
        seed: u64,
        from in 0.0_f64..80.0,
        to in 0.1_f64..80.0,
        steps in prop::option::of(2_u32..20),
        lead in 0_u64..10,
    ) {
        let ramp = ramp(from, to, steps);
        let lead = lead * SEC;
        let run = || -> Vec<Nanos> {
            RampArrivals::new(seed, 0, ramp, Arrival::Poisson, lead).collect()
        };
        let offsets = run();
        prop_assert!(offsets.windows(2).all(|w| w[0] <= w[1]));
        prop_assert!(offsets.iter().all(|at| *at < lead + ramp.over_ns));
        let expected = ramp.expected() + from * lead as f64 / 1e9;
        let off = (offsets.len() as f64 - expected).abs();
        prop_assert!(off <= 6.0 * expected.sqrt() + 6.0, "{} of {expected}", offsets.len());
        prop_assert_eq!(offsets, run());
    }

    #[test]
    fn the_shards_of_a_ramp_are_the_whole(of in 1_u32..6, top in 2.0_f64..60.0) {
        let plan = level(load(1.0, top, 5 * SEC, Arrival::Poisson));
        let offsets = |shard| {
            let (o, r) = run_with(&plan, &mut Simulated::new(MS, 0), shard, &StopSignal::new());
            assert_eq!(o.end.ending, Ending::Duration);
            r.iter().map(|r| r.intended - o.started).collect::<Vec<_>>()
        };
        let mut union: Vec<_> = (0..of).flat_map(|index| offsets(Shard { index, of })).collect();
        union.sort_unstable();
        prop_assert_eq!(union, offsets(Shard::WHOLE));
    }

    #[test]
    fn every_arrival_of_a_ramp_has_one_record(
        (from, to) in (0.5_f64..60.0, 0.5_f64..60.0),
        requests in prop::option::of(1_u64..80),
        warmup in prop::option::of(1_u64..2000),
        service in 1_u64..700,
        fails_every in 0_u64..5,
        stop_at in prop::option::of(0_u64..4000),
        drain in 0_u64..1000,
    ) {
        let plan = LevelPlan {
            requests,
            warmup: warmup.map(|ms| Warmup::Duration(ms * MS)),
            drain_ns: drain * MS,
            ..level(load(from, to, 3 * SEC, Arrival::Poisson))
        };
        let signal = StopSignal::new();
        let mut server = Simulated::new(service * MS, fails_every);
        server.stop_at = stop_at.map(|at| (7 * SEC + at * MS, signal.clone()));
        let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
        reconciles(&outcome, &records);
    }
}

#[test]
fn a_ramp_ends_with_its_time_and_censors_what_outlives_the_drain() {
    let load = load(2.0, 10.0, 10 * SEC, Arrival::Constant);
    let plan = LevelPlan { drain_ns: SEC, ..level(load) };
    let (outcome, records) = run(&plan, &mut Simulated::new(3 * SEC, 0));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.end.issued), (Ending::Duration, 60));
    assert_eq!(outcome.end.sending_stopped, outcome.started + 10 * SEC);
    assert_eq!(outcome.end.ended, outcome.started + 11 * SEC);
    let censored = records.iter().filter(|r| r.outcome == Outcome::Censored);
    let late = records.iter().filter(|r| r.intended > outcome.started + 8 * SEC);
    assert_eq!(censored.count(), late.count());
}

#[test]
fn a_number_of_requests_stops_a_ramp_before_its_end() {
    let load = load(2.0, 10.0, 10 * SEC, Arrival::Constant);
    let plan = LevelPlan { requests: Some(7), drain_ns: 0, ..level(load) };
    let (outcome, records) = run(&plan, &mut Simulated::new(3 * SEC, 0));
    assert_eq!((outcome.end.ending, outcome.end.planned), (Ending::Requests, Some(7)));
    assert!(records.iter().all(|r| r.is_completed()));
}

#[test]
fn a_warm_up_keeps_the_first_rate_and_comes_before_the_ramp() {
    let load = load(10.0, 20.0, 10 * SEC, Arrival::Constant);
    let plan = LevelPlan { warmup: Some(Warmup::Duration(5 * SEC)), ..level(load) };
    let (outcome, records) = run(&plan, &mut Simulated::new(MS, 0));
    assert_eq!((outcome.end.warmup, outcome.end.issued), (50, 150));
    assert_eq!(outcome.end.sending_stopped, outcome.started + 15 * SEC);
    let warm = |r: &&RequestRecord| r.phase == Phase::Warmup;
    assert!(
        records
            .iter()
            .take_while(warm)
            .zip(0..)
            .all(|(r, i)| { r.intended == outcome.started + i * SEC / 10 })
    );
}

/// Conversations of one turn.
fn run_conversations(plan: &LevelPlan) -> (LevelOutcome, Vec<RequestRecord>) {
    let work = Lookahead::start(8, |_| Some(Payload::default())).unwrap();
    let mut server = Simulated::new(MS, 0);
    run_work(plan, &mut server, Shard::WHOLE, &StopSignal::new(), work, true, None)
}

#[test]
fn conversations_begin_at_the_rate_of_the_ramp_until_it_ends() {
    let load = load(1.0, 9.0, 10 * SEC, Arrival::Constant);
    let (outcome, records) = run_conversations(&level(load));
    assert_eq!((outcome.end.ending, records.len()), (Ending::Duration, 50));
    assert_eq!(outcome.end.sending_stopped, outcome.started + 10 * SEC);
}

#[test]
fn a_ramp_with_fewer_conversations_than_its_warm_up_ends_all_the_same() {
    let load = load(1.0, 9.0, 10 * SEC, Arrival::Constant);
    let plan = LevelPlan { warmup: Some(Warmup::Requests(60)), ..level(load) };
    let (outcome, records) = run_conversations(&plan);
    assert_eq!((outcome.end.ending, outcome.end.issued, records.len()), (Ending::Duration, 0, 50));
}
