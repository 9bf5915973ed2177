//! Drivers against a simulated server in virtual time: one arrival, one record, whatever happens.
#![allow(clippy::unwrap_used)]

mod simulated;

use dyno_drive::{LevelOutcome, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, SEC};
use proptest::prelude::*;
use simulated::{Simulated, level, reconciles, run, run_with};

#[test]
fn a_closed_loop_hands_each_slot_on_at_the_end_of_its_last_request() {
    let plan = LevelPlan { requests: Some(10), ..level(Load::Concurrency { concurrency: 3 }) };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!((outcome.issued, outcome.planned, outcome.ending), (10, Some(10), Ending::Requests));
    assert_eq!(server.peak, 3);
    for slot in 0..3 {
        let mut of_slot: Vec<_> = records.iter().filter(|r| r.slot == slot).collect();
        of_slot.sort_by_key(|r| r.intended);
        assert_eq!(of_slot[0].intended, outcome.started);
        assert!(of_slot.windows(2).all(|w| w[1].intended == w[0].end));
    }
    // Ten requests in three slots: at 300 ms the tenth is sent and two slots find nothing.
    assert_eq!(outcome.starved, Some(outcome.started + 300 * MS));
}

#[test]
fn warm_up_is_labelled_and_in_addition() {
    let plan = LevelPlan {
        requests: Some(10),
        warmup: Some(Warmup::Requests(4)),
        ..level(Load::Concurrency { concurrency: 2 })
    };
    let (outcome, records) = run(&plan, &mut Simulated::new(100 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!((outcome.warmup, outcome.issued), (4, 10));
}

#[test]
fn time_bounds_a_closed_loop_and_what_runs_on_is_labelled_drain() {
    let plan = LevelPlan { duration_ns: Some(SEC), ..level(Load::Concurrency { concurrency: 2 }) };
    let (outcome, records) = run(&plan, &mut Simulated::new(300 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!(outcome.ending, Ending::Duration);
    assert_eq!(outcome.sending_stopped, outcome.started + SEC);
    let drained = records.iter().filter(|r| r.phase == Phase::Drain).count();
    assert_eq!((outcome.issued, drained), (8, 2));
}

#[test]
fn what_outlives_the_drain_is_censored_not_lost() {
    let plan = LevelPlan {
        duration_ns: Some(SEC),
        drain_ns: 2 * SEC,
        ..level(Load::Rate { rate: 10.0, arrival: Arrival::Constant })
    };
    let (outcome, records) = run(&plan, &mut Simulated::new(2500 * MS, 0));
    reconciles(&outcome, &records);
    assert_eq!(outcome.issued, 10);
    let censored = records.iter().filter(|r| r.outcome == Outcome::Censored).count();
    // Arrivals at 600 … 900 ms would end after 3 s.
    assert_eq!(censored, 4);
    assert_eq!(outcome.ended, outcome.started + 3 * SEC);
}

#[test]
fn an_open_loop_keeps_its_schedule_whatever_the_server_does() {
    let plan = LevelPlan {
        requests: Some(50),
        ..level(Load::Rate { rate: 100.0, arrival: Arrival::Poisson })
    };
    let (quick, fast) = run(&plan, &mut Simulated::new(MS, 0));
    let (slow, stuck) = run(&plan, &mut Simulated::new(60 * SEC, 0));
    let offsets = |o: &LevelOutcome, r: &[RequestRecord]| {
        r.iter().map(|r| r.intended - o.started).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&quick, &fast), offsets(&slow, &stuck));
    assert!(stuck.iter().all(|r| r.dispatched == Some(r.intended)));
}

#[test]
fn a_burst_is_sent_at_once_after_its_warm_up() {
    let plan =
        LevelPlan { warmup: Some(Warmup::Requests(5)), ..level(Load::Burst { requests: 200 }) };
    let mut server = Simulated::new(SEC, 0);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(server.peak, 200);
    assert!(
        records
            .iter()
            .filter(|r| r.phase == Phase::Measured)
            .all(|r| { r.intended == outcome.started + SEC && r.sent == Some(r.intended) })
    );
}

#[test]
fn the_first_signal_drains_and_the_second_censors() {
    let plan = LevelPlan { requests: Some(1000), ..level(Load::Concurrency { concurrency: 4 }) };
    let signal = StopSignal::new();
    let mut server = Simulated::new(SEC, 0);
    server.stop_at = Some((8500 * MS, signal.clone()));
    let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
    reconciles(&outcome, &records);
    assert_eq!(outcome.ending, Ending::Interrupted);
    assert!(records.iter().all(RequestRecord::is_completed));

    signal.raise();
    let (outcome, records) = run_with(&plan, &mut Simulated::new(SEC, 0), Shard::WHOLE, &signal);
    reconciles(&outcome, &records);
    assert!(records.iter().all(|r| r.outcome == Outcome::Censored));
}

fn any_load() -> impl Strategy<Value = Load> {
    prop_oneof![
        (1_u32..20).prop_map(|concurrency| Load::Concurrency { concurrency }),
        (1.0_f64..300.0, 0.2_f64..4.0)
            .prop_map(|(rate, shape)| Load::Rate { rate, arrival: Arrival::Gamma { shape } }),
        (1_u64..100).prop_map(|requests| Load::Burst { requests }),
    ]
}

proptest! {
    #[test]
    fn every_arrival_has_one_record(
        load in any_load(),
        requests in prop::option::of(1_u64..80),
        duration in prop::option::of(1_u64..3000),
        warmup in prop::option::of(0_u64..20),
        service in 1_u64..700,
        fails_every in 0_u64..5,
        stop_at in prop::option::of(0_u64..2000),
        drain in 0_u64..1000,
    ) {
        let plan = LevelPlan {
            requests: requests.or(if duration.is_none() { Some(30) } else { None }),
            duration_ns: duration.map(|d| d * MS),
            warmup: warmup.map(Warmup::Requests),
            drain_ns: drain * MS,
            ..level(load)
        };
        let signal = StopSignal::new();
        let mut server = Simulated::new(service * MS, fails_every);
        server.stop_at = stop_at.map(|at| (7 * SEC + at * MS, signal.clone()));
        let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
        reconciles(&outcome, &records);
        if outcome.ending == Ending::Requests {
            prop_assert_eq!(Some(outcome.issued), outcome.planned);
        }
    }

    #[test]
    fn the_shards_of_an_open_loop_are_the_whole(of in 1_u32..6, requests in 1_u64..60) {
        let plan = LevelPlan {
            requests: Some(requests),
            ..level(Load::Rate { rate: 50.0, arrival: Arrival::Poisson })
        };
        let offsets = |shard| {
            let (o, r) =
                run_with(&plan, &mut Simulated::new(MS, 0), shard, &StopSignal::new());
            r.iter().map(|r| r.intended - o.started).collect::<Vec<_>>()
        };
        let mut union: Vec<_> = (0..of).flat_map(|index| offsets(Shard { index, of })).collect();
        union.sort_unstable();
        prop_assert_eq!(union, offsets(Shard::WHOLE));
    }
}
