//! Conversations: each turn holds the server's own answers to the turns before it, and nothing
//! else.

use crate::place::{Place, codes};
use crate::process::run;
use crate::web::{self, Seen, Web};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the server says depends on how often it was asked, and is not easy to quote.
fn words(number: u64) -> String {
    format!("answer {number}: \"quoted\" \\ 中文 \u{1F600}\n\t</s>")
}

/// What is asked before anything is measured.
fn is_aside(request: &Seen) -> bool {
    !request.is("POST /v1/") || request.header("x-dyno-preflight").is_some()
}

/// A server that answers every measured request differently, in small pieces.
fn talkative() -> Web {
    let asked = AtomicU64::new(0);
    Web::start(move |request: &Seen| match request {
        _ if is_aside(request) => web::openai(request),
        _ => web::spoken(request, &words(asked.fetch_add(1, Ordering::SeqCst))),
    })
}

fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

/// The answer of the n-th request, as the server gave it.
fn answer(number: usize, tokens: usize) -> Value {
    message("assistant", &format!("{}{}", words(number as u64), " more".repeat(tokens - 1)))
}

/// The messages of each request, in order.
fn conversations(server: &Web) -> Vec<Vec<Value>> {
    let messages = |seen: &Seen| seen.json()["messages"].as_array().unwrap().clone();
    server.generations().iter().map(messages).collect()
}

#[test]
fn turn_k_sends_exactly_the_answers_of_the_turns_before_it() {
    let server = talkative();
    let place = Place::new();
    let args = "--data session,turns=8 --concurrency 1 --requests 16 --output-tokens 3";
    run(place.bench(&server.url(), args)).expect_status(&[0, 4]);
    let sent = conversations(&server);
    assert_eq!(sent.len(), 16);
    for (number, messages) in sent.iter().enumerate() {
        let (session, turn) = (number / 8, number % 8);
        assert_eq!(messages.len(), 2 * turn + 1);
        for k in 0..turn {
            let first = session * 8;
            assert_eq!(messages[2 * k], sent[first + k][2 * k], "what the user said in turn {k}");
            assert_eq!(messages[2 * k + 1], answer(first + k, 3), "what was answered to it");
        }
        assert_eq!(messages[2 * turn]["role"], "user");
    }
    let records = place.requests();
    let turns: Vec<(u64, u32)> =
        records.iter().map(|r| r.turn.unwrap()).map(|t| (t.session, t.number)).collect();
    let expected: Vec<(u64, u32)> =
        (0..2).flat_map(|session| (1..=8).map(move |turn| (session, turn))).collect();
    assert_eq!(turns, expected);
    // Answers are needed for the next turn; on disk they are only when asked for.
    assert!(records.iter().all(|record| record.text.is_none()));
    let sessions = &place.json("summary.json")["levels"][0]["sessions"];
    assert_eq!((&sessions["started"], &sessions["turns"]), (&json!(2), &json!(16)));
    assert_eq!(sessions["first"]["ttft_ms"]["count"], 2);
    assert_eq!(sessions["later"]["ttft_ms"]["count"], 14);
}

#[test]
fn recorded_conversations_are_led_anew() {
    let server = talkative();
    let place = Place::new();
    let recorded = json!([
        { "conversations": [
            { "from": "system", "value": "be brief" },
            { "from": "human", "value": "one" },
            { "from": "gpt", "value": "what was said then" },
            { "from": "human", "value": "two" },
            { "from": "gpt", "value": "never sent" },
        ]},
        { "conversations": [{ "from": "human", "value": "three" }] },
    ]);
    let file = place.file("talk.json", &recorded.to_string());
    let args = format!(
        "--data session:{file},think=1ms-3ms --concurrency 1 --requests 3 --output-tokens 2"
    );
    run(place.bench(&server.url(), &args)).expect_status(&[0, 4]);
    let (system, one) = (message("system", "be brief"), message("user", "one"));
    assert_eq!(
        conversations(&server),
        [
            vec![system.clone(), one.clone()],
            vec![system, one, answer(0, 2), message("user", "two")],
            vec![message("user", "three")],
        ]
    );
    for pair in place.requests()[..2].windows(2) {
        let thought = pair[1].intended - pair[0].end;
        assert!((1_000_000..=3_000_000).contains(&thought), "{thought} ns");
    }
}

#[test]
fn a_turn_that_fails_ends_its_conversation() {
    let asked = AtomicU64::new(0);
    let server = Web::start(move |request: &Seen| match request {
        _ if is_aside(request) => web::openai(request),
        _ if asked.fetch_add(1, Ordering::SeqCst) % 5 == 4 => {
            web::json("500 Internal Server Error", "{\"error\": \"boom\"}")
        }
        _ => web::openai(request),
    });
    let place = Place::new();
    let args = "--data session,turns=100 --concurrency 1 --requests 12 --allow-failures 50%";
    run(place.bench(&server.url(), args)).expect_status(&[0, 4]);
    let turns: Vec<u32> = place.requests().iter().map(|r| r.turn.unwrap().number).collect();
    assert_eq!(turns, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["sessions"]["broken"], 2);
    assert!(codes(&level["notes"]).contains(&"sessions_broken".to_owned()));
}

#[test]
fn what_cannot_be_led_is_refused_or_skipped_and_counted() {
    let server = talkative();
    let place = Place::new();
    let file = place.file(
        "tools.jsonl",
        r#"{"messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "a"}, {"role": "tool", "content": "42"}]}
{"messages": [{"role": "user", "content": "good"}]}
"#,
    );
    let args = |more: &str| {
        format!("--data session:{file}{more} --concurrency 1 --requests 2 --output-tokens 2")
    };
    run(place.bench(&server.url(), &args(""))).expect_status(&[2]).expect_words(&[
        "tools.jsonl",
        "conversation 1",
        "message 3",
        "skip_bad=true",
    ]);
    run(place.bench(&server.url(), &args(",skip_bad=true"))).expect_status(&[0, 4]);
    let notes = place.json("summary.json")["notes"].to_string();
    assert!(notes.contains("skipped as bad"), "{notes}");
    assert_eq!(conversations(&server), vec![vec![message("user", "good")]; 2]);
}

#[test]
fn sessions_that_make_no_sense_are_refused_with_the_way_out() {
    let server = talkative();
    for (args, words) in [
        ("--data session --burst 4", vec!["--burst", "--concurrency"]),
        ("--data session --api openai-completions", vec!["--data", "openai-chat"]),
        ("--data session,turns=0", vec!["turns=0", "turns=4-12"]),
        ("--data session,think=2", vec!["think=2", "think=1s-5s"]),
        ("--data session,turn=8", vec!["turn", "turns"]),
        ("--data session --limit 4", vec!["--limit", "--data FILE"]),
        ("--data session:/nowhere/x.json", vec!["/nowhere/x.json"]),
    ] {
        let place = Place::new();
        run(place.bench(&server.url(), args)).expect_status(&[2]).expect_words(&words);
    }
    assert!(server.generations().is_empty());
}
