//! Recorded sessions in every form: grouped, with their pauses and growth, or refused with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use dyno_model::prompt::Conversation;
use dyno_workload::data::{DataError, DataSpec};
use dyno_workload::key::Key;
use dyno_workload::lengths::Lengths;
use dyno_workload::tokenizer::Tokenizer;
use dyno_workload::trace::{
    Kept, SessionPrompts, SessionTraceProfile, SessionsOf, Starts, TraceLimits, TraceSessions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn opened(text: &str, spec: &str, starts: Starts) -> Result<TraceSessions, DataError> {
    limited(text, spec, starts, TraceLimits::default())
}

fn limited(
    text: &str,
    spec: &str,
    starts: Starts,
    limits: TraceLimits,
) -> Result<TraceSessions, DataError> {
    let spec: DataSpec = spec.parse().expect("a good specification");
    let path = spec.path.as_ref().and_then(|path| path.to_str()).expect("a path");
    TraceSessions::from_bytes(path, text.as_bytes(), &spec, &limits, starts)
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Each session as the pause in milliseconds, the input and the output of its requests.
fn sessions(read: &TraceSessions) -> Vec<Vec<(u64, u32, u32)>> {
    let one = |index| read.session(index).unwrap().map(|(p, i, o)| (p / MS, i, o)).collect();
    (0..read.len()).map(one).collect()
}

fn starts(read: &TraceSessions) -> Vec<u64> {
    read.schedule().map(|at| at / MS).collect()
}

/// Two sessions: one of three requests and, 300 ms after it, one of two.
fn expected() -> Vec<Vec<(u64, u32, u32)>> {
    vec![
        vec![(0, 900, 40), (500, 1_200, 60), (600, 1_300, 10)],
        vec![(0, 700, 20), (1_200, 1_000, 30)],
    ]
}

/// The same as events: session, start, end, input and output, in the order of their ends.
const EVENTS: [(&str, u64, u64, u32, u32); 5] = [
    ("b", 300, 800, 700, 20),
    ("a", 0, 900, 900, 40),
    ("a", 1_400, 2_000, 1_200, 60),
    ("b", 2_000, 2_300, 1_000, 30),
    ("a", 2_600, 2_900, 1_300, 10),
];

fn iso(ms: u64) -> String {
    format!("2026-03-02T10:00:{:02}.{:03}Z", ms / 1_000, ms % 1_000)
}

fn trace_lab() -> String {
    lines(&EVENTS.map(|(session, start, end, input, output)| {
        json!({
            "provider": "p", "session_id": session, "round_index": 0, "input_tokens_total": input,
            "prefix_tokens": input / 2, "newly_append_tokens": input - input / 2,
            "output_tokens": output,
            "timing_events": [
                {"event_type": "tool_result", "timestamp": iso(start.saturating_sub(40))},
                {"event_type": "user_message", "timestamp": iso(start)},
                {"event_type": "text", "timestamp": iso(end)},
                {"event_type": "reasoning", "timestamp": iso(end - 10)},
                {"event_type": "usage_report", "timestamp": iso(end + 500)},
            ],
            "tools": [],
        })
    }))
}

fn dynamo() -> String {
    let mut records = vec![json!({
        "schema": "dynamo.request.trace.v1", "event_type": "tool_end", "event_time_unix_ms": 5,
        "agent_context": {"session_id": "a"}, "tool": {"duration_ms": 4}
    })];
    records.extend(EVENTS.map(|(session, start, end, input, output)| {
        let blocks = input.div_ceil(100);
        let first = if session == "a" { 1_000 } else { 2_000 };
        let hashes: Vec<u32> = (0..blocks).map(|block| if block == 0 { 1 } else { first + block }).collect();
        json!({
            "schema": "dynamo.request.trace.v1", "event_type": "request_end",
            "event_time_unix_ms": 1_700_000_000_000_u64 + end,
            "agent_context": {"session_id": session},
            "request": {
                "request_received_ms": 1_700_000_000_000_u64 + start, "output_tokens": output,
                "replay": {"trace_block_size": 100, "input_length": input, "input_sequence_hashes": hashes},
            },
        })
    }));
    lines(&records)
}

fn otlp() -> String {
    let int = |key: &str, value: u32| json!({"key": key, "value": {"intValue": value.to_string()}});
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let spans = EVENTS.map(|(session, start, end, input, output)| {
        json!({
            "traceId": "00", "spanId": "01", "name": "chat m-1",
            "startTimeUnixNano": (start * MS).to_string(), "endTimeUnixNano": (end * MS).to_string(),
            "attributes": [
                text("gen_ai.operation.name", "chat"), text("gen_ai.conversation.id", session),
                int("gen_ai.usage.input_tokens", input), int("gen_ai.usage.output_tokens", output),
            ],
        })
    });
    let tool = json!({
        "traceId": "00", "spanId": "02", "name": "execute_tool search", "startTimeUnixNano": "5",
        "endTimeUnixNano": "6", "attributes": [text("gen_ai.operation.name", "execute_tool")],
    });
    let (first, rest) = spans.split_at(2);
    let all = |spans: &[Value]| json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]});
    lines(&[all(&[&[tool], first].concat()), all(rest)])
}

