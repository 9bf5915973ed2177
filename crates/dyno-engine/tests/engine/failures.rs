//! Every failure, byte for byte as documented.

use crate::support::{Client, End, Response, chat, engine, post};
use std::time::Duration;

const FAST: &str = "ttft=1ms,itl=1ms,tokens=8";

/// The response to one faulty request for eight tokens.
fn hit(fault: &str) -> Response {
    let running = engine(FAST, &[fault]);
    let mut client = Client::connect(running.addr());
    if fault.starts_with("stall") || fault == "drip" {
        client.patience(Duration::from_millis(400));
    }
    client.chat(8)
}

#[test]
fn statuses() {
    for status in [500, 429, 503, 418] {
        let response = hit(&format!("http-{status}"));
        assert_eq!(
            (response.status, response.json()["error"]["code"].as_u64()),
            (status, Some(status.into()))
        );
    }
}

#[test]
fn every_nth_request_fails_and_the_connection_stays_usable() {
    let running = engine(FAST, &["http-500:every=3", "truncate:every=4"]);
    let mut client = Client::connect(running.addr());
    for n in 1..=12 {
        client.send(&post("/v1/chat/completions", "X-Dyno-Preflight: 1\r\n", &chat(2)));
        assert_eq!(client.response().contents(), 2);
        let response = client.chat(8);
        match n {
            n if n % 3 == 0 => assert_eq!(response.status, 500),
            n if n % 4 == 0 => assert_eq!(response.contents(), 4),
            _ => assert_eq!(response.contents(), 8),
        }
    }
}

#[test]
fn broken_connections() {
    let reset = hit("reset");
    assert_eq!((reset.end, reset.contents()), (End::Reset, 4));
    let close = hit("close");
    assert_eq!((close.end, close.contents()), (End::Closed, 4));
}

#[test]
fn a_dropped_request_is_dropped_again_on_a_fresh_connection_and_then_forgotten() {
    let running = engine(FAST, &["drop:every=2"]);
    let mut client = Client::connect(running.addr());
    assert_eq!(client.chat(7).contents(), 7);
    client.send(&post("/v1/chat/completions", "", &chat(8)));
    assert_eq!(client.raw(), (Vec::new(), End::Closed));
    let mut again = Client::connect(running.addr());
    again.send(&post("/v1/chat/completions", "", &chat(8)));
    assert_eq!(again.raw(), (Vec::new(), End::Closed));
    assert_eq!(Client::connect(running.addr()).chat(8).contents(), 8);
    let mut fresh = Client::connect(running.addr());
    fresh.send(&post("/v1/chat/completions", "", &chat(8)));
    assert_eq!(fresh.raw(), (Vec::new(), End::Closed));
    assert_eq!(Client::connect(running.addr()).chat(8).contents(), 8);
}

#[test]
fn errors_inside_a_200() {
    let event = hit("error-event");
    assert_eq!((event.status, event.end, event.contents()), (200, End::Proper, 4));
    let values = event.values();
    assert_eq!(values.last().unwrap()["error"]["code"], 500);
    assert_eq!(event.events().last().unwrap(), "[DONE]");
    let json = hit("json-error");
    assert_eq!(json.status, 200);
    assert!(json.head.contains("Content-Type: application/json"));
    assert_eq!(json.json()["error"]["code"], 500);
}

#[test]
fn malformed_responses() {
    let not_json = hit("not-json");
    let bad = |e: &String| e != "[DONE]" && serde_json::from_str::<serde_json::Value>(e).is_err();
    assert_eq!(not_json.events().iter().filter(|e| bad(e)).count(), 1);
    assert_eq!((not_json.end, not_json.events().len()), (End::Proper, 10));

    let bad_chunk = hit("bad-chunk");
    assert_eq!((bad_chunk.end, bad_chunk.contents()), (End::Malformed, 4));

    let running = engine(FAST, &["garbage"]);
    let mut client = Client::connect(running.addr());
    client.send(&post("/v1/chat/completions", "", &chat(8)));
    let (bytes, end) = client.raw();
    assert!(!bytes.starts_with(b"HTTP") && !bytes.is_empty() && end == End::Closed);

    let oversize = hit("oversize");
    let largest = oversize.chunks.iter().map(|(_, chunk)| chunk.len()).max().unwrap();
    assert!(largest > 20 * 1024 * 1024 && oversize.end == End::Proper);
}

