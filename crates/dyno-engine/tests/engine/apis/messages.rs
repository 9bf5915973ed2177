//! Anthropic's Messages.

use crate::support::{Client, SCHEDULER, engine, post, running, twin};
use dyno_engine::core::Scheduler;

const BODY: &str = r#"{"max_tokens":4,"system":"be brief","stream":true,
    "messages":[{"role":"user","content":"one two three four five six"}]}"#;

#[test]
fn a_key_may_come_under_either_name() {
    let running = engine("ttft=1ms,itl=1ms", &["auth"]);
    let mut client = Client::connect(running.addr());
    let refused = client.ask("/v1/messages", BODY);
    assert_eq!(refused.status, 401);
    assert_eq!(refused.json()["error"]["type"], "authentication_error");
    for header in ["x-api-key: sesame\r\n", "Authorization: Bearer sesame\r\n"] {
        client.send(&post("/v1/messages", header, BODY));
        let text = client.response().text();
        assert_eq!(text.matches("text_delta").count(), 4, "{text}");
    }
    // Elsewhere only one of them is a key.
    client.send(&post("/v1/chat/completions", "x-api-key: sesame\r\n", "{\"messages\":[]}"));
    assert_eq!(client.response().status, 401);
}

#[test]
fn tokens_are_counted_without_a_message() {
    let running = engine("ttft=1ms", &[]);
    let mut client = Client::connect(running.addr());
    let counted = client.ask("/v1/messages/count_tokens", BODY);
    assert_eq!(counted.json()["input_tokens"], 8);
    assert_eq!(client.ask("/v1/messages/count_tokens", "{}").status, 400);
    assert_eq!(client.get("/v1/messages/count_tokens").status, 405);
}

#[test]
fn an_overloaded_server_says_so_in_its_own_words() {
    let running = engine("ttft=1ms", &["http-529"]);
    let refused = Client::connect(running.addr()).ask("/v1/messages", BODY);
    assert_eq!(refused.status, 529);
    assert_eq!(refused.json()["error"]["type"], "overloaded_error");
}

#[test]
fn cached_tokens_are_counted_apart_from_the_input() {
    let scheduler = Scheduler { prefix_cache: true, ..SCHEDULER };
    let running = running(twin(scheduler, 1.0), &[]);
    let mut client = Client::connect(running.addr());
    let first = client.ask("/v1/messages", BODY).text();
    assert!(first.contains("\"input_tokens\":8,"), "{first}");
    let again = client.ask("/v1/messages", BODY).text();
    let usage =
        "\"input_tokens\":4,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":4";
    assert!(again.contains(usage), "{again}");
    let whole = client.ask("/v1/messages", &BODY.replace("true", "false")).json();
    assert_eq!(whole["usage"]["cache_read_input_tokens"], 4);
    assert_eq!(whole["usage"]["input_tokens"], 4);
}
