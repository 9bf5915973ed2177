//! Every metric against numbers worked out by hand.

use dyno_model::MS;
use dyno_model::metric::Time;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load, Warmup};
use dyno_model::record::Phase;
use dyno_model::summary::LevelSummary;
use dyno_testing::runs::*;

fn burst(records: Vec<dyno_model::record::RequestRecord>) -> LevelSummary {
    let plan = burst_plan(records.len() as u64);
    summary_of(&plan, records).levels.remove(0)
}

#[test]
fn times_of_two_streams() {
    let mut a = stream(0, 0, 10, 100, 20, 5);
    a.intended = 4 * MS;
    a.dispatched = Some(7 * MS);
    let b = stream(1, 0, 20, 200, 30, 3);
    let level = burst(vec![a, b]);
    let ttft = level.times[Time::Ttft].clone().unwrap();
    assert_eq!((ttft.count, ttft.mean, ttft.std), (Some(2), Some(150.0), Some(50.0)));
    assert_eq!((ttft.min, ttft.p50, ttft.max), (Some(100.0), Some(150.0), Some(200.0)));
    assert_eq!((ttft.p66, ttft.p90, ttft.p99, ttft.p99_9), (None, None, None, None));
    let scheduled = level.times[Time::TtftScheduled].clone().unwrap();
    assert_eq!((scheduled.min, scheduled.max), (Some(106.0), Some(200.0)));
    let latency = level.times[Time::Latency].clone().unwrap();
    assert_eq!((latency.min, latency.max), (Some(180.0), Some(260.0)));
    assert_eq!(level.times[Time::LatencyScheduled].clone().unwrap().min, Some(186.0));
    let tpot = level.times[Time::Tpot].clone().unwrap();
    assert_eq!((tpot.min, tpot.max), (Some(20.0), Some(30.0)));
    let itl = level.times[Time::Itl].clone().unwrap();
    assert_eq!((itl.count, itl.p50, itl.max), (Some(6), Some(20.0), Some(30.0)));
    assert_eq!(level.times[Time::ChunkGap].clone().unwrap().count, Some(6));
    assert_eq!(level.client.send_lag_ms.unwrap().max, 3.0);
    // From the first `sent` at 10 ms to the last `end` at 280 ms.
    assert_eq!(level.duration_s, Some(0.27));
    assert_eq!(level.throughput.requests_per_s, Some(7.40741));
    assert_eq!(level.throughput.output_tokens_per_s, Some(29.6296));
    assert_eq!(level.throughput.total_tokens_per_s, Some(770.37));
    let flight = level.concurrency.unwrap();
    assert_eq!((flight.mean, flight.peak), (1.62963, 2));
    let tokens = level.output_tokens.unwrap();
    assert_eq!((tokens.total, tokens.mean), (Some(8), 4.0));
    assert_eq!(level.token_source.output.as_deref(), Some("usage"));
}

#[test]
fn several_tokens_in_a_chunk_share_its_gap() {
    let mut r = stream(0, 0, 0, 100, 20, 1);
    r.chunks.push(130 * MS, false, 3);
    r.chunks.push(130 * MS, true, 1);
    r.chunk_tokens_known = true;
    r.last = Some(140 * MS);
    r.end = 141 * MS;
    r.finish_tokens = Some(1);
    r.output = usage(6);
    let level = burst(vec![r.clone(), r]);
    let itl = level.times[Time::Itl].clone().unwrap();
    // Per request: 30 ms over three tokens, 0 for the coalesced one, 10 to the finish event.
    assert_eq!(
        (itl.count, itl.mean, itl.min, itl.max),
        (Some(10), Some(8.0), Some(0.0), Some(10.0))
    );
    let gap = level.times[Time::ChunkGap].clone().unwrap();
    assert_eq!((gap.count, gap.max), (Some(6), Some(30.0)));
    assert_eq!(level.times[Time::Tpot].clone().unwrap().mean, Some(8.0));
    assert_eq!(level.integrity.coalesced_share, Some(0.333333));
    assert_eq!(level.integrity.multi_token_share, Some(0.333333));
}

