//! Open loops that may have only so many requests in flight: what is due beyond them waits in the
//! client, and is recorded whether it was sent or not.
#![allow(clippy::unwrap_used)]

use crate::simulated::{Simulated, conversations, level, reconciles, run, run_with, run_work};
use dyno_drive::{LevelOutcome, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;

const TEN_A_SECOND: Load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };

fn capped(service: Nanos, at_most: u32) -> Simulated {
    let mut server = Simulated::new(service, 0);
    server.at_most = Some(at_most);
    server
}

/// Milliseconds after the start.
fn after_start(outcome: &LevelOutcome, time: Option<Nanos>) -> Option<Nanos> {
    time.map(|time| (time - outcome.started) / MS)
}

#[test]
fn arrivals_beyond_the_cap_wait_for_a_slot() {
    let mut server = capped(400 * MS, 2);
    let plan = LevelPlan { requests: Some(5), ..level(TEN_A_SECOND) };
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!((server.peak, outcome.end.ending), (2, Ending::Requests));
    let times = |of: fn(&RequestRecord) -> Option<Nanos>| -> Vec<_> {
        records.iter().map(|record| after_start(&outcome, of(record))).collect()
    };
    let due = times(|record| Some(record.intended));
    assert_eq!(due, [Some(0), Some(100), Some(200), Some(300), Some(400)]);
    let sent = times(|record| record.dispatched);
    assert_eq!(sent, [Some(0), Some(100), Some(400), Some(500), Some(800)]);
    assert_eq!(times(|r| r.admitted), [None, None, Some(400), Some(500), Some(800)]);
}

#[test]
fn arrivals_that_still_wait_when_sending_stops_are_recorded_as_never_sent() {
    let plan = LevelPlan { duration_ns: Some(SEC), ..level(TEN_A_SECOND) };
    let (outcome, records) = run(&plan, &mut capped(400 * MS, 2));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.issued, outcome.end.planned), (10, Some(10)));
    let (sent, unsent): (Vec<_>, Vec<_>) = records.iter().partition(|r| r.dispatched.is_some());
    assert_eq!((sent.len(), unsent.len()), (6, 4));
    for record in unsent {
        assert_eq!((record.outcome.clone(), record.phase), (Outcome::Censored, Phase::Measured));
        assert_eq!(record.end, outcome.end.sending_stopped);
    }
}

#[test]
fn a_signal_leaves_a_record_of_what_waits() {
    let plan = LevelPlan { requests: Some(100), drain_ns: SEC, ..level(TEN_A_SECOND) };
    let signal = StopSignal::new();
    let mut server = capped(10 * SEC, 1);
    server.stop_at = Some((7 * SEC + 550 * MS, signal.clone()));
    let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::Interrupted);
    assert!(records.iter().skip(1).all(|r| r.dispatched.is_none()), "one was sent");
    assert!(records.len() >= 6, "{}", records.len());
}

#[test]
fn the_cap_of_a_closed_loop_is_its_concurrency() {
    let closed = Load::Concurrency { concurrency: 4 };
    let plan = LevelPlan { requests: Some(20), ..level(closed) };
    let mut server = capped(100 * MS, 2);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(server.peak, 4);
    assert!(records.iter().all(|record| record.admitted.is_none()));
}

/// What is so of every record: it was sent as soon as it was due and a slot was free, or never.
fn waits_are_told_apart(records: &[RequestRecord]) {
    for record in records {
        assert!(record.admitted.is_none_or(|at| at > record.intended));
        match record.dispatched {
            Some(dispatched) => assert_eq!(dispatched, record.sendable()),
            None => assert_eq!(record.outcome, Outcome::Censored),
        }
    }
}

proptest! {
    #[test]
    fn a_cap_loses_no_arrival_and_is_never_exceeded(
        rate in 1.0_f64..200.0,
        shape in 0.2_f64..4.0,
        cap in 1_u32..12,
        requests in prop::option::of(1_u64..80),
        duration in prop::option::of(1_u64..3000),
        warmup in prop::option::of(0_u64..20),
        service in 1_u64..700,
        drain in 0_u64..1000,
        stop_at in prop::option::of(0_u64..2000),
    ) {
        let plan = LevelPlan {
            requests: requests.or(if duration.is_none() { Some(30) } else { None }),
            duration_ns: duration.map(|d| d * MS),
            warmup: warmup.map(Warmup::Requests),
            drain_ns: drain * MS,
            ..level(Load::Rate { rate, arrival: Arrival::Gamma { shape } })
        };
        let signal = StopSignal::new();
        let mut server = capped(service * MS, cap);
        server.stop_at = stop_at.map(|at| (7 * SEC + at * MS, signal.clone()));
        let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
        reconciles(&outcome, &records);
        prop_assert!(server.peak <= cap as usize);
        waits_are_told_apart(&records);
        prop_assert!(records.is_sorted_by_key(|r| (r.dispatched.is_none(), r.dispatched)));
        if outcome.end.ending != Ending::Interrupted {
            let (free, all) = run(&plan, &mut Simulated::new(service * MS, 0));
            let due = |outcome: &LevelOutcome, records: &[RequestRecord]| -> Vec<_> {
                records.iter().map(|r| (r.intended - outcome.started, r.phase == Phase::Warmup)).collect()
            };
            prop_assert_eq!(due(&outcome, &records), due(&free, &all));
        }
    }

    #[test]
    fn conversations_share_the_slots(
        rate in 1.0_f64..30.0,
        cap in 1_u32..6,
        turns in 1_u32..5,
        think in 0_u64..300,
        service in 1_u64..400,
        seconds in 1_u64..8,
        requests in prop::option::of(1_u64..60),
    ) {
        let load = Load::Rate { rate, arrival: Arrival::Poisson };
        let plan = LevelPlan { duration_ns: Some(seconds * SEC), requests, ..level(load) };
        let mut server = capped(service * MS, cap);
        let work = conversations(turns, think * MS);
        let (outcome, records) =
            run_work(&plan, &mut server, Shard::WHOLE, &StopSignal::new(), work, true, None);
        reconciles(&outcome, &records);
        prop_assert!(server.peak <= cap as usize);
        waits_are_told_apart(&records);
        prop_assert!(requests.is_none_or(|requests| outcome.end.issued <= requests));
        let stopped = outcome.end.sending_stopped;
        prop_assert!(records.iter().all(|record| record.intended <= stopped));
    }
}
