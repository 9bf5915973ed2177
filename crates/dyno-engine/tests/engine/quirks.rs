//! Every quirk as documented, with the measurements of a regular response.

use crate::support::{Client, End, Response, chat, engine, post};
use std::time::{Duration, Instant};

const FAST: &str = "ttft=1ms,itl=1ms,tokens=8";

fn shown(quirk: &str) -> Response {
    let running = engine(FAST, &[quirk]);
    let response = Client::connect(running.addr()).chat(8);
    assert_eq!((response.status, response.end), (200, End::Proper), "{quirk}");
    response
}

#[test]
fn line_ends_and_spaces() {
    let crlf = shown("crlf").text();
    assert_eq!(crlf.matches("\r\n\r\n").count(), 10);
    assert_eq!(crlf.matches('\n').count(), 20);
    let cr = shown("cr").text();
    assert_eq!((cr.matches("\r\r").count(), cr.matches('\n').count()), (10, 0));
    let nospace = shown("nospace").text();
    assert_eq!((nospace.matches("data:{").count(), nospace.matches("data: ").count()), (9, 0));
    assert!(nospace.ends_with("data:[DONE]\n\n"));
}

#[test]
fn further_lines() {
    let running = engine("ttft=10s,itl=1ms,tokens=8", &["comments"]);
    let mut client = Client::connect(running.addr());
    client.patience(Duration::from_millis(400));
    assert_eq!(client.chat(8).text(), ": ping\n\n", "a comment comes before the first token");

    let comments = shown("comments").text();
    assert_eq!(comments.matches("data: ").count(), 10);
    assert!(comments.contains("}\n: ping\n\n"));
    let lines = shown("event-lines").text();
    assert_eq!(lines.matches("event: message\nid: ").count(), 10);
    assert_eq!(lines.matches("\nretry: 3000\ndata: ").count(), 10);
    let multi = shown("multiline").text();
    assert_eq!(multi.matches("\ndata: \"object\"").count(), 9);
    for event in multi.split("\n\n").filter(|e| e.contains('{')) {
        let data: Vec<_> = event.lines().map(|line| line.strip_prefix("data: ").unwrap()).collect();
        serde_json::from_str::<serde_json::Value>(&data.join("\n")).unwrap();
    }
    let bom = shown("bom").text();
    assert!(bom.starts_with("\u{feff}data: {") && bom.matches('\u{feff}').count() == 1);
}

#[test]
fn sizes_and_pieces() {
    let split = shown("split");
    assert!(!split.text().is_ascii() && split.contents() == 8);
    let big = shown("big");
    assert!(big.chunks[..8].iter().all(|(_, chunk)| chunk.len() >= 200_000));
    assert_eq!(big.contents(), 8);
    assert_eq!(shown("coalesce").contents(), 8);
    let chunks = shown("chunk-split");
    assert_eq!(chunks.contents(), 8);
    assert!(chunks.chunks.iter().all(|(_, chunk)| chunk.len() <= 37));
    assert!(chunks.chunks.iter().any(|(_, chunk)| chunk.ends_with(b"\n\nda")), "they overlap");
    let close = shown("close-delimited");
    assert_eq!((close.contents(), close.chunks.len()), (8, 0));
    assert!(close.head.contains("Connection: close"));
}

#[test]
fn coalesced_events_wait_for_the_last_of_them() {
    let running = engine("ttft=1ms,itl=5ms,tokens=16", &["coalesce"]);
    let before = Instant::now();
    let response = Client::connect(running.addr()).chat(16);
    assert!(response.chunks[0].0 - before >= Duration::from_millis(36));
    assert_eq!(response.contents(), 16);
}

