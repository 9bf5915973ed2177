//! Forms that published files have beside the usual ones.

#![allow(clippy::unwrap_used)]

use dyno_workload::agentic::AgenticProfile;
use serde_json::{Value, json};

fn read(text: &str) -> Value {
    AgenticProfile::from_bytes("f", text.as_bytes()).unwrap().json()
}

fn refused(text: &str) -> String {
    AgenticProfile::from_bytes("f", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn spans_with_numbered_messages_and_no_operation_are_requests() {
    let span = |id: &str, trace: &str, attributes: Value| {
        let attributes: Vec<Value> = attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
            .collect();
        json!({
            "traceId": trace, "spanId": id, "startTimeUnixNano": "1000000000", "endTimeUnixNano": "2000000000",
            "status": {"code": 2}, "attributes": attributes,
        })
    };
    let asked = json!({
        "gen_ai.system": "s", "gen_ai.request.model": "m", "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Add it up", "gen_ai.completion.0.content": "",
    });
    let spans = [span("a", "t1", asked), span("b", "t2", json!({"gen_ai.system": "s"}))];
    let found = read(&json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string());
    assert_eq!((&found["trees"], &found["requests"]), (&json!(1), &json!(1)));
    let codes: Vec<&Value> =
        found["notes"].as_array().unwrap().iter().map(|note| &note["code"]).collect();
    assert_eq!(codes, [&json!("failed"), &json!("other_records")]);
}

/// A log of Codex with these reports of usage.
fn codex(reports: &[Value]) -> String {
    let row = |second: usize, kind: &str, payload: Value| {
        let time = format!("2026-03-01T10:00:{second:02}Z");
        format!("{}\n", json!({"timestamp": time, "type": kind, "payload": payload}))
    };
    let mut text = row(0, "session_meta", json!({"id": "cx-9"}));
    for (number, report) in reports.iter().enumerate() {
        let said = json!({"type": "message", "role": "user", "content": "go"});
        text += &row(3 * number + 1, "response_item", said);
        text += &row(3 * number + 3, "event_msg", json!({"type": "token_count", "info": report}));
    }
    text
}

#[test]
fn totals_of_codex_that_grow_are_requests_where_there_is_no_other_report() {
    let total = |input: u64, cached: u64, output: u64| json!({"total_token_usage": {"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output}});
    let found = read(&codex(&[total(1_000, 0, 20), total(1_000, 0, 20), total(2_100, 900, 50)]));
    assert_eq!(found["requests"], 2);
    assert_eq!(found["input_tokens_of_a_request"]["max"], 1_100);
    assert_eq!((&found["input_tokens"], &found["output_tokens"]), (&json!(2_100), &json!(50)));
    assert_eq!(found["recorded_cache_share"], 0.428571);
    assert_eq!(found["notes"][0]["code"], "repeated_usage");
}

#[test]
fn a_log_without_requests_is_not_called_empty() {
    let said = refused(&codex(&[json!({"total_token_usage": {"total_tokens": 9}})]));
    assert!(
        said.contains("it has the form of Codex, but no request that could be replayed ("),
        "{said}"
    );
}

#[test]
fn what_a_conversation_starts_that_is_not_read_is_left_out_with_it() {
    let turn = r#"{"messages": [{"role": "user", "content": "x"}], "forks": ["d"]}"#;
    let last = r#"{"messages": [{"role": "user", "content": "x"}]}"#;
    for starts in [
        r#""orchestrator": true, "spawns": ["b"]"#,
        r#""orchestrator": true, "spawns": [{"children": ["b"]}]"#,
        r#""pre_session_spawns": ["b"], "turns": []"#,
    ] {
        let text = format!(
            "{{\"session_id\": \"s\", {starts}}}\n{{\"session_id\": \"b\", \"turns\": [{turn}]}}\n\
             {{\"session_id\": \"d\", \"turns\": [{last}]}}\n{{\"session_id\": \"alone\", \"turns\": [{last}]}}\n"
        );
        let text = text.replace("\"turns\": []", &format!("\"turns\": [{last}]"));
        let found = read(&text);
        assert_eq!((&found["trees"], &found["requests"]), (&json!(1), &json!(1)), "{found:#}");
        assert_eq!(found["left_out"][0]["count"], 1);
        let why = found["left_out"][0]["first"][0].as_str().unwrap();
        assert!(why.contains("is not read; the tree is left out"), "{why}");
    }
}

#[test]
fn a_response_of_claude_code_without_usage_has_no_lengths() {
    let row = |kind: &str, second: u32, message: Value| {
        let time = format!("2026-03-01T10:00:{second:02}Z");
        format!(
            "{}\n",
            json!({"type": kind, "sessionId": "s", "timestamp": time, "message": message})
        )
    };
    let asked = row("user", 1, json!({"role": "user", "content": "go"}));
    let said = |id: &str| json!({"id": id, "role": "assistant", "content": [{"type": "text", "text": "so"}]});
    let without = asked + &row("assistant", 3, said("m1"));
    let found = read(&without);
    assert_eq!((&found["requests"], &found["input_tokens"]), (&json!(1), &Value::Null));
    assert_eq!(
        (&found["output_tokens"], &found["recorded_cache_share"]),
        (&Value::Null, &Value::Null)
    );
    let mut next = said("m2");
    next["usage"] = json!({"input_tokens": 7, "cache_read_input_tokens": 1, "output_tokens": 2});
    let found = read(&(without + &row("assistant", 5, next)));
    assert_eq!((&found["requests"], &found["input_tokens"]), (&json!(2), &json!(8)));
    assert_eq!(found["notes"][0]["code"], "without_input_tokens");
}