fn console_spans() -> String {
    EVENTS
        .map(|(session, start, end, input, output)| {
            let span = json!({
                "name": "chat m-1", "context": {"trace_id": format!("0x{session}"), "span_id": "0x1"},
                "start_time": iso(start), "end_time": iso(end),
                "attributes": {
                    "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": input,
                    "gen_ai.usage.output_tokens": output,
                },
            });
            serde_json::to_string_pretty(&span).unwrap() + "\n"
        })
        .concat()
}

fn serving_sim() -> String {
    let requests = |session: &str| -> Vec<Value> {
        let expected = expected();
        let turns = &expected[usize::from(session == "b")];
        let tool = |place: usize| turns.get(place + 1).map_or(0, |turn| turn.0 * MS);
        let one = |(place, turn): (usize, &(u64, u32, u32))| json!({"input_toks": turn.1, "output_toks": turn.2, "tool_duration_ns": tool(place)});
        turns.iter().enumerate().map(one).collect()
    };
    lines(&[
        json!({"session_id": 8, "arrival_time_ns": 300 * MS, "sub_requests": requests("b")}),
        json!({"session_id": 7, "arrival_time_ns": 0, "sub_requests": requests("a")}),
    ])
}

fn mooncake() -> String {
    let row = |session: &str, input: u32, output: u32| json!({"session_id": session, "input_length": input, "output_length": output, "hash_ids": []});
    let with = |mut row: Value, key: &str, value: u64| {
        row[key] = json!(value);
        row
    };
    lines(&[
        with(row("a", 900, 40), "timestamp", 5_000),
        with(row("b", 700, 20), "timestamp", 5_300),
        with(row("a", 1_200, 60), "delay", 500),
        with(row("b", 1_000, 30), "delay_ms", 1_200),
        with(row("a", 1_300, 10), "delay", 600),
    ])
}

fn table() -> String {
    let mut text = "who,sent,done,in,out\n".to_owned();
    for (session, start, end, input, output) in EVENTS {
        text.push_str(&format!("{session},{start},{end},{input},{output}\n"));
    }
    text
}

#[test]
fn the_same_sessions_in_every_form() {
    let mapped = "trace:t.csv,session=who,time=sent,end=done,unit=ms,input=in,output=out";
    for (name, text, spec) in [
        ("TraceLab", trace_lab(), "trace:t.jsonl"),
        ("Dynamo", dynamo(), "trace:t.jsonl"),
        ("OpenTelemetry", otlp(), "trace:t.jsonl"),
        ("OpenTelemetry", console_spans(), "trace:t.json"),
        ("LLMServingSim", serving_sim(), "trace:t.jsonl"),
        ("Mooncake", mooncake(), "trace:t.jsonl"),
        ("mapped", table(), mapped),
    ] {
        let read = opened(&text, spec, Starts::Recorded).expect(name);
        assert_eq!(sessions(&read), expected(), "{name}");
        assert_eq!(starts(&read), [0, 300], "{name}");
        let file = spec.split([':', ',']).nth(1).unwrap();
        let told = format!("{file}: {name} sessions, 2 sessions with 5 requests over 300 ms");
        assert_eq!(read.recognised(), told);
        assert_eq!(read.tally().skipped, 0);
    }
}