#[test]
fn responses_that_end_too_early() {
    let truncate = hit("truncate");
    assert_eq!((truncate.end, truncate.events().len()), (End::Proper, 4));
    assert!(truncate.values().iter().all(|v| v["choices"][0]["finish_reason"].is_null()));

    let in_event = hit("truncate-event");
    assert_eq!(in_event.end, End::Proper);
    assert_eq!(in_event.text().matches("\n\n").count(), 4);
    assert!(in_event.text().rsplit("\n\n").next().unwrap().starts_with("data: {"));

    let empty = hit("empty");
    assert_eq!((empty.end, empty.contents()), (End::Proper, 0));
    let values = empty.values();
    assert_eq!(values[0]["choices"][0]["finish_reason"], "stop");
    assert_eq!(values[1]["usage"]["completion_tokens"], 0);
    assert_eq!(empty.events().last().unwrap(), "[DONE]");

    let short = hit("short");
    assert_eq!((short.end, short.contents()), (End::Proper, 4));
    assert_eq!(short.values()[3]["choices"][0]["finish_reason"], "stop");
    assert_eq!(short.values()[4]["usage"]["completion_tokens"], 4);
}

#[test]
fn silence() {
    let stall = hit("stall");
    assert_eq!((stall.end, stall.contents()), (End::Silent, 4));
    let first = hit("stall-first");
    assert_eq!((first.end, first.status), (End::Silent, 0));
    let headers = hit("stall-headers");
    assert_eq!((headers.end, headers.status, headers.body.len()), (End::Silent, 200, 0));
}

#[test]
fn drip_sends_comments_forever() {
    let running = engine(FAST, &["drip"]);
    let mut client = Client::connect(running.addr());
    client.send(&post("/v1/chat/completions", "", &chat(1)));
    client.patience(Duration::from_secs(5));
    // The patience is for each read, and each is satisfied: the test itself has to stop.
    let mut seen = Vec::new();
    while String::from_utf8_lossy(&seen).matches(": ping").count() < 3 {
        let mut piece = [0; 4096];
        let n = std::io::Read::read(&mut client.socket, &mut piece).unwrap();
        assert!(n > 0);
        seen.extend_from_slice(&piece[..n]);
    }
    let text = String::from_utf8(seen).unwrap();
    assert_eq!(text.matches("data: ").count(), 1);
    assert!(!text.contains("\"stop\"") && !text.contains("\"length\""));
}

#[test]
fn whole_responses_fail_too() {
    let body = "{\"prompt\":\"x\",\"max_tokens\":8}";
    let whole = |fault: &str| {
        let running = engine(FAST, &[fault]);
        let mut client = Client::connect(running.addr());
        client.patience(Duration::from_millis(if fault == "stall" { 400 } else { 5_000 }));
        client.ask("/v1/completions", body)
    };
    for (fault, end) in [("reset", End::Reset), ("close", End::Closed), ("stall", End::Silent)] {
        let response = whole(fault);
        assert!(response.end == end && !response.body.is_empty(), "{fault}: {response:?}");
    }
    assert!(serde_json::from_slice::<serde_json::Value>(&whole("truncate").body).is_err());
    assert_eq!(whole("short").json()["usage"]["completion_tokens"], 4);
    assert_eq!(whole("error-event").json()["error"]["code"], 500);
    assert_eq!(whole("bad-chunk").end, End::Malformed);
}
