//! The terminal summary of each kind of level, as people see it.
#![allow(clippy::unwrap_used)]

#[path = "../../dyno-analysis/tests/common/mod.rs"]
mod common;

use common::*;
use dyno_analysis::summarise;
use dyno_model::Language;
use dyno_model::MS;
use dyno_model::frame::{Ending, Frame, LevelEnd};
use dyno_model::load::LoadKind;
use dyno_model::metric::{Statistic, Time};
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::plan::{Arrival, Load};
use dyno_model::record::{RequestRecord, Turn, Widths};
use dyno_model::{Summary, Verdict};
use dyno_report::{Selection, TextOptions, parse_column, render_text};
use dyno_words::Finding;
use dyno_words::columns::width;

fn text(summary: &Summary) -> String {
    in_language(summary, Language::English)
}

fn chinese(summary: &Summary) -> String {
    in_language(summary, Language::Chinese)
}

fn in_language(summary: &Summary, language: Language) -> String {
    let text = render_text(summary, &TextOptions { language, ..TextOptions::default() });
    for line in text.lines() {
        assert!(width(line) <= 80, "{} columns: {line}", width(line));
        assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
    }
    text
}

#[test]
fn good_closed_loop() {
    let (mut plan, records) = closed(8, 30);
    plan.label = Some("baseline".to_owned());
    let summary = summary_with(&plan, records, |end| end.starved = Some(starved(30)));
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("good_closed_loop_chinese", chinese(&summary));
}

#[test]
fn open_loop_with_failures() {
    let load = Load::Rate { rate: 10.0, arrival: Arrival::Poisson };
    let plan = plan(vec![level_plan("10/s poisson", load, Some(100))]);
    let records = (0..100)
        .map(|i| match i % 10 {
            9 => failure(
                i,
                0,
                i * 100,
                i * 100 + 40,
                FailureClass::Http(503),
                "{\"error\":\"queue full\"}\n\x1b[2J",
            ),
            5 => {
                failure(i, 0, i * 100, i * 100 + 900, FailureClass::TimeoutIdle, "no byte for 60s")
            }
            _ => {
                let mut r = stream(i, 0, i * 100, 100 + i % 7, 20, 5);
                r.intended -= (i % 3) * MS.min(r.intended);
                r
            }
        })
        .collect();
    let summary = summary_of(&plan, records);
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("open_loop_with_failures_chinese", chinese(&summary));
}

#[test]
fn invalid() {
    let (plan, mut records) = closed(4, 25);
    let unsure = Widths { first: 30 * MS, last: 20 * MS, ..Widths::default() };
    records.iter_mut().for_each(|r| r.widths = Some(unsure));
    let summary = summary_with(&plan, records, |end| {
        end.starved = Some(starved(25));
        end.client.read_delay = lags(30 * MS);
        (end.client.blind_ns, end.client.longest_stall_ns) = (900 * MS, 30 * MS);
        end.client.out_of_files = 12;
    });
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("invalid_chinese", chinese(&summary));
}

#[test]
fn all_failed() {
    let plan = plan(vec![level_plan("c=2", Load::Concurrency { concurrency: 2 }, Some(100))]);
    let records: Vec<RequestRecord> = (0..50)
        .map(|i| {
            let mut r =
                failure(i, 0, i, i, FailureClass::Connect, "connection refused (os error 111)");
            r.sent = None;
            r
        })
        .collect();
    let summary = summary_with(&plan, records, |end| {
        end.ending = Ending::TargetLost;
        end.planned = Some(100);
    });
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("all_failed_chinese", chinese(&summary));
}

#[test]
fn partial() {
    let (mut plan, records) = closed(4, 25);
    let more = level_plan("c=16", Load::Concurrency { concurrency: 16 }, Some(100));
    plan.levels.push(more);
    let mut src = source(&plan, frames(records[..41].to_vec(), None));
    src.damaged = Some("a frame is cut off at byte 4711; what came before is whole".to_owned());
    let summary = summarise(&plan, None, &src);
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("partial_chinese", chinese(&summary));
}

#[test]
fn not_streamed_from_the_embedded_engine() {
    let (mut plan, mut records) = closed(4, 25);
    plan.target.url = None;
    plan.target.embedded = Some("ttft=100ms,itl=20ms,tokens=5".to_owned());
    for r in &mut records {
        r.streamed = false;
        r.chunks = Default::default();
        (r.first, r.terminal) = (None, false);
    }
    let summary = summary_with(&plan, records, |end| end.starved = Some(starved(25)));
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("not_streamed_from_the_embedded_engine_chinese", chinese(&summary));
}

