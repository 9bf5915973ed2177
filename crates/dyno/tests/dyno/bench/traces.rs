//! Recorded traffic, replayed at its own times with its own lengths and shared beginnings.

use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::MS;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

fn prompt(seen: &Seen) -> String {
    seen.json()["messages"][0]["content"].as_str().unwrap().to_owned()
}

/// Beginnings of a trace: some requests share one, two or three blocks of 64 tokens.
fn mooncake(requests: u64) -> String {
    let mut text = String::new();
    for i in 0..requests {
        let family = i % 5;
        let mut ids: Vec<u64> = (0..1 + i % 3).map(|depth| family * 10 + depth).collect();
        ids.push(1_000 + i);
        let input = 64 * (ids.len() as u64 - 1) + 20 + i % 40;
        let line = json!({
            "timestamp": i * 20, "input_length": input, "output_length": 1 + i % 3, "hash_ids": ids
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}

#[test]
fn a_trace_keeps_its_times_lengths_and_shared_beginnings() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("trace.jsonl", &mooncake(60));
    // The estimate counts every word of a random prompt as it counts it everywhere.
    let args = format!("--data trace:{file},speed=10,block=64");
    run(place.bench(&server.url(), &args)).expect_measured();

    let mut records = place.requests();
    records.sort_by_key(|record| record.index);
    let from = records[0].intended;
    let times: Vec<u64> = records.iter().map(|r| r.intended - from).collect();
    assert_eq!(times, (0..60).map(|i| i * 2 * MS).collect::<Vec<_>>());
    for (i, record) in (0_u64..).zip(&records) {
        assert_eq!(record.requested_output.map(u64::from), Some(1 + i % 3));
        assert_eq!(record.requested_input.map(u64::from), Some(64 * (1 + i % 3) + 20 + i % 40));
    }
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["load"], json!({ "kind": "trace", "value": 10.0 }));
    assert_eq!(level["client"]["send_lag_ms"]["count"], 60);

    // By length and output alone no two neighbours are alike, so each prompt is found again.
    let sent: Vec<String> = server.generations().iter().map(prompt).collect();
    assert_eq!(sent.len(), 60);
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    for prompt in &sent {
        let beginning: Vec<&str> = prompt.split(' ').take(40).collect();
        *families.entry(beginning.join(" ")).or_default() += 1;
    }
    assert_eq!(families.values().copied().collect::<Vec<_>>(), [12; 5], "five shared beginnings");
    let mut whole = sent.clone();
    whole.sort();
    whole.dedup();
    assert_eq!(whole.len(), 60, "and no prompt twice");
}

#[test]
fn nothing_of_a_trace_is_sent_before_its_replay() {
    // Of sixteen words in a row that any prompt of the trace has, none may be sent ahead: a server
    // that caches any block of them would have part of the first prompt before it is measured.
    const RUN: usize = 16;
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("trace.jsonl", &mooncake(20));
    let args = format!("--data trace:{file},speed=10,block=64");
    run(place.bench(&server.url(), &args)).expect_measured();

    let is_ahead = |seen: &&Seen| seen.header("x-dyno-preflight").is_some();
    let asked = server.asked("POST /v1/");
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let ahead: Vec<_> = asked.iter().filter(is_ahead).map(|seen| words(&prompt(seen))).collect();
    let replayed: Vec<_> = server.generations().iter().map(|seen| words(&prompt(seen))).collect();
    assert_eq!(replayed.len(), 20);
    let longest = ahead.iter().max_by_key(|words| words.len()).expect("a length probe");
    let first = replayed.iter().find(|words| words.len() == longest.len());
    assert!(first.is_some(), "as long as a prompt of the trace: {} words", longest.len());
    for run in ahead.iter().flat_map(|words| words.windows(RUN)) {
        let same = |sent: &Vec<String>| sent.windows(RUN).any(|other| other == run);
        assert!(!replayed.iter().any(same), "{run:?} was sent ahead");
    }
}

/// Two sessions as TraceLab records them: one of three requests and, 40 ms later, one of two.
fn rounds() -> String {
    let at = |ms: u64| format!("2026-03-02T10:00:00.{ms:03}Z");
    let round = |session: &str, start: u64, end: u64, input: u64, output: u64| {
        json!({
            "session_id": session, "round_index": 0, "input_tokens_total": input,
            "output_tokens": output, "timing_events": [
                {"event_type": "user_message", "timestamp": at(start)},
                {"event_type": "text", "timestamp": at(end)},
            ],
        })
        .to_string()
    };
    let rounds = [
        round("a", 0, 20, 90, 4),
        round("b", 40, 50, 70, 2),
        round("a", 100, 130, 150, 3),
        round("b", 90, 95, 100, 1),
        round("a", 150, 160, 160, 2),
    ];
    rounds.join("\n") + "\n"
}

#[test]
fn recorded_sessions_start_wait_and_grow_as_they_did() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("rounds.jsonl", &rounds());
    let url = server.url();
    let ended =
        run(place.dyno(&format!("bench {url} --out run --data trace:{file}"))).expect_measured();
    assert!(
        ended.stderr.contains("TraceLab sessions, 2 sessions with 5 requests"),
        "{}",
        ended.stderr
    );
    let records = place.requests();
    let of = |session: u64| {
        let mut turns: Vec<_> =
            records.iter().filter(|record| record.turn.unwrap().session == session).collect();
        turns.sort_by_key(|record| record.turn.unwrap().number);
        turns
    };
    let (a, b) = (of(0), of(1));
    assert_eq!(b[0].intended - a[0].intended, 40 * MS, "the second starts when it did");
    for (turns, pauses) in [(&a, &[80, 20][..]), (&b, &[40])] {
        assert_eq!(turns.len(), pauses.len() + 1);
        for (pair, pause) in turns.windows(2).zip(pauses) {
            assert_eq!(pair[1].intended - pair[0].end, pause * MS, "a turn waits for its response");
        }
    }
    let asked: Vec<_> = a.iter().map(|record| record.requested_output).collect();
    assert_eq!(asked, [Some(4), Some(3), Some(2)]);
    assert_eq!(a[0].requested_input, Some(90));
    // The estimate counts words: what the user says grows by what the requests added.
    let said = |seen: &Seen| -> Vec<usize> {
        let all = seen.json()["messages"].as_array().unwrap().clone();
        let user = all.iter().filter(|message| message["role"] == "user");
        user.map(|message| message["content"].as_str().unwrap().split(' ').count()).collect()
    };
    let mut sent: Vec<Vec<usize>> = server.generations().iter().map(said).collect();
    sent.sort_by_key(|turns| (turns.len(), turns.clone()));
    let [short, long, grown, other, last] = sent.as_slice() else { panic!("{sent:?}") };
    assert!(short[0] < long[0], "{sent:?}");
    assert_eq!((grown[0], other[0], last[0]), (short[0], long[0], long[0]), "{sent:?}");
    assert_eq!((last[0], last[1]), (other[0], other[1]), "the conversation is repeated");

    // Nothing of it is sent ahead.
    let ahead = server.asked("POST /v1/");
    let ahead = ahead.iter().filter(|seen| seen.header("x-dyno-preflight").is_some());
    let first = prompt(&server.generations()[0]);
    let beginning: Vec<&str> = first.split(' ').take(12).collect();
    assert!(ahead.map(prompt).all(|text| !text.contains(&beginning.join(" "))));
}