#[test]
fn an_empty_finish_event_that_brought_the_last_token_ends_a_gap() {
    let mut r = stream(0, 0, 0, 100, 20, 4);
    r.last = Some(185 * MS);
    r.end = 185 * MS;
    r.output = usage(5);
    let level = burst(vec![r]);
    let itl = level.times[Time::Itl].clone().unwrap();
    assert_eq!((itl.count, itl.max), (Some(4), Some(25.0)));
    let mut r = stream(0, 0, 0, 100, 20, 4);
    r.last = Some(185 * MS);
    r.output = usage(4);
    assert_eq!(burst(vec![r]).times[Time::ChunkGap].clone().unwrap().count, Some(3));
}

#[test]
fn itl_is_absent_where_tokens_per_chunk_are_unknown() {
    let mut r = stream(0, 0, 0, 100, 20, 4);
    r.output = usage(9);
    let level = burst(vec![r]);
    assert!(level.times[Time::Itl].is_none());
    assert_eq!(level.times[Time::ChunkGap].clone().unwrap().count, Some(3));
    assert_eq!(level.times[Time::Tpot].clone().unwrap().mean, Some(7.5));
    assert_eq!(level.integrity.multi_token_share, None);
    assert!(codes(&level.notes).contains(&"no_token_times"));
}

#[test]
fn a_response_that_was_not_streamed_has_only_latency() {
    let mut r = stream(0, 0, 0, 100, 20, 4);
    r.streamed = false;
    r.chunks = Default::default();
    r.first = None;
    r.last = None;
    r.end = 500 * MS;
    let level = burst(vec![r]);
    assert!(
        level.times[Time::Ttft].is_none()
            && level.times[Time::Tpot].is_none()
            && level.times[Time::Itl].is_none()
    );
    assert!(level.times[Time::ChunkGap].is_none() && level.integrity.no_terminal_share.is_none());
    assert_eq!(level.times[Time::Latency].clone().unwrap().mean, Some(500.0));
}

#[test]
fn one_token_has_no_tpot_and_one_sample_no_spread() {
    let level = burst(vec![stream(0, 0, 0, 100, 20, 1)]);
    assert!(level.times[Time::Tpot].is_none() && level.times[Time::Itl].is_none());
    let ttft = level.times[Time::Ttft].clone().unwrap();
    assert_eq!((ttft.std, ttft.p50, ttft.mean), (None, None, Some(100.0)));
}

#[test]
fn outcomes_are_counted_separately_and_absent_is_not_zero() {
    let mut dropped = failure(1, 0, 0, 5, FailureClass::Client, "");
    dropped.outcome = Outcome::Dropped("no file descriptor".to_owned());
    dropped.dispatched = None;
    dropped.sent = None;
    let mut censored = failure(2, 0, 0, 9_000, FailureClass::Client, "");
    censored.outcome = Outcome::Censored;
    censored.resent = true;
    let failed = failure(3, 0, 10, 50, FailureClass::Http(503), "overloaded\x1b[2J");
    let level = burst(vec![failed, dropped, censored]);
    let r = &level.requests;
    assert_eq!((r.planned, r.completed, r.failed), (Some(3), Some(0), Some(1)));
    assert_eq!((r.dropped, r.censored, r.resent), (Some(1), Some(1), Some(1)));
    assert_eq!(r.failures["http.503"], 1);
    assert_eq!(level.failure_samples["http.503"], ["overloaded\\u{1b}[2J"]);
    // The censored request's end is no end of an answer.
    assert_eq!(level.duration_s, Some(0.05));
    // A request ended and none completed: that is a throughput of 0.
    assert_eq!(level.throughput.requests_per_s, Some(0.0));
    assert_eq!(level.throughput.output_tokens_per_s, Some(0.0));
    assert_eq!(level.throughput.inputs_per_s, None, "nothing was embedded");
    assert!(level.times[Time::Latency].is_none() && level.output_tokens.is_none());
}

