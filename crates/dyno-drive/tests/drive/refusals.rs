//! Servers that refuse and fail, in virtual time: a closed loop waits instead of spinning, schedules
//! are kept, refused requests are sent again where that is asked for, and a target is lost only if it
//! serves nothing.
#![allow(clippy::unwrap_used)]

use crate::simulated::{Simulated, conversation, level, reconciles, run, run_with, run_work};
use dyno_drive::{LevelOutcome, Lookahead, OnFailure, Retry, StopSignal};
use dyno_model::frame::Ending;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, LevelPlan, Load, Shard, Warmup};
use dyno_model::record::RequestRecord;
use dyno_model::{MS, Nanos, SEC};
use proptest::prelude::*;

const SHED: Outcome = Outcome::Shed(FailureClass::Http(429));

fn closed(concurrency: u32) -> LevelPlan {
    level(Load::Concurrency { concurrency })
}

fn of_slot(records: &[RequestRecord], slot: u32) -> Vec<&RequestRecord> {
    records.iter().filter(|record| record.slot == slot).collect()
}

fn retry(at_most: u32, within: Nanos) -> OnFailure {
    OnFailure { retry: Some(Retry { at_most, within }), ..OnFailure::default() }
}

#[test]
fn a_closed_loop_waits_longer_after_each_refusal_in_a_row() {
    let plan = LevelPlan { duration_ns: Some(20 * SEC), ..closed(1) };
    let (outcome, records) = run(&plan, &mut Simulated::shedding(SEC, 1));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.lost.clone()), (Ending::Duration, None));
    let waits: Vec<u64> =
        records.windows(2).map(|two| (two[1].intended - two[0].end) / MS).collect();
    assert_eq!(waits[..9], [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
    // Sent when the wait is over, and that is what it was due for.
    assert!(records.iter().all(|record| record.dispatched == Some(record.intended)));
    let waited: u64 = records.windows(2).map(|two| two[1].intended - two[0].end).sum();
    let last = outcome.started + 20 * SEC - records.last().unwrap().end;
    assert_eq!(outcome.end.client.paused_ns, waited + last);
    assert_eq!(outcome.end.client.pauses, records.len() as u64);
}

#[test]
fn a_success_resets_the_wait_and_a_server_may_say_how_long_it_is() {
    let plan = LevelPlan { requests: Some(40), ..closed(1) };
    let (_, records) = run(&plan, &mut Simulated::shedding(SEC, 2));
    let after = |record: &RequestRecord, next: &RequestRecord| match record.is_completed() {
        true => next.intended == record.end,
        false => next.intended == record.end + 10 * MS,
    };
    assert!(records.windows(2).all(|two| after(&two[0], &two[1])));

    for (asked, waits) in [(2 * SEC, 2 * SEC), (0, 10 * MS), (3600 * SEC, 10 * SEC)] {
        let mut server = Simulated::shedding(SEC, 2);
        server.retry_after = Some(asked);
        let (outcome, records) = run(&plan, &mut server);
        assert!(
            records
                .windows(2)
                .skip(1)
                .step_by(2)
                .all(|two| { two[0].outcome == SHED && two[1].intended == two[0].end + waits })
        );
        // The last refusal has no successor: 19 of 20.
        assert_eq!(outcome.end.client.paused_ns, 19 * waits);
    }
}

#[test]
fn slots_wait_independently_and_failures_that_take_their_time_need_no_wait() {
    let plan = LevelPlan { requests: Some(400), ..closed(64) };
    let mut server = Simulated::shedding(100 * MS, 2);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(records.iter().filter(|record| record.outcome == SHED).count(), 200);
    for slot in 0..64 {
        let waits = of_slot(&records, slot);
        assert!(waits.windows(2).all(|two| match two[0].is_completed() {
            true => two[1].intended == two[0].end,
            false => two[1].intended >= two[0].end + 10 * MS,
        }));
    }
    let (slow, records) = run(&plan, &mut Simulated::new(100 * MS, 2));
    assert_eq!((slow.end.client.paused_ns, slow.end.client.pauses), (0, 0));
    assert_eq!(records.iter().filter(|record| !record.is_completed()).count(), 200);
}

#[test]
fn an_open_loop_keeps_its_schedule_when_it_is_refused() {
    let plan = LevelPlan {
        requests: Some(200),
        ..level(Load::Rate { rate: 100.0, arrival: Arrival::Poisson })
    };
    let due = |outcome: &LevelOutcome, records: &[RequestRecord]| {
        records.iter().map(|record| record.intended - outcome.started).collect::<Vec<_>>()
    };
    let (served, all) = run(&plan, &mut Simulated::new(MS, 0));
    let (refused, half) = run(&plan, &mut Simulated::shedding(MS, 2));
    assert_eq!(due(&served, &all), due(&refused, &half));
    assert!(half.iter().all(|record| record.dispatched == Some(record.intended)));
    assert_eq!((refused.end.ending, refused.end.client.paused_ns), (Ending::Requests, 0));
}

#[test]
fn a_target_that_serves_nothing_is_lost_and_one_that_serves_some_is_not() {
    let plan = LevelPlan { duration_ns: Some(120 * SEC), ..closed(4) };
    let (outcome, records) = run(&plan, &mut Simulated::shedding(SEC, 1));
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::TargetLost);
    let lost = outcome.lost.unwrap();
    assert!(!lost.unreachable && lost.failures >= 50, "{lost:?}");
    assert!((30 * SEC..32 * SEC).contains(&lost.time), "{lost:?}");
    let (outcome, _) = run(&plan, &mut Simulated::shedding(SEC, 2));
    assert_eq!(outcome.end.ending, Ending::Duration);
}

