//! Tokens at their due times, and the lateness that the engine reports.

use crate::support::{Client, chat, engine, metric, post};
use dyno_model::frame::EngineSlip;
use std::time::Duration;

#[test]
fn no_token_comes_before_its_time() {
    let running = engine("ttft=30ms,itl=5ms,tokens=40", &[]);
    let mut client = Client::connect(running.addr());
    let before = std::time::Instant::now();
    client.send(&post("/v1/chat/completions", "", &chat(40)));
    let response = client.response();
    assert_eq!(response.contents(), 40);
    let mut late = Vec::new();
    for (k, (at, _)) in response.chunks.iter().take(40).enumerate() {
        let due = Duration::from_millis(30 + 5 * k as u64);
        let since = *at - before;
        assert!(since >= due, "token {k} after {since:?}, due after {due:?}");
        late.push(since - due);
    }
    late.sort();
    println!("median lateness {:?}, worst {:?}", late[20], late[39]);
}

#[test]
fn the_head_comes_at_once_and_alone() {
    let running = engine("ttft=10s,itl=1ms,tokens=2", &[]);
    let mut client = Client::connect(running.addr());
    client.patience(Duration::from_millis(200));
    client.send(&post("/v1/chat/completions", "", &chat(2)));
    let (head, _) = client.raw();
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains("Content-Type: text/event-stream"));
}

#[test]
fn a_batch_is_due_when_its_last_token_is() {
    let running = engine("ttft=20ms,itl=10ms,tokens=8,batch=4", &[]);
    let mut client = Client::connect(running.addr());
    let before = std::time::Instant::now();
    client.send(&post("/v1/chat/completions", "", &chat(8)));
    let response = client.response();
    assert_eq!(response.contents(), 8);
    assert!(response.chunks[0].0 - before >= Duration::from_millis(50));
    assert!(response.chunks[4].0 - before >= Duration::from_millis(90));
    let slip: EngineSlip =
        serde_json::from_slice(&Client::connect(running.addr()).get("/dyno/slip").body).unwrap();
    assert_eq!(slip.count, 2, "one lateness for each batch");
}

#[test]
fn a_whole_response_comes_when_its_last_token_is_due() {
    let running = engine("ttft=20ms,itl=10ms,tokens=6", &[]);
    for (path, prompt) in [
        ("/v1/chat/completions", "\"messages\":[{\"role\":\"user\",\"content\":\"a b\"}]"),
        ("/v1/completions", "\"prompt\":\"a b\""),
    ] {
        let before = std::time::Instant::now();
        let response = Client::connect(running.addr()).ask(path, &format!("{{{prompt}}}"));
        assert!(before.elapsed() >= Duration::from_millis(70));
        let value = response.json();
        assert_eq!(value["usage"]["prompt_tokens"], 2);
        assert_eq!(value["usage"]["completion_tokens"], 6);
        assert_eq!(value["choices"][0]["finish_reason"], "stop");
        let text = value["choices"][0]["text"].as_str();
        let text = text.or(value["choices"][0]["message"]["content"].as_str()).unwrap();
        assert_eq!(text.split_whitespace().count(), 6);
    }
}

#[test]
fn slip_counts_every_token_and_can_be_reset() {
    let running = engine("ttft=1ms,itl=1ms,tokens=10", &[]);
    let mut client = Client::connect(running.addr());
    let slip = |client: &mut Client, path| {
        serde_json::from_slice::<EngineSlip>(&client.get(path).body).unwrap()
    };
    assert_eq!(slip(&mut client, "/dyno/slip").count, 0);
    client.chat(10);
    let first = slip(&mut client, "/dyno/slip?reset=1");
    assert_eq!(first.count, 10);
    assert!(first.p50_ns <= first.p99_ns && first.p99_ns <= first.max_ns && first.max_ns > 0);
    assert_eq!(slip(&mut client, "/dyno/slip").count, 0);
    client.chat(10);
    assert_eq!(metric(running.addr(), "dyno_engine_slip_seconds_count"), 10.0);
    assert_eq!(metric(running.addr(), "dyno_engine_requests_total"), 2.0);
}

#[test]
fn usage_is_reported_where_it_was_requested() {
    let running = engine("ttft=1ms,itl=0,tokens=5", &[]);
    let mut client = Client::connect(running.addr());
    let ask = |options: &str| {
        format!("{{\"prompt\":\"a b c\",\"stream\":true,\"stream_options\":{{{options}}}}}")
    };
    let none = client.ask("/v1/completions", &ask("")).values();
    assert!(none.len() == 5 && none.iter().all(|v| v["usage"].is_null()));
    assert_eq!(none[4]["choices"][0]["finish_reason"], "stop");
    assert!(none[..4].iter().all(|v| v["choices"][0]["finish_reason"].is_null()));

    let at_end = client.ask("/v1/completions", &ask("\"include_usage\":true"));
    let values = at_end.values();
    assert_eq!(values.len(), 6);
    assert!(values[..5].iter().all(|v| v["usage"].is_null()));
    assert_eq!(values[5]["choices"], serde_json::json!([]));
    assert_eq!(values[5]["usage"]["total_tokens"], 8);
    assert_eq!(at_end.events().last().unwrap(), "[DONE]");

    let each = ask("\"include_usage\":true,\"continuous_usage_stats\":true");
    let each = client.ask("/v1/completions", &each).values();
    let counts: Vec<_> =
        each.iter().map(|v| v["usage"]["completion_tokens"].as_u64().unwrap()).collect();
    assert_eq!(counts, [1, 2, 3, 4, 5, 5]);
}

#[test]
fn full_speed_streams_do_not_starve_paced_ones() {
    let running = engine("ttft=0,itl=0,tokens=200000,batch=16", &[]);
    let mut flat = Client::connect(running.addr());
    flat.send(&post("/v1/chat/completions", "", &chat(100_000)));
    let reader = std::thread::spawn(move || flat.response());
    let mut other = Client::connect(running.addr());
    for _ in 0..50 {
        assert_eq!(other.get("/health").status, 200);
    }
    let response = reader.join().unwrap();
    assert_eq!(response.contents(), 100_000);
    assert_eq!(response.chunks.len(), 100_002);
}