fn weka(requests: Value) -> String {
    let session = json!({
        "id": "s-1", "models": ["m-1"], "block_size": 100, "hash_id_scope": "local",
        "tool_tokens": 50, "system_tokens": 20, "requests": requests,
    });
    serde_json::to_string_pretty(&session).unwrap()
}

#[test]
fn weka_pauses_are_thought_or_what_the_responses_left() {
    let text = weka(json!([
        {"t": 0.0, "type": "s", "model": "m-1", "in": 900, "out": 40, "hash_ids": [1, 2, 3, 4, 5, 6, 7, 8, 9], "api_time": 0.9},
        {"t": 1.4, "type": "n", "model": "m-1", "in": 1200, "out": 60, "hash_ids": [1, 2, 3, 4, 5, 6, 70, 71], "api_time": 0.6},
        {"t": 9.0, "type": "s", "model": "m-1", "in": 1300, "out": 10, "hash_ids": [], "think_time": 0.6, "api_time": null},
    ]));
    let read = opened(&text, "session:w.json", Starts::Given).expect("sessions");
    assert_eq!(sessions(&read), [expected()[0].clone()]);
    assert_eq!(starts(&read), [0; 0]);
    // Of the second request's 1,200 tokens, six blocks of 100 are those of the first; the replay shares
    // the 940 that the conversation has by then. The third does not say.
    let kept = SessionTraceProfile::of(&read).kept;
    assert_eq!(kept, Some(Kept { input: 1_200, recorded: 600, replayed: 940 }));
    assert_eq!(
        opened(&text, "trace:w.json", Starts::Recorded).expect_err("no clock").to_string(),
        "w.json:1: a WEKA session does not say when it started; replay it with session:FILE and \
         --concurrency or --rate"
    );
    let spec: DataSpec = "session:none.json".parse().unwrap();
    assert_eq!(TraceSessions::named_by(&spec), None, "a file that is not there");
}