#[test]
fn conversations() {
    let (plan, mut records) = talking(8, 30);
    let last = records.last_mut().unwrap();
    last.outcome = Outcome::Failed(FailureClass::StreamReset);
    last.detail = Some("connection reset".to_owned());
    let summary = summary_with(&plan, records, |end| end.starved = Some(29_180 * MS));
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("conversations_chinese", chinese(&summary));
}

#[test]
fn conversations_without_streams_or_later_turns() {
    let (plan, mut records) = talking(8, 30);
    records.iter_mut().for_each(|r| {
        r.turn = Some(Turn { session: r.index, number: 1 });
        r.streamed = false;
        r.chunks = Default::default();
        r.first = None;
        r.input = None;
    });
    let summary = summary_with(&plan, records, |end| end.starved = Some(29_180 * MS));
    let text = text(&summary);
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("by turn")).collect();
    insta::assert_snapshot!(rows[..4].join("\n"));
}

/// Two levels, of which the second takes three times as long to the first token and its requests
/// leave so much later than they should.
fn two_levels(slo: &str, lag: u64) -> Summary {
    let (mut plan, mut records) = closed(8, 30);
    plan.slo = Some(slo.parse().unwrap());
    plan.levels.push(plan.levels[0].clone());
    plan.levels[1].label = "c=8 again".to_owned();
    let end = LevelEnd { starved: Some(starved(30)), ..level_end(0, &records) };
    let mut all = frames(records.clone(), Some(end.clone()));
    all.pop();
    records.iter_mut().for_each(|r| {
        r.level = 1;
        r.widths = Some(Widths { first: lag, last: lag, ..Widths::default() });
        let late = |t: Option<u64>| t.map(|t| t + 200 * MS);
        (r.first, r.last, r.end) = (late(r.first), late(r.last), r.end + 200 * MS);
    });
    all.extend(records.into_iter().map(|r| Frame::Request(Box::new(r))));
    all.push(Frame::LevelEnd(Box::new(LevelEnd { level: 1, ..end })));
    summarise(&plan, None, &source(&plan, all))
}

