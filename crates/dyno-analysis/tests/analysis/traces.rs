//! Replayed traces: an open loop whose load varies by itself.

use dyno_model::MS;
use dyno_model::Verdict;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::RequestRecord;
use dyno_model::summary::LevelSummary;
use dyno_testing::runs::*;

const TRACE: Load = Load::Trace { speed: 2.0 };
const RATE: Load = Load::Rate { rate: 10.0, arrival: Arrival::Constant };

fn level(load: Load, records: Vec<RequestRecord>) -> LevelSummary {
    let requests = records.len() as u64;
    summary_of(&plan(vec![level_plan("trace x2", load, Some(requests))]), records).levels.remove(0)
}

/// Ever shorter gaps between arrivals that the server answers as quickly as ever.
fn speeding_up() -> Vec<RequestRecord> {
    let mut at = 0;
    let arrival = |i: u64| {
        at += 200 - i / 2;
        stream(i, 0, at, 100, 20, 5)
    };
    (0..360).map(arrival).collect()
}

/// Arrivals at an even rate that are answered ever later.
fn falling_behind() -> Vec<RequestRecord> {
    (0..100).map(|i| stream(i, 0, i * 100, 100 + i * 20, 20, 5)).collect()
}

#[test]
fn a_trace_has_the_window_of_an_open_loop() {
    let records: Vec<_> = (0..100).map(|i| stream(i, 0, i * 100, 100, 20, 5)).collect();
    let trace = level(TRACE, records.clone());
    assert_eq!((trace.load.kind, trace.load.value), (LoadKind::Trace, Some(2.0)));
    // From one p95 latency (180 ms) to the last arrival at 9900 ms.
    assert_eq!(trace.steady.unwrap().window_s, 9.72);
    assert_eq!(trace.steady, level(RATE, records).steady);
    assert_eq!(trace.verdict, Verdict::Valid);
    assert!(trace.times[Time::Ttft].clone().unwrap().ci95.mean.is_some());
}

#[test]
fn a_trace_that_speeds_up_is_not_to_blame() {
    let trace = level(TRACE, speeding_up());
    assert_eq!((trace.verdict, trace.steady), (Verdict::Valid, None));
    assert_eq!(codes(&trace.notes), ["trace_trend"]);
    assert!(trace.notes[0].what.contains("its arrival rate changed by +"), "{:?}", trace.notes);
    assert_eq!(codes(&level(RATE, speeding_up()).reasons), ["no_steady_window"]);
}

#[test]
fn a_server_that_falls_behind_a_trace_is_reported() {
    let trace = level(TRACE, falling_behind());
    assert_eq!((trace.verdict, trace.steady), (Verdict::Valid, None));
    assert_eq!(codes(&trace.notes)[0], "trace_trend");
    assert!(trace.notes[0].what.ends_with("its arrival rate has no trend"), "{:?}", trace.notes);
}

#[test]
fn a_trace_shorter_than_its_responses_is_too_short() {
    let records = (0..100).map(|i| stream(i, 0, i * 10, 1000 + i * 20, 20, 5)).collect();
    let trace = level(TRACE, records);
    assert_eq!(codes(&trace.reasons), ["no_steady_window"]);
    assert!(trace.reasons[0].what.contains("two median latencies"), "{:?}", trace.reasons);
    // B12: a trace has no full load, and sends what it has.
    let said = format!("{:?}", trace.reasons[0]);
    assert!(!said.contains("full load") && !said.contains("--requests"), "{said}");
    assert!(said.contains("a longer part of the trace"), "{said}");
}

#[test]
fn advice_for_a_trace_is_about_the_trace() {
    let short: Vec<_> = (0..10).map(|i| stream(i, 0, i * 50, 100, 20, 5)).collect();
    let advice = |load| {
        let notes = level(load, short.clone()).notes;
        notes.into_iter().find(|note| note.code == "no_interval").unwrap().advice.unwrap()
    };
    assert_eq!(advice(TRACE), "replay 3 s of the trace or more, or lower speed=");
    assert_eq!(advice(RATE), "use --requests 46");

    let far_apart = || vec![stream(0, 0, 0, 100, 20, 5), stream(1, 0, 10_000, 100, 20, 5)];
    let idle = |load| {
        let reason = level(load, far_apart()).reasons.remove(0);
        assert!(reason.what.contains("nothing was in flight"), "{reason:?}");
        reason.advice.unwrap()
    };
    assert!(idle(TRACE).contains("busier part of the trace"), "{}", idle(TRACE));
    assert!(idle(RATE).ends_with("send more, or at a higher rate"), "{}", idle(RATE));
}

#[test]
fn a_late_replay_is_invalid() {
    let mut records = falling_behind();
    records.iter_mut().for_each(|r| {
        r.intended = r.intended.saturating_sub(400 * MS);
        r.dispatched = Some(r.intended + 60 * MS);
    });
    let trace = level(TRACE, records);
    assert_eq!(trace.verdict, Verdict::Invalid, "{:?}", trace.reasons);
    assert_eq!(trace.reasons[0].code, "instrument_range");
    assert_eq!(codes(&trace.notes)[0], "send_lag");
    assert_eq!(trace.client.send_lag_ms.unwrap().max, 60.0);
}