#[test]
fn recorded_sessions_of_any_load() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("rounds.jsonl", &rounds());
    let args = format!("--data session:{file},think=0 --concurrency 2 --requests 9");
    run(place.bench(&server.url(), &args)).expect_measured();
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["load"], json!({ "kind": "concurrency", "value": 2.0 }));
    assert_eq!(level["sessions"]["turns"], 9);
    let shown = run(place.dyno(&format!("data show session:{file}")));
    let shown = shown.expect_status(&[0]).stdout;
    assert!(shown.contains("5 requests, started by the load"), "{shown}");
    for (args, words) in [
        (format!("--data trace:{file} --concurrency 2"), vec!["--concurrency", "its own times"]),
        (format!("--data session:{file} --burst 4"), vec!["--burst", "at once"]),
        (format!("--data session:{file} --order shuffle"), vec!["--order", "order of the file"]),
        (format!("--data trace:{file} --api openai-completions"), vec!["conversations"]),
    ] {
        let place = Place::new();
        run(place.bench(&server.url(), &args)).expect_status(&[2]).expect_words(&words);
    }
}

#[test]
fn a_trace_is_recognised_cut_and_told_about() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                 2023-11-16 18:15:46.6805900,74,3\n\
                 2023-11-16 18:15:46.7805900,96,2\n\
                 2023-11-16 18:15:46.9805900,81,1\n\
                 2023-11-16 18:15:47.6805900,81,1\n";
    let file = place.file("azure.csv", azure);
    let url = server.url();
    let shown = run(place.dyno(&format!("bench {url} --out run --data {file} --limit 3")));
    shown.expect_measured().expect_words(&["azure.csv", "Azure", "trace"]);
    let records = place.requests();
    let from = records[0].intended;
    let times: Vec<u64> = records.iter().map(|r| (r.intended - from) / MS).collect();
    assert_eq!(times, [0, 100, 300]);
    assert_eq!(place.json("plan.json")["levels"][0]["load"]["kind"], "trace");

    let place = Place::new();
    let args = format!("--data trace:{file},from=50ms,to=500ms,speed=2");
    run(place.bench(&server.url(), &args)).expect_measured();
    let inputs: Vec<_> = place.requests().iter().map(|r| r.requested_input).collect();
    assert_eq!(inputs, [Some(96), Some(81)]);
}

