//! Conversations: each turn holds the server's own answers to the turns before it, and nothing
//! else.

use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::SEC;
use dyno_model::record::Phase;
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
    run(place.bench(&server.url(), args)).expect_measured();
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
    run(place.bench(&server.url(), &args)).expect_measured();
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
    run(place.bench(&server.url(), args)).expect_measured();
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
        "tools.jsonl:1:",
        "message at position 3",
        "skip_bad=true",
    ]);
    run(place.bench(&server.url(), &args(",skip_bad=true"))).expect_measured();
    let notes = place.json("summary.json")["notes"].to_string();
    assert!(notes.contains("malformed"), "{notes}");
    assert_eq!(conversations(&server), vec![vec![message("user", "good")]; 2]);
}

/// A conversation of one turn, and one that cannot be led.
const GOOD: &str = "{\"messages\": [\"good\"]}\n";
const TOOL: &str = "{\"messages\": [\"a\", {\"role\": \"tool\", \"content\": \"b\"}]}\n";

#[test]
fn what_is_made_ahead_and_never_sent_is_not_counted_as_skipped() {
    let server = talkative();
    let place = Place::new();
    let text = format!("{GOOD}{GOOD}{TOOL}{GOOD}{TOOL}{TOOL}{GOOD}");
    let file = place.file("talks.jsonl", &text);
    let args = format!("--data session:{file},skip_bad=true --concurrency 1 --requests 3");
    run(place.bench(&server.url(), &args)).expect_measured();
    let notes = place.json("summary.json")["notes"].to_string();
    assert!(notes.contains("malformed records skipped, over all levels: 1"), "{notes}");

    let place = Place::new();
    let file = place.file("tools.jsonl", &TOOL.repeat(2));
    let args = format!("--data session:{file},skip_bad=true --concurrency 1 --requests 3");
    let ended = run(place.bench(&server.url(), &args)).expect_status(&[2]);
    let ended =
        ended.expect_words(&["all 2 were skipped", "tools.jsonl:1:", "message at position 2"]);
    assert!(!ended.stderr.contains("skip_bad"), "{}", ended.stderr);
}

#[test]
fn bounds_count_what_the_user_says_and_not_what_was_answered() {
    let server = talkative();
    let place = Place::new();
    let long_answer = format!("{{\"messages\": [\"one\", {}, \"two\"], \"length\": 2}}\n", {
        message("assistant", &"word ".repeat(500))
    });
    let long_question = format!("{{\"messages\": [\"{}\"], \"length\": 3}}\n", "word ".repeat(500));
    let file = place.file("talks.jsonl", &format!("{long_question}{long_answer}"));
    let args = format!(
        "--data session:{file},output_tokens=length --max-input-tokens 100 --concurrency 1 \
         --requests 2"
    );
    run(place.bench(&server.url(), &args)).expect_measured();
    assert_eq!(
        conversations(&server),
        [
            vec![message("user", "one")],
            vec![message("user", "one"), answer(0, 2), message("user", "two")]
        ]
    );
    let notes = place.json("summary.json")["notes"].to_string();
    assert!(notes.contains("left out as too long, over all levels: 1"), "{notes}");
}

#[test]
fn the_time_after_a_warm_up_by_number_is_what_was_asked_for() {
    let server = talkative();
    let place = Place::new();
    // 24 turns are three conversations, but 24 arrivals would take four times the time.
    let args = "--data session,turns=8,think=10ms --rate 8 --arrival constant --warmup 24 \
                --duration 1s --output-tokens 2";
    run(place.bench(&server.url(), args)).expect_measured();
    let records = place.requests();
    let measured = || records.iter().filter(|r| r.phase != Phase::Warmup).map(|r| r.intended);
    assert_eq!(records.iter().filter(|r| r.phase == Phase::Warmup).count(), 24);
    let (first, last) = (measured().min().unwrap(), measured().max().unwrap());
    assert!(last - first < SEC, "{} ns", last - first);
}

