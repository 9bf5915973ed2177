//! What goes over the wire: every field that was asked for, the same bytes for the same seed.

use crate::bench::place::Place;
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::json;

/// The requests of a run, in order; one at a time, so that there is an order.
fn sent(server: &Web, args: &str, more: &[&str]) -> Vec<Seen> {
    let before = server.generations().len();
    let place = Place::new();
    let mut command = place.bench(&server.url(), &format!("--concurrency 1 --requests 5 {args}"));
    command.args(more);
    run(command).expect_measured();
    server.generations().split_off(before)
}

#[test]
fn fields_and_headers_reach_the_server() {
    let server = Web::start(web::openai);
    let args = "--output-tokens 9 --temperature 0.7 --stop END --stop FIN --header X-Trace:abc";
    let extra = r#"{"top_k": 5, "chat_template_kwargs": {"thinking": false}}"#;
    let requests = sent(&server, args, &["--extra-body", extra]);
    assert_eq!(requests.len(), 5);
    for request in &requests {
        assert!(request.is("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
        assert_eq!(request.header("x-trace"), Some("abc"));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("host"), Some(server.addr().to_string().as_str()));
        assert_eq!(request.header("accept-encoding"), Some("identity"));
        let body = request.json();
        assert_eq!(body["model"], "small");
        assert_eq!(body["stream"], true);
        assert_eq!(body["max_tokens"], 9);
        assert_eq!(body["ignore_eos"], true);
        assert_eq!(body["stream_options"]["include_usage"], true);
        assert_eq!(body["temperature"], 0.7);
        assert_eq!(body["stop"], json!(["END", "FIN"]));
        assert_eq!(body["top_k"], 5);
        assert_eq!(body["chat_template_kwargs"]["thinking"], false);
        assert_eq!(body["messages"][0]["role"], "user");
    }
}

#[test]
fn what_was_not_asked_for_is_not_sent() {
    let server = Web::start(web::openai);
    for request in sent(&server, "--usage none --api openai-completions", &[]) {
        assert!(request.is("POST /v1/completions HTTP/1.1\r\n"), "{}", request.head);
        let body = request.json();
        for field in ["temperature", "stop", "stream_options", "messages", "min_tokens"] {
            assert!(body.get(field).is_none(), "`{field}` in {body}");
        }
        assert!(body["prompt"].is_string(), "{body}");
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn a_seed_decides_every_byte() {
    let server = Web::start(web::openai);
    let whole = |requests: Vec<Seen>| -> Vec<(String, Vec<u8>)> {
        requests.into_iter().map(|seen| (seen.head, seen.body)).collect()
    };
    let first = whole(sent(&server, "--seed 7 --input-tokens 50", &[]));
    assert_eq!(first.len(), 5);
    assert_eq!(first, whole(sent(&server, "--seed 7 --input-tokens 50", &[])));
    assert_ne!(first, whole(sent(&server, "--seed 8 --input-tokens 50", &[])));
    for (i, (_, body)) in first.iter().enumerate() {
        assert!(!first[..i].iter().any(|(_, other)| other == body), "a prompt came twice");
    }
}

#[test]
fn a_proxy_is_not_used_and_that_is_said() {
    let server = Web::start(web::openai);
    let place = Place::new();
    let url = server.url();
    let mut command =
        place.dyno(&format!("bench {url} --out run --json --concurrency 1 --requests 2"));
    command.env("http_proxy", "http://127.0.0.1:1").env("HTTPS_PROXY", "http://127.0.0.1:1");
    run(command).expect_measured().expect_words(&["http_proxy", "ignored"]);
    assert_eq!(server.generations().len(), 2);
}