#[test]
fn branches_are_refused_by_their_line_and_field() {
    let subagent = weka(json!([
        {"t": 0.0, "type": "s", "model": "m-1", "in": 900, "out": 40},
        {"t": 1.0, "type": "subagent", "agent_id": "x", "requests": [{"t": 0.0, "in": 5, "out": 5}]},
        {"t": 3.0, "type": "s", "model": "m-1", "in": 1000, "out": 40, "api_time": 1},
    ]));
    let child = json!({
        "schema": "dynamo.request.trace.v1", "event_type": "request_end", "event_time_unix_ms": 9,
        "agent_context": {"session_id": "c", "parent_session_id": "a"},
        "request": {"request_received_ms": 1, "output_tokens": 1, "replay": {"input_length": 4}},
    });
    let joined = json!({"session_id": "a", "timestamp": 5, "input_length": 9_000, "output_length": 1, "wait_for": ["r1", "r2"]});
    let shrunk = json!({"session_id": "a", "delay": 5, "input_length": 1_310, "output_length": 1});
    let parallel = EVENTS.map(|(s, start, end, i, o)| {
        let start = if start == 1_400 { 850 } else { start };
        format!("{s},{start},{end},{i},{o}\n")
    });
    let parallel = "who,sent,done,in,out\n".to_owned() + &parallel.concat();
    const SKIP: &str = ", or skip_bad=true to skip such records";
    for (text, spec, why, left) in [
        (
            subagent,
            "session:w.json",
            "w.json:1: request 2: the field \"type\" is \"subagent\", with requests beside those of \
             the session, and sessions do not branch; remove it",
            vec![2],
        ),
        (
            dynamo() + &lines(&[child]),
            "trace:d.jsonl",
            "d.jsonl:7: the field \"agent_context.parent_session_id\" makes the session a part of \
             \"a\", and sessions do not branch; remove the requests of subagents",
            vec![3, 2],
        ),
        (
            mooncake() + &lines(&[joined]),
            "trace:m.jsonl",
            "m.jsonl:6: the field \"wait_for\" makes the request wait for others than the one before \
             it, which a session cannot do; remove it",
            vec![3, 2],
        ),
        (
            mooncake() + &lines(&[shrunk]),
            "trace:m.jsonl",
            "m.jsonl:6: the field \"input_length\" is 1310, and its session has 1310 tokens by then: \
             the history was cut, or the request is of another branch, and a session only grows; \
             remove it, or give it another session",
            vec![3, 2],
        ),
        (
            parallel,
            "trace:t.csv,session=who,time=sent,end=done,unit=ms,input=in,output=out",
            "t.csv:4: the request was sent 50 ms before the response to the one before it in its \
             session was complete, and a session has no parallel requests; remove it, or give it \
             another session",
            vec![2, 2],
        ),
    ] {
        let starts = if spec.starts_with("session") { Starts::Given } else { Starts::Recorded };
        let error = opened(&text, spec, starts).expect_err(spec).to_string();
        assert_eq!(error, format!("{why}{SKIP}"));
        let read = opened(&text, &format!("{spec},skip_bad=true"), starts).expect("the rest");
        let turns: Vec<usize> = sessions(&read).iter().map(Vec::len).collect();
        assert_eq!((turns, read.tally().skipped), (left, 1), "{spec}");
    }
}

#[test]
fn clocks_that_are_a_little_off_make_no_parallel_requests() {
    for (early, accepted) in [(0, true), (10, true), (11, false), (500, false)] {
        let text = format!("s,t,e,i,o\nx,1000,2000,50,5\nx,{},3000,90,5\n", 2_000 - early);
        let spec = "trace:t.csv,session=s,time=t,end=e,unit=ms,input=i,output=o";
        let read = opened(&text, spec, Starts::Recorded);
        assert_eq!(read.is_ok(), accepted, "{early} ms early");
        let pauses = read.map(|read| sessions(&read)[0][1].0);
        assert!(pauses.is_err() || pauses.is_ok_and(|pause| pause == 0));
    }
}

#[test]
fn dynamos_mooncake_files_with_a_header_and_dependencies() {
    let header = json!({"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": 64});
    let row = |input: u32, after: &[&str]| json!({"request_id": "r", "session_id": "a", "input_length": input, "output_length": 2, "dependencies": after});
    let chain = lines(&[header.clone(), row(40, &[]), row(90, &[])]);
    let read = opened(&chain, "session:d.jsonl", Starts::Given).expect("a session");
    assert_eq!(sessions(&read), [vec![(0, 40, 2), (0, 90, 2)]]);
    let graph = lines(&[header, row(40, &[]), row(90, &["r"])]);
    let error = opened(&graph, "session:d.jsonl", Starts::Given).expect_err("a graph").to_string();
    assert!(error.starts_with("d.jsonl:3: the field \"dependencies\" makes"), "{error}");
}

fn chat(rows: &[Value]) -> String {
    lines(rows)
}