#[test]
fn where_nothing_ended_throughput_is_absent() {
    let mut censored = failure(0, 0, 0, 9_000, FailureClass::Client, "");
    censored.outcome = Outcome::Censored;
    let level = burst(vec![censored]);
    assert_eq!((level.duration_s, level.throughput.requests_per_s), (None, None));
}

#[test]
fn unknown_token_counts_leave_sums_out() {
    let mut r = stream(1, 0, 0, 100, 20, 5);
    r.input = None;
    let level = burst(vec![stream(0, 0, 0, 100, 20, 5), r]);
    assert_eq!(level.throughput.total_tokens_per_s, None);
    assert!(level.throughput.output_tokens_per_s.is_some());
    let input = level.input_tokens.unwrap();
    assert_eq!((input.total, input.mean), (None, 100.0));
}

#[test]
fn the_steady_window_of_a_closed_loop_counts_the_work_done_in_it() {
    let (plan, records) = closed(4, 10);
    let level =
        summary_with(&plan, records, |end| end.starved = Some(starved(10))).levels.remove(0);
    let steady = level.steady.unwrap();
    // All slots have sent at 6 ms, and a latency of 180 ms later they are warm; the first finds nothing at
    // 1809 ms.
    assert_eq!(steady.window_s, 1.623);
    // Of the second wave, slots 0 to 2 spent 5, 3 and 1 of 180 ms before it; of the last, slots 1 to 3 spend
    // 2, 4 and 6 ms after it.
    let requests = 36.0 - 21.0 / 180.0;
    let rounded =
        |per_s: f64, digits: i32| Some((per_s * 10_f64.powi(digits)).round() / 10_f64.powi(digits));
    let per_s = requests / 1.623;
    assert_eq!(steady.throughput.requests_per_s, rounded(per_s, 4));
    // Its 5 output and 100 input tokens count with the same share (B2).
    assert_eq!(steady.throughput.output_tokens_per_s, rounded(5.0 * per_s, 3));
    assert_eq!(steady.throughput.total_tokens_per_s, rounded(105.0 * per_s, 2));
    let short = level.notes.iter().find(|note| note.code == "no_interval").unwrap();
    // Eight blocks of two median latencies of about 0.18 s; 40 requests took 1.815 s.
    assert_eq!(short.advice.as_deref(), Some("use --requests 16x"));
}

#[test]
fn intervals_come_with_enough_blocks_of_time() {
    let (plan, mut records) = closed(4, 40);
    for r in &mut records {
        r.first = r.first.map(|t| t + (r.index * 7919 % 13) * MS);
    }
    let level = summary_of(&plan, records).levels.remove(0);
    let ttft = level.times[Time::Ttft].clone().unwrap();
    let (mean, [low, high]) = (ttft.mean.unwrap(), ttft.ci95.mean.unwrap());
    assert!(100.0 < low && low < mean && mean < high && high < 112.0, "{low} {mean} {high}");
    assert_eq!(level.times[Time::Itl].clone().unwrap().ci95.p99, Some([20.0, 20.0]));
    assert!(!codes(&level.notes).contains(&"no_interval"));
}

#[test]
fn a_queue_that_outgrows_its_window_is_reported_as_overload() {
    let records = (0..100).map(|i| stream(i, 0, i * 100, 100 + i * 60, 20, 5)).collect();
    let level = summary_of(&open_plan(10.0, 100), records).levels.remove(0);
    assert!(level.reasons[0].what.contains("could not keep up"), "{}", level.reasons[0].what);
    assert_eq!(level.saturated, Some(true));
}

