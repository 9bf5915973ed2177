//! Every form of recorded sessions gives the same sessions.

use super::*;

/// The same as events: session, start, end, input and output, in the order of their ends.
pub(crate) const EVENTS: [(&str, u64, u64, u32, u32); 5] = [
    ("b", 300, 800, 700, 20),
    ("a", 0, 900, 900, 40),
    ("a", 1_400, 2_000, 1_200, 60),
    ("b", 2_000, 2_300, 1_000, 30),
    ("a", 2_600, 2_900, 1_300, 10),
];

pub(crate) fn iso(ms: u64) -> String {
    format!("2026-03-02T10:00:{:02}.{:03}Z", ms / 1_000, ms % 1_000)
}

pub(crate) fn trace_lab() -> String {
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

pub(crate) fn dynamo() -> String {
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

pub(crate) fn otlp() -> String {
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

pub(crate) fn console_spans() -> String {
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

pub(crate) fn serving_sim() -> String {
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

pub(crate) fn mooncake() -> String {
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

pub(crate) fn table() -> String {
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
        assert_eq!(read.recognised().to_string(), told);
        assert_eq!(read.tally().skipped, 0);
    }
}

pub(crate) fn weka(requests: Value) -> String {
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