/// 64 slots, of which the server takes 16: their responses take a minute, and all others are shed.
#[test]
fn a_target_that_streams_is_not_lost_before_its_first_response_is_complete() {
    let plan = LevelPlan { duration_ns: Some(150 * SEC), ..closed(64) };
    let server = |token_every| {
        let mut server = Simulated::shedding(60 * SEC, 0);
        (server.serves, server.token_every) = (Some(16), token_every);
        server
    };
    let (outcome, records) = run(&plan, &mut server(Some(20 * MS)));
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.lost.clone()), (Ending::Duration, None));
    let until = |time: Nanos| {
        let early = records.iter().filter(move |record| record.end < outcome.started + time);
        early.filter(|record| record.outcome == SHED).count()
    };
    assert!(until(30 * SEC) > 1000, "{} were shed by then", until(30 * SEC));
    assert!(records.iter().filter(|record| record.is_completed()).count() >= 32);

    // Without a sign of life there is nothing to wait for.
    let (outcome, _) = run(&plan, &mut server(None));
    assert_eq!(outcome.end.ending, Ending::TargetLost);
    // Nor where streams stop, and the rest is refused.
    let mut stuck = server(Some(45 * SEC));
    stuck.serves = Some(1);
    let (outcome, _) = run(&plan, &mut stuck);
    assert_eq!(outcome.end.ending, Ending::TargetLost);
}

#[test]
fn a_target_that_breaks_off_every_response_is_lost_although_it_sends_tokens() {
    let plan = LevelPlan { duration_ns: Some(300 * SEC), ..closed(16) };
    let mut server = Simulated::new(SEC, 1);
    server.fails_with = Outcome::Failed(FailureClass::StreamReset);
    server.token_every = Some(100 * MS);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::TargetLost);
    assert!(records.iter().all(|record| record.output.is_some() || !record.is_completed()));
    assert!(outcome.end.ended - outcome.started < 40 * SEC);
}

