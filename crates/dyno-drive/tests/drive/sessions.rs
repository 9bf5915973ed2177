//! Conversations and traces against a simulated server in virtual time.
#![allow(clippy::unwrap_used)]

use crate::simulated::{Simulated, conversation, level, reconciles, run_work};
use dyno_drive::{LevelOutcome, Lookahead, Payload, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::{Phase, RequestRecord, TurnOfSession};
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Conversations of so many turns each.
fn conversations(turns: u32, think: Nanos) -> Lookahead<Vec<u8>> {
    Lookahead::start(8, move |index| {
        // Repeats everything so far and adds a word.
        Some(conversation(turns, think, move |_, answers| {
            let said = answers.iter().map(|answer| format!("{answer}|more"));
            format!("session {index}{}", said.collect::<String>()).into_bytes()
        }))
    })
    .unwrap()
}

fn run(
    plan: &LevelPlan,
    server: &mut Simulated,
    work: Lookahead<Vec<u8>>,
) -> (LevelOutcome, Vec<RequestRecord>) {
    run_work(plan, server, Shard::WHOLE, &StopSignal::new(), work, true, None)
}

fn by_session(records: &[RequestRecord]) -> BTreeMap<u64, Vec<&RequestRecord>> {
    let mut sessions: BTreeMap<u64, Vec<&RequestRecord>> = BTreeMap::new();
    for record in records {
        sessions.entry(record.turn.unwrap().session).or_default().push(record);
    }
    sessions
}

/// Each turn is sent when its predecessor is over and the user has thought.
fn in_order(records: &[RequestRecord], think: Nanos) {
    for turns in by_session(records).values() {
        for (number, record) in (1..).zip(turns) {
            assert_eq!(record.turn.unwrap().number, number);
            assert_eq!(record.slot, turns[0].slot);
        }
        for pair in turns.windows(2) {
            assert_eq!(pair[1].intended, pair[0].end + think);
            assert!(pair[1].dispatched.unwrap() >= pair[1].intended);
        }
    }
}

#[test]
fn users_of_a_closed_loop_think_and_go_on() {
    let plan = LevelPlan { requests: Some(24), ..level(Load::Concurrency { concurrency: 3 }) };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, conversations(4, 50 * MS));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.issued, outcome.end.ending), (24, Ending::Requests));
    in_order(&records, 50 * MS);
    let sessions = by_session(&records);
    assert_eq!(sessions.len(), 6);
    assert!(sessions.values().all(|turns| turns.len() == 4));
    assert_eq!(server.peak, 3);
    let of_first: Vec<String> = server
        .got
        .iter()
        .map(|bytes| String::from_utf8(bytes.clone()).unwrap())
        .filter(|text| text.starts_with("session 0"))
        .collect();
    assert_eq!(of_first[1], "session 0<9>|more");
    assert_eq!(of_first[2], "session 0<9>|more<17>|more");
}

#[test]
fn a_failed_turn_ends_its_conversation_and_frees_its_user() {
    let plan = LevelPlan { requests: Some(40), ..level(Load::Concurrency { concurrency: 2 }) };
    let mut server = Simulated::new(10 * MS, 5);
    let (outcome, records) = run(&plan, &mut server, conversations(1000, 0));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.issued, 40);
    let sessions = by_session(&records);
    assert!(sessions.len() >= 8);
    for turns in sessions.values() {
        let (_, before) = turns.split_last().unwrap();
        assert!(before.iter().all(|record| record.is_completed()));
    }
}

#[test]
fn arrivals_of_an_open_loop_are_conversations() {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    let plan = LevelPlan { duration_ns: Some(2 * SEC), ..level(load) };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, conversations(3, 200 * MS));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::Duration);
    assert_eq!(outcome.end.planned, None);
    in_order(&records, 200 * MS);
    let starts: Vec<Nanos> = records
        .iter()
        .filter(|r| r.turn.unwrap().number == 1)
        .map(|r| r.intended - outcome.started)
        .collect();
    assert_eq!(starts.len(), 20);
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 100 * MS));
    assert!(records.iter().all(|r| r.intended < outcome.started + 2 * SEC));
    // Those that began in the first second had the time to end.
    let sessions = by_session(&records);
    assert!(sessions.range(..10).all(|(_, turns)| turns.len() == 3));
}