#[test]
fn firsts_and_lasts() {
    let role = shown("role-first");
    assert_eq!(role.values()[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!((role.contents(), role.values().len()), (8, 10));

    let empty = shown("empty-finish").values();
    assert_eq!(empty[7]["choices"][0]["delta"]["content"], "");
    assert_eq!(empty[7]["choices"][0]["finish_reason"], "length");
    assert_eq!(empty[8]["usage"]["completion_tokens"], 8);

    let in_finish = shown("usage-in-finish");
    let values = in_finish.values();
    assert_eq!(values.len(), 8);
    assert_eq!(values[7]["usage"]["completion_tokens"], 8);
    assert_eq!(in_finish.events().last().unwrap(), "[DONE]");

    let no_done = shown("no-done");
    assert_eq!(no_done.events().len(), 8);
    assert_eq!(no_done.values()[7]["usage"]["completion_tokens"], 8);

    let no_usage = shown("no-usage");
    assert_eq!(no_usage.values().len(), 8);
    assert!(no_usage.values().iter().all(|v| v["usage"].is_null()));
}

#[test]
fn output_by_other_names() {
    for (quirk, field) in [("reasoning", "reasoning_content"), ("reasoning-alt", "reasoning")] {
        let values = shown(quirk).values();
        for (k, value) in values[..8].iter().enumerate() {
            let delta = &value["choices"][0]["delta"];
            assert_eq!((delta[field].is_string(), delta["content"].is_string()), (k < 4, k >= 4));
        }
    }
    let calls = shown("tool-calls").values();
    for value in &calls[..8] {
        let call = &value["choices"][0]["delta"]["tool_calls"][0]["function"];
        assert!(!call["arguments"].as_str().unwrap().is_empty());
    }
    assert_eq!(calls[7]["choices"][0]["finish_reason"], "tool_calls");
}

#[test]
fn refusals_show_in_a_preflight_too() {
    let cases = [
        ("refuse-ignore-eos", "\"ignore_eos\":true", 422, "ignore_eos"),
        ("refuse-min-tokens", "\"min_tokens\":3", 400, "min_tokens"),
        ("refuse-stream-options", "\"stream_options\":{}", 400, "stream_options"),
        ("refuse-max-tokens", "\"max_tokens\":3", 400, "max_completion_tokens"),
    ];
    for (quirk, field, status, words) in cases {
        let running = engine(FAST, &[quirk]);
        let mut client = Client::connect(running.addr());
        for header in ["", "x-dyno-preflight: 1\r\n"] {
            let body = format!("{{\"prompt\":\"x\",{field}}}");
            client.send(&post("/v1/completions", header, &body));
            let response = client.response();
            assert_eq!(response.status, status, "{quirk}");
            assert!(response.text().contains(words));
        }
        let without =
            client.ask("/v1/completions", "{\"prompt\":\"x\",\"max_completion_tokens\":3}");
        assert_eq!(without.status, 200);
    }
}

#[test]
fn quirks_of_the_whole_server() {
    let running = engine(FAST, &["models-500"]);
    let mut client = Client::connect(running.addr());
    assert_eq!((client.get("/v1/models").status, client.chat(2).status), (500, 200));

    let running = engine(FAST, &["auth"]);
    let mut client = Client::connect(running.addr());
    assert_eq!((client.get("/v1/models").status, client.chat(2).status), (401, 401));
    client.send(&post("/v1/chat/completions", "Authorization: Bearer sesame\r\n", &chat(2)));
    assert_eq!(client.response().contents(), 2);

    let whole = shown("no-stream");
    assert_eq!(whole.json()["usage"]["completion_tokens"], 8);
}

#[test]
fn idle_connections_are_closed_but_only_after_a_response() {
    let running = engine(FAST, &["idle-close"]);
    let mut unused = Client::connect(running.addr());
    let mut client = Client::connect(running.addr());
    assert_eq!(client.chat(2).contents(), 2);
    let since = Instant::now();
    assert_eq!(client.raw(), (Vec::new(), End::Closed));
    assert!(since.elapsed() >= Duration::from_millis(250), "{:?}", since.elapsed());
    assert_eq!(unused.chat(2).contents(), 2);
}

#[test]
fn a_second_request_may_find_its_connection_closed() {
    let running = engine(FAST, &["idle-close-race"]);
    for _ in 0..3 {
        let mut client = Client::connect(running.addr());
        assert_eq!(client.chat(2).contents(), 2);
        client.send(&post("/v1/chat/completions", "", &chat(2)));
        assert_eq!(client.raw(), (Vec::new(), End::Closed));
    }
}