fn slo_block(text: &str) -> String {
    let block = text.lines().skip_while(|line| !line.starts_with("SLO "));
    block.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_slo_passed_and_failed() {
    let summary = two_levels("ttft.p95<250ms and tpot.p95<=20ms and errors<1%", 0);
    insta::assert_snapshot!(slo_block(&text(&summary)));
    insta::assert_snapshot!("an_slo_passed_and_failed_chinese", slo_block(&chinese(&summary)));
}

#[test]
fn the_terms_of_an_slo_are_columns_however_narrow_the_table_is() {
    let summary = two_levels("latency.p99.9<1s and tpot.p95<=40ms", 60 * MS);
    for width in [60, 80, 200] {
        let text = render_text(&summary, &at(width, Language::English));
        let table = table_of(&text);
        assert!(table.contains("TPOT ms") && table.contains("p95"), "{width}: {table}");
        assert!(table.contains("p99.9"), "{width}: {table}");
        assert!(table.contains("failed"), "{width}: {table}");
    }
}

#[test]
fn tables_of_the_same_command_have_the_same_columns() {
    let heads = |factor: f64| {
        let mut summary = ladder(&[1.0, 2.0, 4.0]);
        for level in &mut summary.levels {
            for time in [Time::Ttft, Time::Itl, Time::Latency] {
                let of = level.times[time].as_mut().unwrap();
                (of.p50, of.p99) = (of.p50.map(|ms| ms * factor), of.p99.map(|ms| ms * factor));
            }
        }
        let text = text(&summary);
        let head = text.lines().find(|line| line.starts_with("level")).unwrap();
        head.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(heads(1.0), heads(0.01));
    assert_eq!(heads(1.0), heads(9.0));
}

#[test]
fn percentiles_add_no_other_columns_and_keep_the_width_of_a_file() {
    let statistics = Some(vec![Statistic::P50, Statistic::P95, Statistic::P99]);
    let selection = Selection { statistics, ..Selection::default() };
    let options = TextOptions { selection, ..TextOptions::default() };
    let table = table_of(&render_text(&ladder(&[1.0, 2.0, 4.0]), &options));
    assert!(table.lines().all(|line| width(line) <= 80), "{table}");
    assert!(!table.contains("total") && !table.contains("flight"), "{table}");
    assert!(table.contains("p95"), "{table}");
}

#[test]
fn an_slo_that_no_level_passes() {
    let slo = "ttft.p99<99.9ms and ttft.p99.9<1s and throughput>1req/s";
    let all = text(&two_levels(slo, 60 * MS));
    let notes: Vec<&str> = all.lines().skip_while(|line| !line.starts_with("Notes:")).collect();
    insta::assert_snapshot!(format!("{}\n\n{}", slo_block(&all), notes[..3].join("\n")));
}

#[test]
fn replayed_trace() {
    let label = "trace mooncake-conversation.jsonl x2.5";
    let plan = plan(vec![level_plan(label, Load::Trace { speed: 2.5 }, Some(360))]);
    let mut at = 0;
    let arrival = |i: u64| {
        at += 200 - i / 2;
        let mut r = stream(i, 0, at, 100 + i % 7, 20, 5);
        r.intended -= (i % 3) * MS;
        r
    };
    let summary = summary_of(&plan, (0..360).map(arrival).collect());
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("replayed_trace_chinese", chinese(&summary));
}

#[test]
fn labels_and_names_cannot_harm() {
    let (mut plan, mut records) = closed(4, 25);
    plan.levels[0].label = "一个非常长的标签\x1b[31m with a very long tail".to_owned();
    plan.request.model = Some("evil\r\n\x1b]0;title\x07".to_owned());
    plan.note = Some("word ".repeat(200));
    records[0].outcome = Outcome::Failed(FailureClass::StreamError);
    records[0].detail = Some("x".repeat(4096));
    let summary = summary_of(&plan, records);
    text(&summary);
    chinese(&summary);
}

#[test]
fn colour_only_where_asked() {
    let (plan, records) = closed(4, 25);
    let summary = summary_of(&plan, records);
    let coloured =
        render_text(&summary, &TextOptions { width: 100, color: true, ..TextOptions::default() });
    assert!(coloured.contains("\x1b[32mvalid\x1b[0m") || coloured.contains("\x1b[33msuspect"));
    assert_eq!(
        coloured,
        render_text(&summary, &TextOptions { width: 100, color: true, ..TextOptions::default() })
    );
}

#[test]
fn repeated_levels() {
    let rounds = [(1, 30), (2, 33)].map(|(round, _)| {
        let mut plan = closed(8, 30).0.levels.remove(0);
        plan.label = format!("concurrency 8 #{round}");
        plan.repeat = Some(round);
        plan
    });
    let (mut plan, _) = closed(8, 30);
    plan.levels = rounds.to_vec();
    let records = |level: u32, slower: u64| {
        let records = closed(8, 30).1.into_iter();
        records.map(move |mut record| {
            record.level = level;
            record.last = record.last.map(|last| last + slower * MS);
            record.end += slower * MS;
            record
        })
    };
    let frames = records(0, 0).chain(records(1, 3));
    let frames = frames.map(|record| Frame::Request(Box::new(record))).collect();
    let summary = summarise(&plan, None, &source(&plan, frames));
    assert_eq!(summary.repeats.len(), 1);
    assert_eq!(summary.repeats[0].rounds, 2);
    let spread = summary.repeats[0].latency_p50_ms.unwrap();
    assert!((spread.max - spread.min - 3.0).abs() < 1e-9, "{spread:?}");
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("repeated_levels_chinese", chinese(&summary));
}

/// Levels of the same metrics under these loads, rising with them.
fn ladder(loads: &[f64]) -> Summary {
    let (plan, records) = closed(8, 30);
    let mut summary = summary_with(&plan, records, |end| end.starved = Some(starved(30)));
    let level = summary.levels.remove(0);
    for load in loads {
        let mut level = level.clone();
        level.label = format!("concurrency {load}");
        level.load.value = Some(*load);
        let work = &mut level.steady.as_mut().unwrap().throughput;
        work.output_tokens_per_s = Some(100.0 * load);
        level.times[Time::Ttft].as_mut().unwrap().p99 = Some(10.0 * load * load);
        summary.levels.push(level);
    }
    summary
}

/// The small charts below the table.
fn curve(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains("out tok/s by "));
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_curve_of_a_ladder() {
    let mut summary = ladder(&[1.0, 2.0, 4.0, 8.0, 12.5, 16.0]);
    summary.levels[1].times[Time::Ttft] = None;
    summary.levels[4].verdict = Verdict::Invalid;
    summary.levels[4].reasons = vec![Finding::OutOfFiles.with([3])];
    let english = text(&summary);
    insta::assert_snapshot!("the_curve_of_a_ladder", curve(&english));
    assert!(english.contains("✗ concurrency 12.5: 3 requests were dropped"), "{english}");
    let chinese = chinese(&summary);
    assert!(chinese.contains("输出 tok/s（横轴：并发数）"), "{chinese}");
    assert!(
        chinese.contains("✗ concurrency 12.5：文件描述符耗尽（EMFILE），3 个请求未能发出"),
        "{chinese}"
    );
}

#[test]
fn a_curve_needs_three_loads_of_one_kind_and_length() {
    assert_eq!(curve(&text(&ladder(&[1.0, 2.0]))), "");
    assert_eq!(curve(&text(&ladder(&[1.0, 2.0, 2.0]))), "", "two rounds of a load are one");
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    assert_ne!(curve(&text(&summary)), "");
    summary.levels[0].load.kind = LoadKind::Rate;
    assert_eq!(curve(&text(&summary)), "");
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels[0].input_length = Some(7);
    assert_eq!(curve(&text(&summary)), "", "lengths differ, so it is no one curve");
    let many: Vec<f64> = (1..=200).map(f64::from).collect();
    assert_eq!(curve(&text(&ladder(&many))), "", "there is no room for so many");
}

#[test]
fn without_streams_the_curve_is_of_the_latency() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels.iter_mut().for_each(|level| level.times[Time::Ttft] = None);
    assert!(text(&summary).contains("latency p50 ms by concurrency"));
}

#[test]
fn invalid_rows_are_struck_where_there_is_colour() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    summary.levels[1].verdict = Verdict::Invalid;
    let options = TextOptions { color: true, ..TextOptions::default() };
    let coloured = render_text(&summary, &options);
    assert_eq!(coloured.matches("\x1b[2;9m").count(), 1, "{coloured}");
    let plain = render_text(&summary, &TextOptions::default());
    assert!(!plain.contains('\x1b'));
    let codes = ["\x1b[2;9m", "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"];
    let bare = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(bare, plain, "colour moves nothing");
}