#[test]
fn warm_up_is_not_sampled_but_counts_as_work_in_the_window() {
    let (mut plan, mut records) = closed(2, 10);
    plan.levels[0].warmup = Some(Warmup::Requests(2));
    records.iter_mut().take(2).for_each(|r| r.phase = Phase::Warmup);
    let level =
        summary_with(&plan, records, |end| end.starved = Some(starved(10))).levels.remove(0);
    assert_eq!(level.requests.completed, Some(18));
    assert_eq!(level.times[Time::Latency].clone().unwrap().count, Some(18));
    // From 183 ms, when both slots have sent a measured request, to 1809 ms. The warm-up ended before it.
    // Slot 0 spent 2 of 180 ms on its first request before it; slot 1 spends 2 ms on its last after it.
    let steady = level.steady.unwrap();
    assert_eq!(steady.window_s, 1.626);
    let tokens = 5.0 * (18.0 - 4.0 / 180.0);
    assert_eq!(
        steady.throughput.output_tokens_per_s,
        Some((tokens / 1.626_f64 * 1e4).round() / 1e4)
    );
    let (mut plan, mut records) = closed(2, 10);
    plan.levels[0].warmup = Some(Warmup::Requests(2));
    records.iter_mut().take(2).for_each(|r| r.phase = Phase::Warmup);
    (records[0].last, records[0].end) = (Some(200 * MS), 200 * MS);
    let more = summary_with(&plan, records, |end| end.starved = Some(starved(10)));
    let steady = more.levels[0].steady.unwrap();
    // 17 of 200 ms of a request with 5 tokens are inside.
    let tokens = tokens + 5.0 * 0.085;
    assert_eq!(
        steady.throughput.output_tokens_per_s,
        Some((tokens / 1.626_f64 * 1e4).round() / 1e4)
    );
}

fn open_plan(rate: f64, requests: u64) -> dyno_model::plan::Plan {
    let load = Load::Rate { rate, arrival: Arrival::Constant };
    plan(vec![level_plan("10/s", load, Some(requests))])
}

#[test]
fn the_steady_window_of_an_open_loop_starts_after_ramp_up() {
    let records = (0..100).map(|i| stream(i, 0, i * 100, 100, 20, 5)).collect();
    let level = summary_of(&open_plan(10.0, 100), records).levels.remove(0);
    let steady = level.steady.unwrap();
    // From one p95 latency (180 ms) to the last arrival at 9900 ms.
    assert_eq!(steady.window_s, 9.72);
    assert!((steady.throughput.requests_per_s.unwrap() - 10.0).abs() < 0.1);
}

#[test]
fn a_growing_queue_has_no_steady_window() {
    let records = (0..100).map(|i| stream(i, 0, i * 100, 100 + i * 20, 20, 5)).collect();
    let level = summary_of(&open_plan(10.0, 100), records).levels.remove(0);
    assert!(level.steady.is_none());
    assert_eq!(codes(&level.reasons), ["no_steady_window"]);
    assert!(level.reasons[0].what.contains("could not keep up"), "{}", level.reasons[0].what);
    assert_eq!(level.saturated, Some(true));
}

#[test]
fn stragglers_are_named() {
    let (plan, mut records) = closed(2, 10);
    let straggler = records.last_mut().unwrap();
    *straggler = stream(19, 1, straggler.sent.unwrap() / MS, 100, 2000, 5);
    let level =
        summary_with(&plan, records, |end| end.starved = Some(starved(10))).levels.remove(0);
    assert_eq!(level.stragglers.len(), 1);
    let s = &level.stragglers[0];
    // It ended at 1631 + 8100 ms, the last other one at 1809 ms.
    assert_eq!((s.index, s.took_ms, s.stretched_s), (19, 8100.0, 7.922));
    assert!(codes(&level.notes).contains(&"stragglers"));
    assert!(level.steady.unwrap().throughput.requests_per_s.unwrap() > 10.0);
}

#[test]
fn bursts_and_missing_ends_show_in_integrity() {
    let mut at_once = stream(0, 0, 0, 100, 20, 1);
    (0..9).for_each(|_| at_once.chunks.push(100 * MS, true, 1));
    at_once.output = usage(10);
    at_once.terminal = false;
    let level = burst(vec![at_once, stream(1, 0, 0, 100, 20, 10)]);
    assert_eq!(level.integrity.one_burst_share, Some(0.5));
    assert_eq!(level.integrity.no_terminal_share, Some(0.5));
    assert_eq!(level.integrity.coalesced_share, Some(0.45));
    assert!(codes(&level.notes).contains(&"coalesced"), "{:?}", level.notes);
}