#[test]
fn a_target_that_is_gone_is_lost_within_seconds() {
    for concurrency in [1, 64] {
        let plan = LevelPlan { duration_ns: Some(120 * SEC), ..closed(concurrency) };
        let mut server = Simulated::shedding(SEC, 1);
        server.fails_with = Outcome::Failed(FailureClass::Connect);
        let (outcome, _) = run(&plan, &mut server);
        assert_eq!(outcome.end.ending, Ending::TargetLost);
        assert!(outcome.lost.unwrap().unreachable);
        assert!(outcome.end.ended - outcome.started < 6 * SEC);
    }
}

#[test]
fn one_of_several_load_generators_does_not_say_that_a_target_serves_nothing() {
    let plan = LevelPlan { duration_ns: Some(120 * SEC), ..closed(4) };
    let mut server = Simulated::shedding(SEC, 1);
    server.on_failure.seen_by_others = true;
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!((outcome.end.ending, outcome.lost), (Ending::Duration, None));
    // It does say that it cannot get there.
    let mut server = Simulated::shedding(SEC, 1);
    server.on_failure.seen_by_others = true;
    server.fails_with = Outcome::Failed(FailureClass::Connect);
    let (outcome, _) = run(&plan, &mut server);
    assert_eq!(outcome.end.ending, Ending::TargetLost);
    assert!(outcome.lost.unwrap().unreachable);
}

#[test]
fn so_many_failures_end_a_level_and_refusals_are_none() {
    let plan = LevelPlan { requests: Some(1000), ..closed(4) };
    let mut server = Simulated::new(100 * MS, 3);
    server.on_failure.at_most = Some(20);
    let (outcome, records) = run(&plan, &mut server);
    reconciles(&outcome, &records);
    assert_eq!(outcome.end.ending, Ending::MaxFailures);
    assert!((20..24).contains(&outcome.failed), "{}", outcome.failed);
    let failed = records.iter().filter(|record| matches!(record.outcome, Outcome::Failed(_)));
    assert_eq!(failed.count() as u64, outcome.failed);

    let mut server = Simulated::shedding(100 * MS, 3);
    server.on_failure.at_most = Some(20);
    let (outcome, _) = run(&plan, &mut server);
    assert_eq!((outcome.end.ending, outcome.failed), (Ending::Requests, 0));
}

#[test]
fn a_refused_request_is_sent_again_as_the_same_arrival() {
    for load in [
        Load::Concurrency { concurrency: 1 },
        Load::Rate { rate: 0.5, arrival: Arrival::Constant },
        Load::Burst { requests: 1 },
    ] {
        let plan = LevelPlan { requests: Some(1), ..level(load) };
        // The first attempt and the second are refused.
        let mut server = Simulated::shedding(SEC, 1);
        (server.on_failure, server.recovers_after) = (retry(8, 60 * SEC), Some(2));
        let (outcome, records) = run(&plan, &mut server);
        reconciles(&outcome, &records);
        let [record] = &records[..] else { panic!("{records:?}") };
        let sent = record.sent.unwrap();
        assert_eq!((record.outcome.clone(), record.retries), (Outcome::Completed, 2));
        assert_eq!(record.first_refused, Some(sent + MS));
        assert!(matches!(record.refused_as, Some(FailureClass::Http(429 | 503))), "{record:?}");
        // 1 ms, a wait of 10 ms, 1 ms, a wait of 20 ms, and the response.
        assert_eq!((record.dispatched, record.end), (Some(sent), sent + 32 * MS + SEC));
        assert_eq!(server.got.len(), 3);
        assert!(server.got.iter().all(|body| *body == server.got[0]));
    }
}

