//! The summary of each kind of level, in both languages.

use super::*;

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

/// B13: the p99 of 11 samples was their maximum.
#[test]
fn times_of_few_requests_that_were_sent_again_have_no_p99() {
    let (plan, records) = closed(8, 30);
    let said = |first: u64, last: u64, language: Language| {
        let mut summary = summary_of(&plan, records.clone());
        let lag = |count: u64| Some(Lag { count, p50: 50.0, p99: 4_900.0, max: 5_084.0 });
        let retried = Retried {
            requests: first,
            share: first as f64 / 240.0,
            completed: last,
            retries: first,
            first_refusal_ms: lag(first),
            final_latency_ms: lag(last),
        };
        let overload = Overload { retried: Some(retried), ..Overload::default() };
        summary.levels[0].overload = Some(overload);
        let text = in_language(&summary, language);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    };
    let few =
        "first refusal after 50.0 ms (p50), at most 5084 ms; final latency 50.0 ms (p50), at most";
    let many =
        "first refusal after 50.0 ms (p50), 4900 ms (p99); final latency 50.0 ms (p50), 4900 ms";
    for (first, last, expected) in
        [(11, 11, few), (19, 19, few), (20, 19, few), (20, 20, many), (500, 500, many)]
    {
        let text = said(first, last, Language::English);
        assert!(text.contains(expected), "{first} {last}: {text}");
    }
    assert!(said(19, 19, Language::Chinese).contains("最长 5084 ms"));
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
    src.damaged = Some(dyno_model::message!(
        "a frame is cut off at byte 4711; what came before is whole",
        "第 4711 字节处记录被截断；此前的内容完整"
    ));
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

#[test]
fn conversations() {
    let (plan, mut records) = talking(8, 30);
    let last = records.last_mut().unwrap();
    last.outcome = Outcome::Failed(FailureClass::StreamReset);
    last.detail = Some(Message::quoted("connection reset"));
    let summary = summary_with(&plan, records, |end| end.starved = Some(29_180 * MS));
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("conversations_chinese", chinese(&summary));
}

#[test]
fn the_reason_of_a_failure_is_given_in_the_language() {
    let (plan, mut records) = closed(8, 30);
    for (record, said) in records.iter_mut().zip([
        message!("no output within {} (--timeout-first-token)", "等了 {} 没有输出", "1s"),
        Message::quoted("the response is larger than 1 bytes"),
    ]) {
        record.outcome = Outcome::Failed(FailureClass::Http(500));
        record.detail = Some(said);
    }
    let summary = summary_with(&plan, records, |_| {});
    let samples = &summary.levels[0].failure_samples["http.500"];
    assert_eq!(samples[0], "no output within 1s (--timeout-first-token)");
    assert!(text(&summary).contains(&samples[0]));
    let chinese = chinese(&summary);
    assert!(chinese.contains("等了 1s 没有输出") && !chinese.contains(&samples[0]), "{chinese}");
    // The server's own words, whatever they look like.
    assert!(chinese.contains(&samples[1]), "{chinese}");
}

#[test]
fn conversations_without_streams_or_later_turns() {
    let (plan, mut records) = talking(8, 30);
    records.iter_mut().for_each(|r| {
        r.turn = Some(TurnOfSession { session: r.index, number: 1 });
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