#[test]
fn users_who_only_think_leave_no_steady_window() {
    let server = talkative();
    let place = Place::new();
    let args = "--data session,turns=2,think=30s --concurrency 2 --duration 500ms";
    run(place.bench(&server.url(), args)).expect_measured();
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["steady"], Value::Null);
    assert!(codes(&level["reasons"]).contains(&"no_steady_window".to_owned()), "{level}");
}

#[test]
fn conversations_are_shown_and_converted() {
    let place = Place::new();
    let call = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]}"#;
    let text = format!("{{\"messages\": [\"first\", {call}, \"second\"]}}\n{GOOD}{TOOL}");
    let file = place.file("talks.jsonl", &text);
    let shown = run(place.dyno(&format!("data show session:{file},skip_bad=true,turns=1-9")));
    let shown = shown.expect_status(&[0]).stdout;
    for part in [
        "talks.jsonl: session, JSON lines, messages from \"messages\"",
        "2 conversations\n\nturns\n",
        "input tokens of user messages (estimated)\n",
        "  1  user: first | user: second\n",
        "1 bad record skipped\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let convert = |to: &str, out: &str| {
        let spec = format!("session:{file},skip_bad=true");
        let converted = run(place.dyno(&format!("data convert {spec} --to {to} --out {out}")));
        let converted = converted.expect_status(&[0]).stdout;
        assert!(converted.starts_with("2 conversations written to "), "{converted}");
        run(place.dyno(&format!("data show session:{out}"))).expect_status(&[0]).stdout
    };
    for (to, out) in [("lines", "l.jsonl"), ("json", "j.jsonl"), ("parquet", "p.parquet")] {
        let shown = convert(to, out);
        assert!(shown.contains("  1  user: first | user: second\n"), "{to}: {shown}");
    }
    for (args, said) in [
        ("show session", "name a file of conversations with session:FILE"),
        ("convert session --to json --out x", "session:FILE"),
        ("show session:FILE", "a tool message at position 2"),
        ("show session:FILE,skip_bad=true --max-input-tokens 9 --truncate", "--truncate: "),
        ("show session:FILE,prefix=9", "the keys of session:FILE are turns, think"),
        (
            "convert session:FILE,prefix=9 --to json --out x",
            "the keys of session:FILE are turns, think",
        ),
    ] {
        let refused = run(place.dyno(&format!("data {}", args.replace("FILE", &file))));
        let refused = refused.expect_status(&[2]);
        assert!(refused.stderr.contains(said), "{args}: {}", refused.stderr);
    }
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
        ("--data session,prompt=x", vec!["--data: ", "\"prompt\"", "turns, think, first"]),
        ("--data session,groups=0", vec!["--data: ", "groups=0", "at least 1"]),
        ("--data random,groups=0", vec!["--data: ", "groups=0", "at least 1"]),
        ("--data session,turns=normal(8\\,2)", vec!["--data: ", "a largest number"]),
        ("--data session,prefix=8 --unique-prefix", vec!["--data: prefix=8", "--unique-prefix"]),
        ("--data session,prefix=99,first=50", vec!["--data: first=50: ", "99 the shared prefix"]),
        ("--data random,prefix=300", vec!["--data, --input-tokens: ", "300 the shared prefix"]),
        ("--data session --limit 4", vec!["--limit", "--data FILE"]),
        ("--data session:/nowhere/x.json", vec!["/nowhere/x.json"]),
    ] {
        let place = Place::new();
        run(place.bench(&server.url(), args)).expect_status(&[2]).expect_words(&words);
    }
    let place = Place::new();
    let target = format!("{}/v1/completions", server.url());
    let refused = run(place.bench(&target, "--data session")).expect_status(&[2]);
    assert!(refused.stderr.contains("shorten it to its base URL"), "{}", refused.stderr);
    assert!(server.generations().is_empty());
}
