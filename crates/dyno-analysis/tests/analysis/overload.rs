//! Levels in which an overloaded server refused requests: what is counted, what the verdict is, and the
//! percentiles in which failures count as never answered.
#![allow(clippy::unwrap_used)]

use dyno_model::frame::{Ending, LevelEnd};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Load, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::summary::{Late, LevelSummary, Pauses, RetryAfter};
use dyno_model::{Decision, MS, SEC, Verdict};
use dyno_testing::runs::*;
use proptest::prelude::*;

/// A request that was shed after a millisecond.
fn shed(index: u64, slot: u32, sent: u64, status: u16) -> RequestRecord {
    let mut record = failure(index, slot, sent, sent + 1, FailureClass::Http(status), "busy");
    record.outcome = Outcome::Shed(FailureClass::Http(status));
    record
}

/// Four slots of 25 requests each, TTFT 101 to 200 ms; each of the last `sheds` was shed.
fn records(sheds: u64) -> Vec<RequestRecord> {
    let one = |index: u64| {
        let (slot, sent) = ((index % 4) as u32, index / 4 * 300);
        match index < 100 - sheds {
            true => stream(index, slot, sent, 101 + index, 20, 5),
            false => shed(index, slot, sent, 429),
        }
    };
    (0..100).map(one).collect()
}

fn closed(allowed: f64, slo: Option<&str>) -> Plan {
    let load = Load::Concurrency { concurrency: 4 };
    let slo = slo.map(|text| text.parse().unwrap());
    Plan { allow_failures: allowed, slo, ..plan(vec![level_plan("c4", load, Some(100))]) }
}

fn level(plan: &Plan, records: Vec<RequestRecord>, change: impl Fn(&mut LevelEnd)) -> LevelSummary {
    let mut end = level_end(0, &records);
    end.starved = Some(7200 * MS);
    change(&mut end);
    let source = source(plan, frames(records, Some(end)));
    dyno_analysis::summarise(plan, None, &source).levels.remove(0)
}

fn codes(level: &LevelSummary) -> Vec<&str> {
    level.reasons.iter().map(|reason| reason.code.as_str()).collect()
}

#[test]
fn what_was_shed_is_counted_apart_from_failures() {
    let mut all = records(10);
    all[0].outcome = Outcome::Failed(FailureClass::StreamReset);
    let found = level(&closed(0.01, None), all, |_| {});
    let counts = &found.requests;
    assert_eq!((counts.completed, counts.failed, counts.shed), (Some(89), Some(1), Some(10)));
    assert_eq!(counts.failures, [("stream.reset".to_owned(), 1)].into());
    assert_eq!(found.overload.unwrap().shed, [("http.429".to_owned(), 10)].into());
    assert_eq!((counts.bad(), counts.ended()), (Some(11), Some(100)));
    assert_eq!((counts.failure_share(), counts.shed_share()), (Some(0.11), Some(0.1)));
    // What the server said is kept.
    assert_eq!(found.failure_samples["http.429"], ["busy"]);
}

#[test]
fn a_level_without_refusals_has_nothing_of_it() {
    let found = level(&closed(0.01, None), records(0), |_| {});
    assert_eq!((found.requests.shed, found.overload, found.with_failures), (Some(0), None, None));
    let json = serde_json::to_value(&found.requests).unwrap();
    assert_eq!(json["shed"], 0);
}

