//! Embeddings, rerankers and scores: one response for several inputs.

use crate::support::{Client, End, SCHEDULER, engine, running, twin, vllm, wait_for};
use dyno_engine::core::Scheduler;
use dyno_engine::{Server, ServerOptions};
use serde_json::json;
use std::time::{Duration, Instant};

const THREE: &str = r#"{"input":["one two","three","four five six"]}"#;
const RANK: &str = r#"{"query":"a b","documents":["c","d e"]}"#;

#[test]
fn a_script_answers_after_its_ttft_however_many_inputs_there_are() {
    let running = engine("ttft=60ms,itl=1s", &[]);
    let mut client = Client::connect(running.addr());
    for (path, body, results) in
        [("/v1/embeddings", THREE, "/data"), ("/v2/rerank", RANK, "/results")]
    {
        let before = Instant::now();
        let value = client.ask(path, body).json();
        let took = before.elapsed();
        assert!(took >= Duration::from_millis(59) && took < Duration::from_millis(500), "{took:?}");
        assert!(!value.pointer(results).unwrap().as_array().unwrap().is_empty());
    }
    let value = client.ask("/v1/embeddings", THREE).json();
    assert_eq!(value["usage"], json!({"prompt_tokens": 6, "total_tokens": 6}));
    assert_eq!(value["data"][2]["embedding"].as_array().unwrap().len(), 1_024);
    assert_eq!(
        client.ask("/score", r#"{"text_1":"a","text_2":"b"}"#).json()["data"][0]["index"],
        0
    );
    let tei = client.ask("/rerank", r#"{"query":"a b","texts":["c"]}"#);
    assert!(tei.head.contains("x-compute-tokens: 3\r\n"), "{}", tei.head);
    assert!(tei.head.contains("x-total-time:                  60\r\n"), "{}", tei.head);
    assert!(tei.json().is_array());
}

#[test]
fn a_twin_computes_each_input_by_itself_and_answers_when_all_are_done() {
    // One at a time, 10 ms each.
    let running = running(twin(Scheduler { max_seqs: 1, ..SCHEDULER }, 10.0), &[]);
    let mut client = Client::connect(running.addr());
    let before = Instant::now();
    let value = client.ask("/v1/embeddings", THREE).json();
    assert_eq!(value["data"].as_array().unwrap().len(), 3);
    assert!(before.elapsed() >= Duration::from_millis(29), "{:?}", before.elapsed());
    assert_eq!(vllm(running.addr(), "prompt_tokens_total"), 6.0);
    // A client that leaves takes all its inputs with it.
    let many = vec!["a"; 500];
    client.send(&crate::support::post("/v1/embeddings", "", &json!({"input": many}).to_string()));
    wait_for("running", 1.0, || vllm(running.addr(), "num_requests_running"));
    drop(client);
    wait_for("waiting", 0.0, || vllm(running.addr(), "num_requests_waiting"));
    assert_eq!(vllm(running.addr(), "kv_cache_usage_perc"), 0.0);
}

#[test]
fn one_input_that_does_not_fit_refuses_all() {
    let small = Scheduler { kv_blocks: 2, ..SCHEDULER };
    let running = running(twin(small, 1.0), &[]);
    let mut client = Client::connect(running.addr());
    let long = vec!["w"; 9].join(" ");
    let refused = client.ask("/v1/embeddings", &json!({"input": ["a", long]}).to_string());
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("holds 8 tokens"), "{}", refused.text());
    assert_eq!(vllm(running.addr(), "num_requests_waiting"), 0.0);
    assert_eq!(client.ask("/v1/embeddings", THREE).status, 200);
}

#[test]
fn the_size_of_vectors_is_the_servers() {
    let options = ServerOptions { dimensions: 8, ..ServerOptions::default() };
    let running = Server::bind(options).unwrap().spawn().unwrap();
    let mut client = Client::connect(running.addr());
    let value = client.ask("/v1/embeddings", "{\"input\":\"a\"}").json();
    assert_eq!(value["data"][0]["embedding"].as_array().unwrap().len(), 8);
    assert_eq!(client.ask("/v1/embeddings", "{\"input\":\"a\",\"dimensions\":9}").status, 400);
}

#[test]
fn faults_do_to_them_what_they_can() {
    let hit = |fault: &str| {
        let running = engine("ttft=1ms", &[fault]);
        Client::connect(running.addr()).ask("/v1/embeddings", THREE)
    };
    assert_eq!(hit("http-429").status, 429);
    assert_eq!(hit("short").json()["data"].as_array().unwrap().len(), 1);
    assert_eq!(hit("empty").json()["data"], json!([]));
    assert_eq!(hit("error-event").json()["error"]["code"], 500);
    assert_eq!(hit("reset").end, End::Reset);
    let running = engine("ttft=1ms", &["bare-list"]);
    assert!(Client::connect(running.addr()).ask("/v1/rerank", RANK).json().is_array());
}