#[test]
fn mlcommons_messages_are_conversations_with_their_text() {
    let text = chat(&[
        json!({"_type": "dataset_metadata", "conversation_id": "c1", "turn": 0, "role": "system"}),
        json!({"conversation_id": "c1", "turn": 1, "role": "user", "content": "What is a knee?", "system": "Be brief.", "max_new_tokens": 20}),
        json!({"conversation_id": "c1", "turn": 2, "role": "assistant", "content": "A joint."}),
        json!({"conversation_id": "c1", "turn": 3, "role": "user", "content": "And an elbow?", "delay_seconds": 1.5}),
        json!({"conversation_id": "c2", "turn": 1, "role": "user", "content": "Hello"}),
    ]);
    let read = opened(&text, "session:c.jsonl", Starts::Given).expect("conversations");
    assert_eq!(read.recognised(), "c.jsonl: MLCommons sessions, 2 sessions with 3 requests");
    assert!(read.have_text());
    let prompts = prompts(&read, 7, false);
    let first = prompts.conversation(0).unwrap();
    let said: Vec<Vec<(String, String)>> = first
        .turns
        .iter()
        .map(|turn| turn.messages.iter().map(|m| (m.role.clone(), m.content.clone())).collect())
        .collect();
    let message = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        said,
        [
            vec![message("system", "Be brief."), message("user", "What is a knee?")],
            vec![message("user", "And an elbow?")],
        ]
    );
    let asked: Vec<(u64, u32)> =
        first.turns.iter().map(|t| (t.think / MS, t.output_tokens)).collect();
    assert_eq!(
        asked,
        [(0, 20), (1_500, 64)],
        "the length of --output-tokens where none is recorded"
    );

    let tool = chat(&[
        json!({"conversation_id": "t", "turn": 1, "role": "user", "content": "Look"}),
        json!({"conversation_id": "t", "turn": 2, "role": "assistant", "tool_calls": [{}]}),
        json!({"conversation_id": "t", "turn": 3, "role": "tool", "tool_results": [{"tool_call_id": "1", "content": "4"}]}),
        json!({"conversation_id": "t", "turn": 4, "role": "user", "content": "And?"}),
    ]);
    assert_eq!(
        opened(&tool, "session:t.jsonl", Starts::Given).expect_err("a tool").to_string(),
        "t.jsonl:3: the field \"role\" is \"tool\", the result of a tool that the server may not call \
         this time; remove the conversation, or skip_bad=true to skip such records"
    );
    let both = text + &tool;
    let read = opened(&both, "session:t.jsonl,skip_bad=true", Starts::Given).expect("the others");
    assert_eq!((read.len(), read.requests()), (2, 3), "its conversation is left out as a whole");
    assert_eq!(read.tally().skipped, 3);
}

#[test]
fn what_a_specification_names() {
    let place = tempfile::tempdir().expect("folder");
    let path = |name: &str, text: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let lab = path("lab.jsonl", &trace_lab());
    let talk = json!({"conversation_id": "c", "turn": 1, "role": "user", "content": "Hi"});
    let talk = path("talk.jsonl", &lines(&[talk]));
    let flat = path("flat.jsonl", "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\n");
    let named = |text: String| TraceSessions::named_by(&text.parse().expect("good"));
    for kind in ["", "trace:", "session:"] {
        assert_eq!(named(format!("{kind}{lab}")), Some(SessionsOf::Lengths));
        assert_eq!(named(format!("{kind}{flat}")), None);
    }
    assert_eq!(named(format!("session:{talk}")), Some(SessionsOf::Text));
    assert_eq!(named(format!("json:{lab}")), None);
    // A whole mapping without sessions replays the requests at their times.
    let flat = "time=timing_events.1.timestamp,input=input_tokens_total,output=output_tokens";
    assert_eq!(named(format!("trace:{lab},{flat}")), None);
    let error = opened(
        "{\"timestamp\":0,\"input_length\":5,\"output_length\":1}\n",
        "session:f",
        Starts::Given,
    );
    assert_eq!(
        error.expect_err("no sessions").to_string(),
        "f is not session: it holds requests that do not wait for each other; replay it with \
         trace:FILE, or name the field of their sessions with session="
    );
}

