//! OpenAI's Responses.

use crate::support::{Client, engine};
use serde_json::Value;
use std::time::Duration;

#[test]
fn the_first_events_come_at_once_and_the_tokens_when_they_are_due() {
    let running = engine("ttft=80ms,itl=5ms", &[]);
    let mut client = Client::connect(running.addr());
    let body = r#"{"input":"a b","max_output_tokens":4,"ignore_eos":true,"stream":true}"#;
    let response = client.ask("/v1/responses", body);
    assert!(response.text().starts_with("event: response.created\ndata: {"));
    let waited = response.chunks[2].0 - response.chunks[1].0;
    assert!(waited > Duration::from_millis(50), "{waited:?} before the first token");
    let data: Vec<Value> = response
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let last = data.last().unwrap();
    assert_eq!(last["sequence_number"], data.len() - 1);
    assert_eq!(last["response"]["status"], "incomplete");
    assert_eq!(last["response"]["usage"]["output_tokens"], 4);
    let whole = client.ask("/v1/responses", r#"{"input":"a b","max_output_tokens":500}"#).json();
    assert_eq!((&whole["status"], &whole["object"]), (&"completed".into(), &"response".into()));
    assert_eq!(whole["usage"]["output_tokens"], 128);
    assert_eq!(client.ask("/v1/responses", "{}").json()["error"]["code"], 400);
}