#[test]
fn an_overloaded_server_is_a_caveat_and_not_a_failure() {
    let found = level(&closed(0.01, None), records(2), |_| {});
    assert_eq!((found.verdict, codes(&found)), (Verdict::Suspect, vec!["overloaded"]));
    assert!(found.requests.bar_missed(0.01));
    let found = level(&closed(0.02, None), records(2), |_| {});
    assert_eq!((found.verdict, codes(&found)), (Verdict::Valid, vec![]));

    // Where failures alone are too many, both are said; where only both together are, the server is
    // overloaded.
    let with_failures = |failed: usize, sheds: u64, allowed: f64| {
        let mut all = records(sheds);
        for record in all.iter_mut().take(failed) {
            record.outcome = Outcome::Failed(FailureClass::StreamReset);
        }
        let found = level(&closed(allowed, None), all, |_| {});
        codes(&found).iter().map(|code| (*code).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(with_failures(5, 5, 0.02), ["failures", "overloaded"]);
    assert_eq!(with_failures(2, 5, 0.02), ["overloaded"]);
    assert_eq!(with_failures(5, 0, 0.02), ["failures"]);
    assert_eq!(with_failures(2, 2, 0.04), [""; 0]);
}

#[test]
fn a_server_that_sheds_everything_is_not_waited_for() {
    let found = level(&closed(0.01, None), records(100), |_| {});
    let reason = found.reasons.iter().find(|reason| reason.code == "nothing_completed").unwrap();
    assert!(reason.what.contains("shed all of them"), "{reason:?}");
    let advice = reason.advice.as_deref().unwrap_or_default();
    assert!(advice.contains("refusals") && !advice.contains("--drain"), "{advice}");
}

#[test]
fn goodput_and_slos_count_what_was_shed() {
    let slo = "ttft.p50<10s and errors<10%";
    let found = level(&closed(1.0, Some(slo)), records(20), |_| {});
    let slo = found.slo.unwrap();
    assert_eq!(slo.met_share, Some(0.8));
    assert_eq!(slo.verdict.terms[1].value, Some(20.0));
    assert_eq!(slo.verdict.outcome, Decision::Missed);
}

#[test]
fn what_the_server_asked_for_and_how_long_slots_waited() {
    let mut all = records(10);
    for (record, seconds) in all.iter_mut().skip(90).zip([1, 3, 2]) {
        record.retry_after = Some(seconds * SEC);
    }
    let found = level(&closed(0.01, None), all, |end| {
        (end.client.paused_ns, end.client.pauses, end.client.wall_ns) = (6 * SEC, 9, 15 * SEC);
    });
    let overload = found.overload.unwrap();
    assert_eq!(overload.retry_after_s, Some(RetryAfter { count: 3, min: 1.0, max: 3.0 }));
    let pauses = Pauses { count: 9, total_s: 6.0, share: Some(0.1) };
    assert_eq!((overload.pauses, overload.retried), (Some(pauses), None));
    assert!(found.notes.iter().any(|note| note.code == "paused"));
}

/// B12: "the slots waited 0.0 s in all, 97 % of their time", after a 400 for every request.
#[test]
fn waits_that_changed_nothing_are_not_reported() {
    let paused = |records: Vec<RequestRecord>, ns: u64| {
        let found = level(&closed(1.0, None), records, |end| {
            (end.client.paused_ns, end.client.pauses, end.client.wall_ns) = (ns, 100, 15 * SEC);
        });
        assert!(found.overload.unwrap().pauses.is_some());
        found.notes.iter().any(|note| note.code == "paused")
    };
    assert!(paused(records(10), 6 * SEC));
    assert!(!paused(records(10), 30 * MS));
    let refused = |record: RequestRecord| RequestRecord {
        outcome: Outcome::Failed(FailureClass::Http(400)),
        ..record
    };
    assert!(!paused(records(0).into_iter().map(refused).collect(), 6 * SEC));
}

#[test]
fn requests_that_were_sent_again_have_two_latencies() {
    let mut all = records(0);
    for (index, retries) in [(3, 1), (7, 4)] {
        let record = &mut all[index];
        record.retries = retries;
        record.first_refused = record.sent.map(|sent| sent + 2 * MS);
        (record.refused_as, record.retry_after) = (Some(FailureClass::Http(429)), Some(SEC));
    }
    let found = level(&closed(0.01, None), all, |_| {});
    let overload = found.overload.unwrap();
    assert_eq!(overload.retry_after_s, Some(RetryAfter { count: 2, min: 1.0, max: 1.0 }));
    assert_eq!(overload.refused_first, [("http.429".to_owned(), 2)].into());
    assert!(overload.shed.is_empty());
    let retried = overload.retried.unwrap();
    assert_eq!((retried.requests, retried.completed, retried.retries), (2, 2, 5));
    assert_eq!(retried.share, 0.02);
    assert_eq!(retried.first_refusal_ms.unwrap().p50, 2.0);
    // TTFT of 104 and 108 ms, and 80 ms of tokens.
    assert_eq!(retried.final_latency_ms.unwrap().max, 188.0);
    assert!(found.notes.iter().any(|note| note.code == "retried"));
    assert_eq!(found.verdict, Verdict::Valid);
}

#[test]
fn a_level_that_ended_by_max_failures_is_suspect() {
    let plan = Plan { max_failures: Some(3), ..closed(1.0, None) };
    let found = level(&plan, records(0), |end| end.ending = Ending::MaxFailures);
    assert_eq!(codes(&found), ["max_failures"]);
    assert_eq!(found.reasons[0].what, "stopped after 3 failures (--max-failures)");
}

#[test]
fn percentiles_with_failures_stand_beside_the_usual_ones() {
    let found = level(&closed(1.0, None), records(20), |_| {});
    let late = found.with_failures.unwrap();
    assert_eq!((late.requests, late.infinite), (100, 20));
    let ttft = late.ttft_ms.unwrap();
    // The 50th and 51st of 100 requests, of which the first 80 took 101 to 180 ms.
    assert_eq!((ttft.p50, ttft.get("p90")), (Some(150.5), Late::Infinitely));
    assert_eq!(ttft.infinite, ["p90", "p95", "p99"]);
    assert_eq!(late.latency_ms.unwrap().p50, Some(230.5));
    assert_eq!(found.times[dyno_model::metric::Time::Ttft].as_ref().unwrap().p50, Some(140.5));
    assert_eq!(late.ttft_scheduled_ms.unwrap().p50, Some(150.5));
}

proptest! {
    /// Against a plain computation with real infinities.
    #[test]
    fn late_percentiles_are_those_of_all_requests(
        ttfts in prop::collection::vec(1_u64..1000, 1..120),
        sheds in 1_u64..120,
    ) {
        let served = ttfts.len() as u64;
        let mut all: Vec<RequestRecord> =
            ttfts.iter().zip(0..).map(|(ttft, index)| stream(index, 0, 0, *ttft, 20, 2)).collect();
        all.extend((served..served + sheds).map(|index| shed(index, 0, 0, 503)));
        let plan = Plan { allow_failures: 1.0, ..burst_plan(served + sheds) };
        let found = summary_of(&plan, all).levels.remove(0).with_failures.unwrap().ttft_ms.unwrap();

        let mut times: Vec<f64> = ttfts.iter().map(|ttft| *ttft as f64).collect();
        times.sort_by(f64::total_cmp);
        times.extend((0..sheds).map(|_| f64::INFINITY));
        for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            let place = (times.len() - 1) as f64 * share;
            let (low, high) = (times[place.floor() as usize], times[place.ceil() as usize]);
            let expected = if high.is_infinite() { high } else { low + (high - low) * place.fract() };
            match found.get(name) {
                Late::Infinitely => prop_assert!(expected.is_infinite(), "{name} {expected}"),
                Late::By(ms) => prop_assert!((ms - expected).abs() < 1e-3, "{name} {ms} {expected}"),
                Late::Unknown => prop_assert!(times.len() < 40, "{name} of {}", times.len()),
            }
        }
    }
}

#[test]
fn reasoning_is_a_share_of_the_output() {
    let none = level(&closed(0.01, None), records(0), |_| {});
    assert_eq!(none.reasoning_tokens, None);
    let mut all = records(0);
    for record in all.iter_mut().take(10) {
        let tokens = record.output.unwrap().tokens;
        record.reasoning = Some(tokens / 2);
    }
    let each = all[0].output.unwrap().tokens;
    let found = level(&closed(0.01, None), all, |_| {});
    let reasoning = found.reasoning_tokens.unwrap();
    assert_eq!((reasoning.requests, reasoning.mean), (10, (each / 2) as f64));
    let share = (each / 2) as f64 / each as f64;
    assert!((reasoning.share.unwrap() - share).abs() < 1e-6);
    assert!(found.notes.iter().any(|note| note.code == "reasoning"));
    assert_eq!(found.verdict, Verdict::Valid);
}
