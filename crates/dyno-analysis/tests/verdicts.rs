//! Each rule of run validity, just over its limit.

mod common;

use common::*;
use dyno_analysis::summarise;
use dyno_model::Diagnostic;
use dyno_model::Verdict;
use dyno_model::environment::{Environment, Host, Preflight, Server};
use dyno_model::frame::{Ending, EngineSlip};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use dyno_model::summary::LevelSummary;
use dyno_model::{MS, SEC};

fn good() -> (dyno_model::plan::Plan, Vec<RequestRecord>) {
    closed(4, 25)
}

fn judged(
    change_records: impl FnOnce(&mut Vec<RequestRecord>),
    change_end: impl FnOnce(&mut dyno_model::frame::LevelEnd),
) -> LevelSummary {
    let (plan, mut records) = good();
    change_records(&mut records);
    summary_with(&plan, records, |end| {
        end.starved = Some(starved(25));
        change_end(end);
    })
    .levels
    .remove(0)
}

fn expect(level: &LevelSummary, verdict: Verdict, code: &str) {
    assert_eq!(level.verdict, verdict, "{:?}", level.reasons);
    assert_eq!(codes(&level.reasons), [code], "{:?}", level.reasons);
}

#[test]
fn a_healthy_level_is_valid_without_a_word() {
    let level = judged(|_| {}, |_| {});
    assert_eq!((level.verdict, level.reasons.len()), (Verdict::Valid, 0));
    assert!(level.notes.is_empty(), "{:?}", level.notes);
}

#[test]
fn late_sending_is_invalid() {
    let late = |ms: u64| {
        move |records: &mut Vec<RequestRecord>| {
            for r in records.iter_mut().take(5) {
                r.dispatched = Some(r.intended + ms * MS);
            }
        }
    };
    // A tenth of the median TTFT is 10 ms.
    assert_eq!(judged(late(9), |_| {}).verdict, Verdict::Valid);
    expect(&judged(late(12), |_| {}), Verdict::Invalid, "send_lag");
}

#[test]
fn however_slow_the_server_50_ms_are_too_much() {
    let slow = |records: &mut Vec<RequestRecord>| {
        for r in records.iter_mut() {
            r.first = r.sent.map(|t| t + SEC);
            r.dispatched = Some(r.intended + 60 * MS);
        }
    };
    let level = judged(slow, |_| {});
    expect(&level, Verdict::Invalid, "send_lag");
    assert!(level.reasons[0].what.contains("limit 50.0 ms"), "{}", level.reasons[0].what);
}

#[test]
fn late_reading_is_invalid_by_the_worse_of_two_lags() {
    let level = judged(|_| {}, |end| end.client.read_lag = lags(3 * MS));
    expect(&level, Verdict::Invalid, "read_lag");
    let level = judged(|_| {}, |end| end.client.timer_lag = lags(3 * MS));
    expect(&level, Verdict::Invalid, "read_lag");
    assert!(level.reasons[0].what.contains("timer"));
}

#[test]
fn an_engine_off_its_schedule_is_invalid() {
    let slip = |p99: u64| {
        move |end: &mut dyno_model::frame::LevelEnd| {
            end.slip = Some(EngineSlip { count: 9, p50_ns: 0, p99_ns: p99, max_ns: p99 });
        }
    };
    assert_eq!(judged(|_| {}, slip(MS)).verdict, Verdict::Valid);
    expect(&judged(|_| {}, slip(3 * MS)), Verdict::Invalid, "engine_slip");
}

#[test]
fn want_of_files_or_ports_is_invalid() {
    expect(&judged(|_| {}, |end| end.client.out_of_files = 1), Verdict::Invalid, "out_of_files");
    expect(&judged(|_| {}, |end| end.client.out_of_ports = 1), Verdict::Invalid, "out_of_ports");
}

#[test]
fn more_than_two_percent_unsent_is_invalid() {
    let drop = |n: usize| {
        move |records: &mut Vec<RequestRecord>| {
            for r in records.iter_mut().rev().take(n) {
                r.outcome = Outcome::Dropped("late".to_owned());
                r.dispatched = None;
                r.sent = None;
            }
        }
    };
    assert_eq!(judged(drop(2), |_| {}).verdict, Verdict::Valid);
    expect(&judged(drop(3), |_| {}), Verdict::Invalid, "off_schedule");
}

#[test]
fn records_must_add_up() {
    let lost = |records: &mut Vec<RequestRecord>| drop(records.pop());
    let level = judged(lost, |end| (end.issued, end.planned) = (100, Some(100)));
    expect(&level, Verdict::Invalid, "records_missing");
    let level = judged(|_| {}, |end| end.planned = Some(101));
    expect(&level, Verdict::Invalid, "short_of_plan");
    let level = judged(|_| {}, |end| end.warmup = 3);
    expect(&level, Verdict::Invalid, "records_missing");
}

#[test]
fn failures_above_the_bar_are_suspect() {
    let fail = |n: usize| {
        move |records: &mut Vec<RequestRecord>| {
            for r in records.iter_mut().take(n) {
                r.outcome = Outcome::Failed(FailureClass::TimeoutIdle);
            }
        }
    };
    let level = judged(fail(1), |_| {});
    assert_eq!((level.verdict, level.requests.bar_missed(0.01)), (Verdict::Valid, false));
    assert!(codes(&level.notes).contains(&"survivors_only"));
    let level = judged(fail(2), |_| {});
    expect(&level, Verdict::Suspect, "failures");
    assert!(level.requests.bar_missed(0.01));
}