#[test]
fn retries_end_after_so_many_or_when_time_is_up() {
    let plan = LevelPlan { requests: Some(1), ..closed(1) };
    let attempts = |rule: OnFailure, asked: Option<Nanos>| {
        let mut server = Simulated::shedding(SEC, 1);
        (server.on_failure, server.retry_after) = (rule, asked);
        let (outcome, records) = run(&plan, &mut server);
        reconciles(&outcome, &records);
        assert_eq!((records[0].outcome.clone(), outcome.end.ending), (SHED, Ending::Requests));
        assert_eq!(server.got.len() as u32, 1 + records[0].retries);
        records[0].retries
    };
    assert_eq!(attempts(retry(3, 60 * SEC), None), 3);
    assert_eq!(attempts(retry(100, 60 * SEC), Some(4 * SEC)), 14);
    assert_eq!(attempts(retry(8, SEC), Some(2 * SEC)), 0);
}

#[test]
fn a_conversation_goes_on_after_a_turn_that_was_sent_again() {
    let plan = LevelPlan { requests: Some(3), ..closed(1) };
    let said = |turn: u32, _: &[String]| ["one", "two", "three"][turn as usize].into();
    let talk = move |_| Some(conversation(3, SEC, said));
    let mut server = Simulated::shedding(SEC, 2);
    server.on_failure = retry(8, 60 * SEC);
    let work = Lookahead::start(8, talk).unwrap();
    let (outcome, records) =
        run_work(&plan, &mut server, Shard::WHOLE, &StopSignal::new(), work, true, None);
    reconciles(&outcome, &records);
    let turns: Vec<u32> = records.iter().map(|record| record.turn.unwrap().number).collect();
    assert_eq!(turns, [1, 2, 3]);
    assert!(records.iter().all(RequestRecord::is_completed));
    assert_eq!(records.iter().map(|record| record.retries).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(server.got, [&b"one"[..], b"two", b"two", b"three", b"three"]);
    assert_eq!(records[1].intended, records[0].end + SEC);
}

fn any_load() -> impl Strategy<Value = Load> {
    prop_oneof![
        (1_u32..20).prop_map(|concurrency| Load::Concurrency { concurrency }),
        (1.0_f64..300.0)
            .prop_map(|rate| Load::Rate { rate, arrival: Arrival::Gamma { shape: 0.5 } }),
        (1_u64..100).prop_map(|requests| Load::Burst { requests }),
    ]
}

proptest! {
    #[test]
    fn every_arrival_has_one_record_however_it_is_refused(
        load in any_load(),
        requests in 1_u64..80,
        duration in prop::option::of(1_u64..3000),
        warmup in prop::option::of(0_u64..20),
        sheds_every in 1_u64..5,
        asked in prop::option::of(0_u64..2000),
        retries in prop::option::of(1_u32..5),
        at_most in prop::option::of(1_u32..9),
        stop_at in prop::option::of(0_u64..2000),
    ) {
        let plan = LevelPlan {
            requests: Some(requests),
            duration_ns: duration.map(|time| time * MS),
            warmup: warmup.map(Warmup::Requests),
            drain_ns: 500 * MS,
            ..level(load)
        };
        let signal = StopSignal::new();
        let mut server = Simulated::shedding(100 * MS, sheds_every);
        server.retry_after = asked.map(|time| time * MS);
        server.on_failure.retry = retries.map(|at_most| Retry { at_most, within: 5 * SEC });
        server.at_most = at_most;
        server.stop_at = stop_at.map(|at| (7 * SEC + at * MS, signal.clone()));
        let (outcome, records) = run_with(&plan, &mut server, Shard::WHOLE, &signal);
        reconciles(&outcome, &records);
        let attempts = records.iter().filter(|record| record.sent.is_some());
        let sent: u64 = attempts.map(|record| 1 + u64::from(record.retries)).sum();
        prop_assert_eq!(sent, server.got.len() as u64);
        for record in &records {
            prop_assert!(record.retries == 0 || record.first_refused >= record.sent);
            prop_assert!(record.retries <= retries.unwrap_or(0));
        }
        if let (Some(most), true) = (at_most, load.is_open()) {
            prop_assert!(server.peak <= most as usize);
        }
    }
}