#[test]
fn long_labels_are_shown_whole() {
    let mut summary = ladder(&[1.0, 2.0]);
    let label = "a label of the user's own that is long";
    summary.levels[0].label = label.to_owned();
    for text in [text(&summary), chinese(&summary)] {
        let table: Vec<&str> = text.lines().take_while(|line| !line.starts_with('*')).collect();
        assert!(table.contains(&label), "{text}");
    }
}

/// The table of levels alone.
fn table_of(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("level ")).unwrap();
    lines[head - 1..]
        .iter()
        .copied()
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn at(width: usize, language: Language) -> TextOptions {
    TextOptions { width, terminal: true, language, ..TextOptions::default() }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut wordy = two_levels("ttft.p95<250ms and tpot.p95<=20ms and errors<1%", 60 * MS);
    wordy.levels[0].label = "一个非常长的标签 with a very long tail of words".to_owned();
    let (talks, mut answers) = talking(8, 30);
    answers[3].outcome = Outcome::Failed(FailureClass::StreamReset);
    let talks = summary_with(&talks, answers, |end| end.starved = Some(29_180 * MS));
    let ladder = ladder(&[1.0, 2.0, 4.0, 8.0, 12.5, 16.0]);
    for summary in [&wordy, &talks, &ladder] {
        for width_of in [40, 50, 60, 80, 120, 200] {
            for language in [Language::English, Language::Chinese] {
                let text = render_text(summary, &at(width_of, language));
                for line in text.lines() {
                    assert!(width(line) <= width_of, "{width_of}: {} {line}\n{text}", width(line));
                }
            }
        }
    }
}

