//! Each rule of run validity, just over its limit.

use dyno_analysis::summarise;
use dyno_model::Diagnostic;
use dyno_model::Verdict;
use dyno_model::chunks::ChunkTrack;
use dyno_model::environment::{Environment, Host, Preflight, Server};
use dyno_model::frame::{Ending, EngineSlip};
use dyno_model::instrument::Quality;
use dyno_model::metric::{Metric, Statistic, Time};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{RequestRecord, TokenCount, TokenSource, Widths};
use dyno_model::summary::LevelSummary;
use dyno_model::{MS, SEC};
use dyno_testing::runs::*;

fn good() -> (dyno_model::plan::Plan, Vec<RequestRecord>) {
    closed(4, 25)
}

pub(crate) fn judged(
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

pub(crate) fn expect(level: &LevelSummary, verdict: Verdict, code: &str) {
    assert_eq!(level.verdict, verdict, "{:?}", level.reasons);
    assert_eq!(codes(&level.reasons), [code], "{:?}", level.reasons);
}

#[test]
fn a_healthy_level_is_valid_without_findings() {
    let level = judged(|_| {}, |_| {});
    assert_eq!((level.verdict, level.reasons.len()), (Verdict::Valid, 0));
    assert!(level.notes.is_empty(), "{:?}", level.notes);
}

/// Says of every `each`-th request how exactly its times are known.
fn loose(each: usize, widths: Widths) -> impl FnOnce(&mut Vec<RequestRecord>) {
    move |records| {
        records.iter_mut().step_by(each).for_each(|record| record.widths = Some(widths));
    }
}

fn first(ms: u64) -> Widths {
    Widths { first: ms * MS, ..Widths::default() }
}

#[test]
fn the_verdict_follows_the_instrument_ranges() {
    // TTFT is 100 ms: good to 2 ms, fair to 10.
    let level = judged(loose(1, first(1)), |_| {});
    assert_eq!(level.verdict, Verdict::Valid);
    let ttft = level.times[Time::Ttft].as_ref().unwrap().instrument.unwrap();
    assert_eq!((ttft.mean, ttft.p99), (Some([99.0, 100.0]), Some([99.0, 100.0])));
    expect(&judged(loose(1, first(6)), |_| {}), Verdict::Suspect, "instrument_range");
    let level = judged(loose(1, first(26)), |_| {});
    assert_eq!(
        (level.verdict, level.reasons[0].code.as_str()),
        (Verdict::Invalid, "instrument_range")
    );
    let what = &level.reasons[0].what;
    assert!(what.contains("TTFT mean 74.0–100 ms"), "{what}");
    // Latency, work and the gaps between tokens are good, and not named.
    assert!(!what.contains("latency") && !what.contains("req/s"), "{what}");
    assert_eq!(
        level.quality(Metric::Time(Time::Latency), Some(Statistic::Mean)),
        Some(Quality::Good)
    );
    assert_eq!(level.quality(Metric::Time(Time::Ttft), Some(Statistic::P50)), Some(Quality::Poor));
}

#[test]
fn that_the_other_metrics_are_accurate_is_said_once_and_where_some_are() {
    let said = |level: &LevelSummary| {
        let advice = level.reasons.iter().filter_map(|reason| reason.advice.as_deref());
        advice.filter(|advice| advice.contains("neither named here nor marked")).count()
    };
    // The mean is fair, and a high percentile known only to a range: two findings.
    let level = judged(loose(10, first(26)), |_| {});
    assert_eq!((level.verdict, said(&level)), (Verdict::Suspect, 1), "{:?}", level.reasons);
    let level = judged(loose(1, first(26)), |_| {});
    assert_eq!((level.verdict, said(&level)), (Verdict::Invalid, 0), "{:?}", level.reasons);
    let level = judged(loose(1, first(6)), |end| end.issued += 9);
    assert_eq!((level.verdict, said(&level)), (Verdict::Invalid, 0), "{:?}", level.reasons);
}

#[test]
fn a_few_uncertain_requests_do_not_affect_the_rest() {
    // One in a hundred: the mean is off by a quarter of a per cent, and no percentile by much.
    let level = judged(loose(100, first(26)), |_| {});
    assert_eq!(level.verdict, Verdict::Valid, "{:?}", level.reasons);
    // One in ten: the mean is within 3 %, the median exact, and the lowest tenth nobody prints.
    let level = judged(loose(10, first(26)), |_| {});
    assert_eq!(level.verdict, Verdict::Suspect);
    let all: String = level.reasons.iter().map(|reason| reason.what.as_str()).collect();
    assert!(all.contains("TTFT mean 97.4–100 ms") && !all.contains("p50"), "{all}");
}

#[test]
fn a_closed_loop_whose_slots_stand_empty_did_not_offer_its_load() {
    let empty = |ms: u64| loose(1, Widths { intended: ms * MS, ..Widths::default() });
    assert_eq!(judged(empty(1), |_| {}).verdict, Verdict::Valid);
    let level = judged(empty(10), |_| {});
    assert_eq!(level.verdict, Verdict::Suspect, "{:?}", level.reasons);
    assert!(codes(&level.reasons).contains(&"effective_concurrency"), "{:?}", level.reasons);
    let level = judged(empty(40), |_| {});
    assert_eq!(level.verdict, Verdict::Invalid, "{:?}", level.reasons);
    let instrument = level.instrument.unwrap();
    let share = instrument.effective_concurrency.unwrap();
    assert!((0.7..0.9).contains(&share), "{share}");
    let [_, most] = instrument.throughput.requests_per_s.unwrap();
    let printed = level.steady.unwrap().throughput.requests_per_s.unwrap();
    assert!((most - printed / share).abs() < 1e-3, "{most} {printed}");
}

#[test]
fn a_burst_that_was_not_sent_at_once_is_not_the_load_that_was_requested() {
    // Each takes 180 ms; they leave one after another, the last `over` milliseconds after the first.
    let sent = |over: u64| {
        let late = |i: u64| {
            let mut record = stream(i, 0, i * over / 199, 100, 20, 5);
            record.intended = 0;
            record
        };
        summary_of(&burst_plan(200), (0..200).map(late).collect()).levels.remove(0)
    };
    let level = sent(17);
    assert!(!codes(&level.reasons).contains(&"burst_spread"), "{:?}", level.reasons);
    let level = sent(20);
    assert_eq!(level.verdict, Verdict::Invalid);
    let found = level.reasons.iter().find(|reason| reason.code == "burst_spread").unwrap();
    assert!(found.what.contains("send delay p99 19 ms"), "{}", found.what);
    // Another load with the same delays has them in the times from its schedule.
    let (plan, mut records) = good();
    records.iter_mut().for_each(|record| record.intended = 0);
    assert!(!codes(&summary_of(&plan, records).levels[0].reasons).contains(&"burst_spread"));
}

#[test]
fn notes_about_the_client_do_not_change_the_verdict() {
    let stalled = |blind: u64, cpu: u64| {
        judged(
            |_| {},
            |end| {
                end.client.longest_stall_ns = 40 * MS;
                end.client.blind_ns = blind * MS;
                (end.client.wall_ns, end.client.cpu_ns) = (10 * SEC, cpu * SEC / 10);
            },
        )
    };
    for (cpu, what, advice) in
        [(1, "was running something else", "taskset"), (95, "one core", "fewer streams")]
    {
        let level = stalled(900, cpu);
        assert_eq!(level.verdict, Verdict::Valid);
        let note = level.notes.iter().find(|note| note.code == "client_stalled").unwrap();
        assert!(note.what.contains(what), "{}", note.what);
        assert!(note.advice.as_ref().unwrap().contains(advice), "{:?}", note.advice);
    }
    let harmless = stalled(90, 1);
    assert_eq!(codes(&harmless.notes), [""; 0], "no metric is uncertain for 90 ms in 10 s");
    let late = |records: &mut Vec<RequestRecord>| {
        records.iter_mut().for_each(|r| r.dispatched = Some(r.intended + 12 * MS));
    };
    assert!(codes(&judged(late, |_| {}).notes).contains(&"send_lag"));
    let waits = judged(
        |_| {},
        |end| {
            end.client.wall_ns = 10 * SEC;
            (end.client.awaited_prompts_ns, end.client.awaited_records_ns) = (SEC, 2 * SEC);
            end.client.out_of_files = 1;
            end.client.clock_step_ns = -(60 * MS as i64);
        },
    );
    let notes = ["out_of_files", "clock_stepped", "awaited_prompts", "awaited_records"];
    assert_eq!((waits.verdict, codes(&waits.notes)), (Verdict::Valid, notes.to_vec()));
    let blind = judged(|_| {}, |end| end.client.unstamped_reads = 100);
    assert_eq!(codes(&blind.notes), ["no_kernel_stamps"]);
}

#[test]
fn records_without_accuracy_are_suspect_at_best() {
    let old = |records: &mut Vec<RequestRecord>| records.iter_mut().for_each(|r| r.widths = None);
    let level = judged(old, |end| end.client.read_lag = lags(3 * MS));
    expect(&level, Verdict::Suspect, "no_instrument_ranges");
    assert_eq!((codes(&level.notes), level.instrument), (vec!["read_lag"], None));
    assert!(level.times[Time::Ttft].as_ref().unwrap().instrument.is_none());
    let level = judged(old, |end| {
        (end.client.read_lag, end.client.timer_lag) = (lags(MS), lags(3 * MS));
    });
    assert!(level.notes[0].what.contains("timer"), "{:?}", level.notes);
}

#[test]
fn a_late_embedded_engine_widens_the_instrument_ranges() {
    let slip = |p99: u64| {
        move |end: &mut dyno_model::frame::LevelEnd| {
            let mean_ns = Some(p99 / 4);
            end.slip = Some(EngineSlip { count: 9, mean_ns, p50_ns: 0, p99_ns: p99, max_ns: p99 });
        }
    };
    let (mut plan, records) = good();
    plan.target.url = None;
    let of = |p99: u64| {
        let records = records.clone();
        let change = |end: &mut dyno_model::frame::LevelEnd| {
            end.starved = Some(starved(25));
            slip(p99)(end);
        };
        summary_with(&plan, records, change).levels.remove(0)
    };
    let level = of(20 * MS);
    assert_eq!(level.verdict, Verdict::Suspect, "{:?}", level.reasons);
    let ttft = level.times[Time::Ttft].as_ref().unwrap().instrument.unwrap();
    assert_eq!(
        (ttft.mean, ttft.p50, ttft.p99),
        (Some([95.0, 100.0]), Some([100.0; 2]), Some([80.0, 100.0]))
    );
    // Of the delay, only the p99 is known to bound what lies between.
    let between = [Statistic::P75, Statistic::P90, Statistic::P95, Statistic::P98];
    assert_eq!(between.map(|which| ttft.get(which)), [Some([80.0, 100.0]); 4]);
    let marked = &level.times[Time::Ttft].as_ref().unwrap().uncertain;
    assert!(["p90", "p95"].iter().all(|which| marked.contains(&(*which).to_owned())), "{marked:?}");
    let advice = |level: &LevelSummary| {
        level.notes.iter().find(|note| note.code == "engine_slip").unwrap().advice.clone().unwrap()
    };
    assert!(advice(&level).starts_with("latencies and their percentiles"));
    // Of a server elsewhere, whatever it did is what was measured.
    let (_, records) = good();
    let level = judged(|all| *all = records, slip(20 * MS));
    assert_eq!(level.verdict, Verdict::Valid, "{:?}", level.reasons);
    assert!(codes(&level.notes).contains(&"engine_slip"));
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
fn mixed_sources_are_suspect() {
    let mixed = |records: &mut Vec<RequestRecord>| {
        records[3].output = Some(TokenCount { tokens: 5, source: TokenSource::Events });
    };
    let level = judged(mixed, |_| {});
    expect(&level, Verdict::Suspect, "mixed_token_sources");
    assert_eq!(level.token_source.output.as_deref(), Some("mixed"));
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

/// H1: arrivals that were not sent have no records, and the level is invalid however few they are.
#[test]
fn a_client_behind_its_schedule_makes_the_level_invalid() {
    for planned in [101, 100_000] {
        let level = judged(
            |_| {},
            |end| {
                (end.ending, end.planned) = (Ending::BehindSchedule, Some(planned));
                end.client.behind_ns = 5_123_000_000;
            },
        );
        expect(&level, Verdict::Invalid, "behind_schedule");
        assert_eq!(level.requests.planned, Some(planned));
        assert!(!codes(&level.reasons).contains(&"off_schedule"), "{:?}", level.reasons);
        let text =
            &level.reasons.iter().find(|reason| reason.code == "behind_schedule").unwrap().what;
        assert!(text.contains("5.12 s behind its schedule"), "{text}");
        assert!(text.contains(&format!("of {planned} scheduled requests were sent")), "{text}");
    }
}

/// Makes the last event of every `each`-th stream known only to `ms`.
fn loose_events(each: usize, ms: u64) -> impl FnOnce(&mut Vec<RequestRecord>) {
    move |records| {
        for record in records.iter_mut().step_by(each) {
            let mut chunks = ChunkTrack::default();
            let all: Vec<_> = record.chunks.iter().collect();
            for (place, chunk) in all.iter().enumerate() {
                chunks.push(chunk.at_us * 1_000, false, 1);
                if place + 2 == all.len() {
                    chunks.loosen(1, 0, ms * 1_000);
                }
            }
            record.chunks = chunks;
        }
    }
}

/// C8: a level was suspect for an ITL p99 of 17.2–17.6 ms alone.
#[test]
fn a_percentile_between_tokens_is_marked_and_the_level_stays_valid() {
    let itl = Metric::Time(Time::Itl);
    for (ms, quality) in [(1, Quality::Fair), (15, Quality::Poor)] {
        // The events are 20 ms apart; one in ten streams has an uncertain one, so 2 gaps in 40.
        let level = judged(loose_events(10, ms), |_| {});
        assert_eq!(level.verdict, Verdict::Valid, "{:?}", level.reasons);
        assert_eq!(level.quality(itl, Some(Statistic::P99)), Some(quality));
        assert_eq!(level.quality(itl, Some(Statistic::P50)), Some(Quality::Good));
        let times = level.times[Time::Itl].as_ref().unwrap();
        assert_eq!(times.uncertain, ["p98", "p99", "max"].map(str::to_owned));
        let note = level.notes.iter().find(|note| note.code == "uncertain").unwrap();
        assert!(note.what.contains("ITL p99 ") && !note.what.contains("mean"), "{note:?}");
        // The other times are named nowhere.
        assert!(level.times[Time::Ttft].as_ref().unwrap().uncertain.is_empty());
    }
    assert!(judged(|_| {}, |_| {}).times[Time::Itl].as_ref().unwrap().uncertain.is_empty());
    // A median between tokens decides as before.
    let level = judged(loose_events(1, 15), |_| {});
    assert_eq!(level.quality(itl, Some(Statistic::P50)), Some(Quality::Good));
    let level = judged(loose(1, Widths { last: 7 * MS, ..Widths::default() }), |_| {});
    assert_eq!(level.quality(Metric::Time(Time::Tpot), Some(Statistic::P50)), Some(Quality::Fair));
    assert_eq!(level.verdict, Verdict::Suspect, "{:?}", level.reasons);
}

/// L10: what came before may have been the response to another request.
#[test]
fn responses_that_nobody_asked_for_make_a_level_suspect() {
    let with = |unasked: u64| judged(|_| {}, |end| end.client.unasked = unasked);
    assert_eq!(with(0).verdict, Verdict::Valid);
    for unasked in [1, 38] {
        let level = with(unasked);
        expect(&level, Verdict::Suspect, "unasked_responses");
        assert!(level.reasons[0].what.contains(&unasked.to_string()), "{:?}", level.reasons);
    }
}

/// A server that sends four tokens with each event, and counts them: its gaps are known as well as
/// those of single tokens, also where the client was a little late.
#[test]
fn stream_interval_a_level_of_several_tokens_per_event_is_valid() {
    for (late_us, each) in [(0, 1), (100, 30), (100, 1)] {
        let four_each = |records: &mut Vec<RequestRecord>| {
            let mut events = 0;
            for record in records {
                let mut chunks = ChunkTrack::default();
                for chunk in record.chunks.iter() {
                    chunks.push(chunk.at_us * 1_000, false, 4);
                    events += 1;
                    if events % each == 0 {
                        chunks.loosen(1, 0, late_us);
                    }
                }
                record.chunks = chunks;
                record.chunk_tokens_known = true;
                record.output = Some(TokenCount { tokens: 20, source: TokenSource::Usage });
                record.requested_output = Some(20);
            }
        };
        let level = judged(four_each, |_| {});
        assert_eq!(level.verdict, Verdict::Valid, "{late_us} {each}: {:?}", level.reasons);
        let itl = level.times[Time::Itl].as_ref().unwrap();
        assert_eq!((itl.p50, itl.p99), (Some(5.0), Some(5.0)), "{itl:?}");
        assert!(itl.uncertain.is_empty(), "{:?}", itl.uncertain);
    }
}

/// C10: the engine's delay is one line, and only where it changes a time of requests.
#[test]
fn a_late_engine_is_mentioned_only_where_it_matters() {
    let late = |mean: u64, p99: u64| {
        let level = judged(
            |_| {},
            |end| {
                let mean_ns = Some(mean * MS);
                let p99_ns = p99 * MS;
                end.slip =
                    Some(EngineSlip { count: 9, mean_ns, p50_ns: 0, p99_ns, max_ns: p99_ns });
            },
        );
        level.notes.into_iter().find(|note| note.code == "engine_slip")
    };
    // TTFT is 100 ms: 2 ms of its p99 are good, although that is a tenth of ITL.
    assert_eq!(late(0, 2), None);
    assert!(late(0, 3).is_some() && late(3, 0).is_some());
    let said = late(0, 12).unwrap();
    assert!(said.what.chars().count() < 70 && said.advice.is_some(), "{said:?}");
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
        records[2].finish_reason = Some("stop".to_owned());
    };
    let level = judged(odd, |_| {});
    assert_eq!(level.verdict, Verdict::Valid);
    let notes = ["input_length", "output_length", "output_capped", "no_terminal_event", "resent"];
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
        made: Default::default(),
    };
    let mut src = source(&plan, frames(records, None));
    src.damaged = Some(dyno_model::Message::quoted("cut off at byte 7"));
    src.header.plan_hash = "other".to_owned();
    let summary = summarise(&plan, Some(&env), &src);
    let noted = ["records_damaged", "plan_differs", "levels_not_run", "no_usage"];
    assert_eq!(codes(&summary.notes), noted);
    assert_eq!(summary.run.model.as_deref(), Some("found"));
    assert!(!codes(&summary.levels[0].notes).contains(&"output_length"));
}