#[test]
fn a_number_of_requests_counts_every_turn_of_an_open_loop() {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };
    for duration_ns in [None, Some(60 * SEC)] {
        let plan = LevelPlan { requests: Some(25), duration_ns, ..level(load) };
        let mut server = Simulated::new(100 * MS, 0);
        let (outcome, records) = run(&plan, &mut server, conversations(3, 200 * MS));
        reconciles(&outcome, &records);
        assert_eq!((outcome.end.issued, outcome.end.ending), (25, Ending::Requests));
        assert_eq!(outcome.end.planned, Some(25));
    }
}

/// The first and the last intended time of the measured requests.
fn measured_span(records: &[RequestRecord]) -> (Nanos, Nanos) {
    let times = || records.iter().filter(|r| r.phase != Phase::Warmup).map(|r| r.intended);
    (times().min().unwrap(), times().max().unwrap())
}

#[test]
fn the_time_of_an_open_loop_runs_from_its_first_measured_turn() {
    // Eight turns come with each arrival: 20 of warm-up are over long before 20 arrivals are.
    let load = Load::Rate { rate: 1.0, arrival: Arrival::Constant };
    let plan = LevelPlan {
        duration_ns: Some(10 * SEC),
        warmup: Some(Warmup::Requests(20)),
        ..level(load)
    };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, conversations(8, 100 * MS));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.warmup, outcome.end.ending), (20, Ending::Duration));
    let (first, last) = measured_span(&records);
    assert!(first < outcome.started + 4 * SEC, "{}", first - outcome.started);
    assert_eq!(outcome.end.sending_stopped, first + 10 * SEC);
    // Arrivals go on to the end.
    assert!((first + 9 * SEC..first + 10 * SEC).contains(&last));
    let begun = |r: &&RequestRecord| r.turn.unwrap().number == 1;
    let last_begun = records.iter().filter(begun).map(|r| r.intended).max().unwrap();
    assert!(last_begun >= first + 9 * SEC);
}

#[test]
fn the_time_of_an_open_loop_runs_from_the_end_of_a_timed_warm_up() {
    let load = Load::Rate { rate: 1.0, arrival: Arrival::Constant };
    let plan = LevelPlan {
        duration_ns: Some(10 * SEC),
        warmup: Some(Warmup::Duration(2500 * MS)),
        ..level(load)
    };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, conversations(2, 200 * MS));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.sending_stopped, outcome.started + 12_500 * MS);
    let (first, last) = measured_span(&records);
    assert_eq!((first, last), (outcome.started + 3 * SEC, outcome.started + 12_300 * MS));
}

#[test]
fn a_long_thought_does_not_keep_a_level_from_stopping() {
    let plan = LevelPlan {
        duration_ns: Some(SEC),
        drain_ns: SEC,
        ..level(Load::Concurrency { concurrency: 2 })
    };
    let mut server = Simulated::new(100 * MS, 0);
    let (outcome, records) = run(&plan, &mut server, conversations(5, 3_600 * SEC));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.issued, outcome.end.ending), (2, Ending::Duration));
    assert!(outcome.end.ended <= outcome.started + 2 * SEC);
}

#[test]
fn a_trace_is_replayed_at_its_own_times() {
    let offsets = vec![0, 5 * MS, 5 * MS, 400 * MS, SEC, 3 * SEC];
    let plan = level(Load::Trace { speed: 1.0 });
    let mut server = Simulated::new(50 * MS, 0);
    let payload = |i: u64| Payload { body: i.to_string().into_bytes(), ..Payload::default() };
    let singles = Lookahead::start(8, move |i| (i < 6).then(|| payload(i))).unwrap();
    let signal = StopSignal::new();
    let trace = Some(offsets.clone());
    let (outcome, records) =
        run_work(&plan, &mut server, Shard::WHOLE, &signal, singles, false, trace);
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.planned, outcome.end.ending), (Some(6), Ending::Requests));
    let times: Vec<Nanos> = records.iter().map(|r| r.intended - outcome.started).collect();
    assert_eq!(times, offsets);
    assert!(records.iter().all(|r| r.dispatched == Some(r.intended)));
    assert_eq!(server.got, (0..6).map(|i| i.to_string().into_bytes()).collect::<Vec<_>>());
}