#[test]
fn a_wide_terminal_shows_more_columns_and_a_narrow_one_fewer() {
    let summary = ladder(&[1.0, 2.0, 4.0]);
    let table = |width| table_of(&render_text(&summary, &at(width, Language::English)));
    let tables = [200, 80, 50, 40].map(|width| format!("{width}:\n{}", table(width)));
    insta::assert_snapshot!(tables.join("\n\n"));
    assert!(!table(80).contains("hidden") && !table(200).contains("hidden"));
    let columns = [200, 120, 80, 50, 40].map(|width| {
        let table = table(width);
        let row = table.lines().last().unwrap_or_default();
        let row = table.lines().find(|line| line.ends_with(" valid")).unwrap_or(row);
        row.split_whitespace().count()
    });
    assert!(columns.windows(2).all(|pair| pair[0] > pair[1]), "{columns:?}");
    let chinese = render_text(&summary, &at(50, Language::Chinese));
    assert!(chinese.contains("列；请加宽终端，或使用 --columns"), "{chinese}");
}

#[test]
fn the_columns_that_were_asked_for() {
    let columns = ["requests", "offered", "ttft", "latency.p95", "duration"];
    let columns = columns.iter().filter_map(|name| parse_column(name).unwrap()).collect();
    let selection = Selection {
        columns: Some(columns),
        statistics: Some(vec![Statistic::Mean, Statistic::P99_9]),
    };
    let summary = ladder(&[1.0, 2.0, 4.0]);
    let options = TextOptions { selection: selection.clone(), ..TextOptions::default() };
    insta::assert_snapshot!(table_of(&render_text(&summary, &options)));
    let narrow = TextOptions { selection, ..at(44, Language::English) };
    let narrow = render_text(&summary, &narrow);
    assert!(narrow.contains("columns hidden; widen the terminal"), "{narrow}");
    let percentiles = Selection { statistics: Some(vec![Statistic::P95]), ..Selection::default() };
    let options = TextOptions { selection: percentiles, ..TextOptions::default() };
    let table = table_of(&render_text(&summary, &options));
    assert_eq!(table.matches("p95").count(), 3, "{table}");
    assert!(!table.contains("p50"), "{table}");
}

#[test]
fn a_file_has_room_for_whatever_was_asked_for() {
    let columns = dyno_report::column_names().into_iter();
    let columns = Some(columns.filter_map(|name| parse_column(name).unwrap()).collect());
    let selection = Selection { columns, statistics: None };
    let options = TextOptions { selection, ..TextOptions::default() };
    let text = render_text(&ladder(&[1.0, 2.0]), &options);
    assert!(!text.contains("hidden"), "{text}");
    assert!(text.lines().any(|line| width(line) > 200), "{text}");
}

#[test]
fn one_request_has_a_mean() {
    let plan = plan(vec![level_plan("burst 1", Load::Burst { requests: 1 }, Some(1))]);
    let summary = summary_of(&plan, vec![stream(0, 0, 0, 100, 20, 5)]);
    let table = table_of(&text(&summary));
    insta::assert_snapshot!(table);
    assert!(table.contains("mean") && !table.contains("–"), "{table}");
}

#[test]
fn what_levels_share_is_printed_once() {
    let mut summary = ladder(&[1.0, 2.0, 4.0]);
    for level in &mut summary.levels {
        level.reasons = vec![Finding::Partial.into()];
        level.verdict = Verdict::Suspect;
    }
    summary.levels[0].reasons.push(Finding::OutOfFiles.with([3]));
    summary.levels[2].reasons.push(Finding::OutOfFiles.with([7]));
    summary.levels[1].notes.push(Finding::OutOfFiles.with([9]));
    let text = text(&summary);
    let shared = text.lines().skip_while(|line| !line.starts_with("Several levels"));
    insta::assert_snapshot!(shared.take(20).collect::<Vec<_>>().join("\n"));
    let partial = &summary.levels[0].reasons[0];
    let words: String = partial.what.chars().take(30).collect();
    assert_eq!(text.matches(&words).count(), 1, "{text}");
    let advice: String =
        summary.levels[0].reasons[1].advice.iter().flat_map(|it| it.chars()).take(20).collect();
    assert_eq!(
        text.matches(&advice).count(),
        2,
        "once for several levels, once for a note: {text}"
    );
}

#[test]
fn what_one_level_has_is_not_called_shared() {
    let mut summary = ladder(&[1.0, 2.0]);
    let level = &mut summary.levels[0];
    level.verdict = Verdict::Suspect;
    level.reasons = vec![Finding::OutOfFiles.with([3]), Finding::OutOfFiles.with([7])];
    let text = text(&summary);
    assert!(!text.contains("Several levels"), "{text}");
    assert_eq!(text.matches("ulimit -n").count(), 1, "{text}");
}