#[test]
fn a_warm_up_that_takes_the_whole_trace_is_named() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("trace.jsonl", &mooncake(6));
    let args = format!("--data trace:{file},block=64 --warmup 50");
    run(place.bench(&server.url(), &args)).expect_measured();
    let level = &place.json("summary.json")["levels"][0];
    assert!(codes(&level["reasons"]).contains(&"nothing_measured".to_owned()), "{level}");
    let reasons = level["reasons"].to_string();
    assert!(reasons.contains("6 requests") && reasons.contains("lower --warmup"), "{reasons}");
    assert!(!reasons.contains("--drain"), "{reasons}");
}

#[test]
fn what_has_no_effect_on_a_trace_or_looks_wrong_is_told() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let file = place.file("trace.jsonl", &mooncake(6));
    let bench = |more: &str| {
        let place = Place::new();
        let url = server.url();
        let line = format!("bench {url} --out run --data trace:{file}{more}");
        let ended = run(place.dyno(&line)).expect_measured();
        (ended.stderr, place.json("summary.json")["notes"].to_string())
    };
    // Blocks of 64 tokens are taken for the usual ones of 512.
    let (said, notes) = bench(" --output-tokens 9");
    assert!(said.contains("--output-tokens has no effect"), "{said}");
    assert!(notes.contains("if there are many, set the number"), "{notes}");
    let (said, notes) = bench(",block=64");
    assert!(!said.contains("has no effect"), "{said}");
    assert!(!notes.contains("block="), "{notes}");
}

#[test]
fn requests_that_failed_then_are_left_out_and_counted() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                 5,ChatGPT,472,18,490,Conversation log\n\
                 5.01,ChatGPT,1087,0,1087,Conversation log\n\
                 5.02,GPT-4,417,2,419,API log\n";
    let file = place.file("burst.csv", burst);
    run(place.bench(&server.url(), &format!("--data {file}"))).expect_measured();
    assert_eq!(place.requests().len(), 2);
    let notes = codes(&place.json("summary.json")["notes"]);
    assert!(notes.contains(&"trace_selected".to_owned()), "{notes:?}");
}

#[test]
fn what_cannot_be_replayed_is_refused_with_the_way_out() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let good = place.file("good.jsonl", &mooncake(3));
    let bad = place.file(
        "bad.jsonl",
        "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [0]}\n\
         {\"timestamp\": \"soon\", \"input_length\": 9, \"output_length\": 1, \"hash_ids\": []}\n",
    );
    let text = place.file("prompts.txt", "not a trace\n");
    for (args, words) in [
        (format!("--data trace:{good} --rate 5"), vec!["--rate", "its own times", "speed="]),
        (format!("--data {good} --concurrency 4"), vec!["--concurrency", "its own times"]),
        (format!("--data trace:{good},speed=0"), vec!["speed=0", "0.000001 to 1000000"]),
        (format!("--data trace:{good},from=1h"), vec!["from"]),
        (format!("--data trace:{good} --order shuffle"), vec!["--order", "times"]),
        (format!("--data trace:{good} --input-tokens 5"), vec!["--input-tokens"]),
        (format!("--data trace:{bad}"), vec!["bad.jsonl", "2", "timestamp"]),
        (format!("--data trace:{text}"), vec!["prompts.txt", "trace"]),
        ("--data trace".to_owned(), vec!["trace:PATH"]),
    ] {
        let place = Place::new();
        run(place.bench(&server.url(), &args)).expect_status(&[2]).expect_words(&words);
    }
    assert!(server.generations().is_empty());
}
