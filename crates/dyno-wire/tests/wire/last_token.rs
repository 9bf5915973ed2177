//! When the last token of a response came, by APIs that say it in different events.

#![allow(clippy::unwrap_used)]

use dyno_model::MS;
use dyno_model::budget::Budget;
use dyno_model::plan::Api;
use dyno_model::record::{Phase, RequestRecord};
use dyno_wire::client::ArrivalTime;
use dyno_wire::dialect::{Keep, find};
use dyno_wire::exchange::{Exchange, Rules};
use dyno_wire::redact::Redactor;
use serde_json::{Value, json};

/// The record of a stream whose events arrive a millisecond apart, the first at 1 ms.
fn record(api: &'static str, events: &[Value]) -> RequestRecord {
    let rules = Rules {
        dialect: find(&Api::named(api)).unwrap(),
        stream: true,
        keep: Keep::default(),
        redactor: Redactor::default(),
        budget: Budget::foreign(),
    };
    let mut exchange = Exchange::new(RequestRecord::new(0, 0, 0, Phase::Measured, 0), false);
    let arrival = |at| ArrivalTime { after: at, at, last_byte_slack: 0 };
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    exchange.on_data(&rules, head, arrival(0));
    for (event, at) in events.iter().zip(1..) {
        let kind = event["type"].as_str().unwrap();
        let bytes = format!("event: {kind}\ndata: {event}\n\n");
        exchange.on_data(&rules, bytes.as_bytes(), arrival(at * MS));
    }
    assert!(exchange.record.is_completed(), "{:?}", exchange.record.detail);
    exchange.record
}

fn times(record: &RequestRecord) -> (u64, u64, u64) {
    (record.first.unwrap() / MS, record.last.unwrap() / MS, record.end / MS)
}

#[test]
fn the_last_event_of_responses_repeats_them_and_carries_no_token() {
    let response = json!({"status": "completed", "output": [], "usage": {"output_tokens": 3}});
    let events = [
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        json!({"type": "response.output_text.delta", "delta": "one"}),
        json!({"type": "response.output_text.delta", "delta": " two"}),
        // The end of the sequence is a token, too.
        json!({"type": "response.output_text.done", "text": "one two"}),
        json!({"type": "response.output_item.done", "item": {"type": "message"}}),
        json!({"type": "response.completed", "response": response}),
    ];
    assert_eq!(times(&record("openai-responses", &events)), (2, 4, 6));
}

#[test]
fn a_response_that_comes_with_the_last_event_has_its_token_there() {
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "all"}]}]);
    let response = json!({"status": "completed", "output": output});
    let events = [
        json!({"type": "response.created", "response": {"status": "in_progress"}}),
        json!({"type": "response.completed", "response": response}),
    ];
    assert_eq!(times(&record("openai-responses", &events)), (2, 2, 2));
}

#[test]
fn messages_begin_with_their_first_text_and_end_with_their_reason() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "one"}}),
        json!({"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "x"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    let record = record("anthropic-messages", &events);
    assert_eq!(times(&record), (4, 6, 7));
    assert_eq!(record.chunks.len(), 1);
}