#[test]
fn mixed_sources_and_a_moved_clock_are_suspect() {
    let mixed = |records: &mut Vec<RequestRecord>| {
        records[3].output = Some(TokenCount { tokens: 5, source: TokenSource::Events });
    };
    let level = judged(mixed, |_| {});
    expect(&level, Verdict::Suspect, "mixed_token_sources");
    assert_eq!(level.token_source.output.as_deref(), Some("mixed"));
    let stepped = judged(|_| {}, |end| end.client.clock_step_ns = -(60 * MS as i64));
    expect(&stepped, Verdict::Suspect, "clock_stepped");
}

#[test]
fn an_early_end_is_suspect() {
    for (ending, code) in [
        (Ending::Interrupted, "interrupted"),
        (Ending::TargetLost, "target_lost"),
        (Ending::Aborted, "aborted"),
    ] {
        expect(&judged(|_| {}, |end| end.ending = ending), Verdict::Suspect, code);
    }
}

#[test]
fn a_warm_up_that_takes_everything_is_named() {
    let all = |records: &mut Vec<RequestRecord>| {
        records.iter_mut().for_each(|r| r.phase = Phase::Warmup);
    };
    let level = judged(all, |_| {});
    expect(&level, Verdict::Suspect, "nothing_measured");
    assert!(level.reasons[0].what.contains("100 requests, was warm-up"), "{:?}", level.reasons);
    assert!(level.reasons[0].advice.as_ref().unwrap().contains("--warmup"));
    // Measured, but not answered.
    let one_failed = |records: &mut Vec<RequestRecord>| {
        all(records);
        records[99].phase = Phase::Measured;
        records[99].outcome = Outcome::Censored;
    };
    assert_eq!(codes(&judged(one_failed, |_| {}).reasons), ["nothing_completed"]);
    // Nor was anything warmed up.
    let level = judged(Vec::clear, |end| end.ending = Ending::Duration);
    expect(&level, Verdict::Suspect, "nothing_measured");
    assert!(level.reasons[0].what.contains("no request was due"), "{:?}", level.reasons);
}

#[test]
fn no_steady_window_is_suspect() {
    let level = judged(|_| {}, |end| end.starved = Some(300 * MS));
    expect(&level, Verdict::Suspect, "no_steady_window");
    let one_slot = |records: &mut Vec<RequestRecord>| {
        records.iter_mut().for_each(|r| r.slot = r.slot.min(2));
    };
    expect(&judged(one_slot, |_| {}), Verdict::Suspect, "no_steady_window");
}

#[test]
fn a_level_without_its_end_is_partial() {
    let (plan, records) = good();
    let summary = summarise(&plan, None, &source(&plan, frames(records, None)));
    assert!(summary.run.partial && summary.levels[0].partial);
    expect(&summary.levels[0], Verdict::Suspect, "partial");
    assert_eq!(summary.levels[0].requests.planned, Some(100));
    assert!(summary.levels[0].steady.is_some());
    assert_eq!(summary.worst_verdict(), Verdict::Suspect);
    assert!(!summary.failure_bar_missed());
}

#[test]
fn time_ends_a_level_without_blame() {
    let level = judged(
        |_| {},
        |end| {
            (end.ending, end.planned, end.starved) = (Ending::Duration, Some(500), None);
        },
    );
    assert_eq!((level.verdict, level.requests.planned), (Verdict::Valid, Some(100)));
}

#[test]
fn lengths_and_streams_are_noted_without_changing_the_verdict() {
    let odd = |records: &mut Vec<RequestRecord>| {
        for r in records.iter_mut() {
            r.input = usage(120);
            r.requested_output = Some(8);
        }
        records[0].terminal = false;
        records[1].resent = true;
    };
    let level = judged(odd, |_| {});
    assert_eq!(level.verdict, Verdict::Valid);
    let notes = ["input_length", "output_length", "no_terminal_event", "resent"];
    assert_eq!(codes(&level.notes), notes);
}

#[test]
fn what_the_preflight_found_is_carried_over() {
    let (plan, mut records) = good();
    records.iter_mut().for_each(|r| r.requested_output = Some(8));
    let note = Diagnostic::new("no_usage", "the server sends no usage", None::<String>);
    let env = Environment {
        schema: "dyno.environment/1".to_owned(),
        dyno: "0.1.0".to_owned(),
        host: Host::default(),
        server: Server::default(),
        preflight: Some(Preflight {
            model: "found".to_owned(),
            length_field: Some("ignore_eos".to_owned()),
            ..Preflight::default()
        }),
        notes: vec![note],
        attempts: None,
    };
    let mut src = source(&plan, frames(records, None));
    src.damaged = Some("cut off at byte 7".to_owned());
    src.header.plan_hash = "other".to_owned();
    let summary = summarise(&plan, Some(&env), &src);
    assert_eq!(codes(&summary.notes), ["records_damaged", "plan_differs", "no_usage"]);
    assert_eq!(summary.run.model.as_deref(), Some("found"));
    assert!(!codes(&summary.levels[0].notes).contains(&"output_length"));
}