#[test]
fn sessions_are_cut_limited_and_sped_up() {
    let read = |spec: &str, limits| limited(&trace_lab(), spec, Starts::Recorded, limits);
    let none = TraceLimits::default();
    let fast = read("trace:t,speed=2", none).expect("both");
    assert_eq!(starts(&fast), [0, 150]);
    assert_eq!(sessions(&fast)[0][1], (250, 1_200, 60), "pauses, too");
    let late = read("trace:t,from=200ms", none).expect("one");
    assert_eq!((starts(&late), late.tally().outside), (vec![100], 3));
    assert_eq!(
        late.recognised(),
        "t: TraceLab sessions, 2 sessions with 5 requests over 300 ms; 1 of them, from 200 ms on"
    );
    let few = read("trace:t", TraceLimits { limit: Some(1), ..none }).expect("one");
    assert_eq!((few.len(), few.tally().beyond_limit), (1, 2));
    let short = read("trace:t", TraceLimits { max_input: Some(1_200), ..none }).expect("one");
    assert_eq!((starts(&short), short.tally().dropped_long), (vec![300], 3));
    let long = read("trace:t", TraceLimits { min_input: Some(800), ..none }).expect("one");
    assert_eq!((starts(&long), long.tally().dropped_short), (vec![0], 2));
    let given = opened(&trace_lab(), "session:t,turns=2,think=2s", Starts::Given).expect("both");
    assert_eq!(sessions(&given).iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let talk = prompts(&given, 1, false).conversation(0).unwrap();
    assert_eq!(talk.turns.iter().map(|turn| turn.think / MS).collect::<Vec<_>>(), [0, 2_000]);
}

fn prompts(sessions: &TraceSessions, seed: u64, unique: bool) -> SessionPrompts {
    let (output, key) = (Lengths::fixed(64), Key::new(seed, 0));
    SessionPrompts::new(&Tokenizer::estimate(), sessions.clone(), output, key, unique).unwrap()
}

fn words(talk: &Conversation) -> Vec<Vec<String>> {
    let text = |turn: &dyno_model::prompt::UserTurn| turn.messages.last().unwrap().content.clone();
    let split = |text: String| text.split(' ').map(str::to_owned).collect();
    talk.turns.iter().map(text).map(split).collect()
}

#[test]
fn a_conversation_grows_as_its_session_did() {
    let read = opened(&dynamo(), "trace:t", Starts::Recorded).expect("sessions");
    let made = prompts(&read, 3, false);
    let count = |text: &str| Tokenizer::estimate().count(text).unwrap();
    for (index, turns) in (0_u64..).zip(expected()) {
        let talk = made.conversation(index).unwrap();
        assert_eq!(talk.input_tokens, Some(turns[0].1));
        let mut history = 0;
        for (turn, (pause, input, output)) in talk.turns.iter().zip(&turns) {
            history += count(&turn.messages[0].content);
            assert_eq!((turn.think / MS, history, turn.output_tokens), (*pause, *input, *output));
            history += turn.output_tokens;
        }
        assert_eq!(talk, made.conversation(index).unwrap(), "the same again");
    }
    // The first blocks of 100 tokens are the same in both sessions, and nothing after that is.
    let (one, other) =
        (words(&made.conversation(0).unwrap()), words(&made.conversation(1).unwrap()));
    let same = one[0].iter().zip(&other[0]).take_while(|(a, b)| a == b).count();
    assert!((90..=101).contains(&same), "{same} words");
    assert_ne!(one[1][..8], other[1][..8]);
    // After the last they begin again, with other words from where nothing is shared.
    let again = words(&made.conversation(2).unwrap());
    assert_ne!(again[1], one[1]);
    let unique = words(&prompts(&read, 3, true).conversation(0).unwrap());
    let other = words(&prompts(&read, 3, true).conversation(1).unwrap());
    assert_ne!(unique[0][..4], other[0][..4]);
    let apart = made.apart().unwrap().expect("a prompt");
    assert_eq!(apart.input_tokens, Some(900));
}

#[test]
fn what_is_told_about_sessions() {
    let read = opened(&trace_lab(), "trace:lab.jsonl", Starts::Recorded).expect("sessions");
    insta::assert_snapshot!(format!("{}\n{}", read.recognised(), SessionTraceProfile::of(&read)));
    // Without the ends of responses, pauses are from request to request.
    let spec = "trace:t.csv,session=who,time=sent,unit=ms,input=in,output=out";
    let read = opened(&table(), spec, Starts::Recorded).expect("sessions");
    assert_eq!(sessions(&read)[0][1].0, 1_400);
    let profile = SessionTraceProfile::of(&read);
    assert_eq!(profile.with_response, 3);
    let told = "  3 of them include the time of the recorded response\n";
    assert!(profile.to_string().contains(told), "{profile}");
}

#[test]
fn a_misspelt_session_end_or_hash_is_no_field() {
    for (misspelt, key) in [
        ("session=whom,time=sent,end=done", "\"whom\", which session= names"),
        ("session=who,time=sent,end=dome", "\"dome\", which end= names"),
        ("session=who,time=sent,end=done,hash=ids", "\"ids\", which hash= names"),
        ("session=who,time=sent,gap=wait", "\"wait\", which gap= names"),
    ] {
        let spec = format!("trace:t.csv,{misspelt},unit=ms,input=in,output=out");
        let error = opened(&table(), &spec, Starts::Recorded).expect_err(misspelt).to_string();
        let said =
            format!("t.csv:2: there is no field {key}; the fields are done, in, out, sent, who");
        assert_eq!(error, format!("{said}; name one of them"));
    }
}

#[test]
fn requests_with_a_blank_session_are_counted() {
    let text = "who,sent,in,out\na,0,100,5\n,10,100,5\na,500,300,5\n ,20,100,5\n";
    let spec = "trace:t.csv,session=who,time=sent,unit=ms,input=in,output=out";
    let read = opened(text, spec, Starts::Recorded).expect("read");
    assert_eq!((read.len(), read.tally().without_session), (3, 2));
}

#[test]
fn a_response_that_ends_before_its_request_is_refused() {
    let spec = "trace:t.csv,session=who,time=done,end=sent,unit=ms,input=in,output=out";
    let error = opened(&table(), spec, Starts::Recorded).expect_err("swapped").to_string();
    let why = "the response ends before its request is sent; swap time= and end= if all records are \
               like this; else correct it, or skip_bad=true to skip such records";
    assert_eq!(error, format!("t.csv:2: the field \"sent\" is 500 ms before \"done\": {why}"));
}

proptest! {
    #[test]
    fn mapped_sessions_keep_every_pause_and_length(
        all in prop::collection::vec(prop::collection::vec((0_u64..5_000, 1_u32..500, 1_u32..90), 1..6), 1..6),
    ) {
        // Rows of all sessions in the order in which they were sent, with ends and totals.
        let (mut rows, mut wanted) = (Vec::new(), Vec::new());
        for (name, turns) in all.iter().enumerate() {
            let (mut at, mut history, mut session) = (name as u64, 0, Vec::new());
            for (number, (pause, added, output)) in turns.iter().enumerate() {
                let pause = if number == 0 { 0 } else { *pause };
                let (start, input) = (at + pause, history + added);
                at = start + 7;
                history = input + output;
                rows.push((start, at, name, input, *output));
                session.push((pause, input, *output));
            }
            wanted.push(session);
        }
        rows.sort_unstable();
        let mut text = "s,t,e,i,o\n".to_owned();
        for (start, end, name, input, output) in rows {
            text.push_str(&format!("{name},{start},{end},{input},{output}\n"));
        }
        let spec = "trace:t.csv,session=s,time=t,end=e,unit=ms,input=i,output=o";
        let read = opened(&text, spec, Starts::Recorded).unwrap();
        prop_assert_eq!(sessions(&read), wanted);
    }

    #[test]
    fn any_bytes_are_sessions_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), form in 0_usize..7) {
        let heads = [trace_lab(), dynamo(), otlp(), serving_sim(), mooncake(), table(), weka(json!([{"t": 0, "in": 5, "out": 1}]))];
        let bytes = [heads[form].as_bytes(), &bytes].concat();
        let spec: DataSpec = "session:t,skip_bad=true".parse().unwrap();
        if let Err(error) = TraceSessions::from_bytes("t", &bytes, &spec, &TraceLimits::default(), Starts::Given) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