#[test]
fn sessions_of_a_trace_start_at_their_times_and_the_level_ends_with_the_last_turn() {
    // Two at once, one after a long silence: the level waits for all of their turns.
    let offsets = vec![0, 50 * MS, 5 * SEC];
    let plan = level(Load::Trace { speed: 1.0 });
    let mut server = Simulated::new(100 * MS, 0);
    let (signal, work) = (StopSignal::new(), conversations(3, 200 * MS));
    let trace = Some(offsets.clone());
    let (outcome, records) =
        run_work(&plan, &mut server, Shard::WHOLE, &signal, work, true, trace.clone());
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.issued, outcome.end.ending, outcome.taken), (9, Ending::Requests, 3));
    in_order(&records, 200 * MS);
    let first = records.iter().filter(|record| record.turn.unwrap().number == 1);
    let times: Vec<Nanos> = first.map(|record| record.intended - outcome.started).collect();
    assert_eq!(times, offsets);
    assert_eq!(outcome.end.ended - outcome.started, 5 * SEC + 700 * MS);

    // A longer limit changes nothing: a trace ends with its last response.
    let plan = LevelPlan { duration_ns: Some(60 * SEC), ..plan };
    let (mut server, work) = (Simulated::new(100 * MS, 0), conversations(3, 200 * MS));
    let (outcome, _) =
        run_work(&plan, &mut server, Shard::WHOLE, &signal, work, true, trace.clone());
    assert_eq!((outcome.end.issued, outcome.end.ending), (9, Ending::Requests));
    assert_eq!(outcome.end.ended - outcome.started, 5 * SEC + 700 * MS);

    // A shorter one cuts conversations off, as in any open loop.
    let plan = LevelPlan { duration_ns: Some(150 * MS), ..plan };
    let mut server = Simulated::new(100 * MS, 0);
    let work = conversations(3, 0);
    let (outcome, records) = run_work(&plan, &mut server, Shard::WHOLE, &signal, work, true, trace);
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.taken), (Ending::Duration, 2));
    assert!(records.iter().all(|record| record.intended < outcome.started + 150 * MS));
}

proptest! {
    /// One arrival, one record, and every turn after its predecessor, whatever happens.
    #[test]
    fn conversations_reconcile(
        slots in 1_u32..8,
        turns in 1_u32..6,
        think in 0_u64..300,
        service in 1_u64..200,
        fails_every in 0_u64..7,
        requests in 1_u64..80,
        warmup in 0_u64..30,
        open in any::<bool>(),
    ) {
        let load = match open {
            true => Load::Rate { rate: f64::from(slots) * 5.0, arrival: Arrival::Poisson },
            false => Load::Concurrency { concurrency: slots },
        };
        let warmup = (warmup > 0).then_some(Warmup::Requests(warmup));
        let plan = LevelPlan { requests: Some(requests), warmup, ..level(load) };
        let mut server = Simulated::new(service * MS, fails_every);
        let (outcome, records) = run(&plan, &mut server, conversations(turns, think * MS));
        reconciles(&outcome, &records);
        if fails_every != 1 {
            prop_assert_eq!(outcome.end.issued, requests);
        }
        in_order(&records, think * MS);
        let first = |turn: TurnOfSession| turn.number == 1;
        let begun = records.iter().filter(|r| r.turn.is_some_and(first)).count();
        prop_assert_eq!(begun, by_session(&records).len());
    }

    /// Whatever the warm-up, measured turns are sent for as long as was asked for.
    #[test]
    fn conversations_keep_to_their_time(
        slots in 1_u32..8,
        turns in 1_u32..6,
        think in 0_u64..300,
        service in 1_u64..200,
        seconds in 1_u64..20,
        warmup in prop::option::of(1_u64..60),
        open in any::<bool>(),
    ) {
        let load = match open {
            true => Load::Rate { rate: f64::from(slots), arrival: Arrival::Poisson },
            false => Load::Concurrency { concurrency: slots },
        };
        let warmup = warmup.map(Warmup::Requests);
        let plan = LevelPlan { duration_ns: Some(seconds * SEC), warmup, ..level(load) };
        let mut server = Simulated::new(service * MS, 0);
        let (outcome, records) = run(&plan, &mut server, conversations(turns, think * MS));
        reconciles(&outcome, &records);
        prop_assert_eq!(outcome.end.ending, Ending::Duration);
        let measured = || records.iter().filter(|r| r.phase != Phase::Warmup).map(|r| r.intended);
        let from = match warmup {
            None => outcome.started,
            Some(_) => measured().min().unwrap(),
        };
        prop_assert_eq!(outcome.end.sending_stopped, from + seconds * SEC);
        prop_assert!(measured().all(|at| (from..from + seconds * SEC).contains(&at)));
    }
}
