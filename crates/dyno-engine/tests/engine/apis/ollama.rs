//! Ollama's `/api/chat` and `/api/generate`.

use crate::support::{Client, SCHEDULER, engine, post, running, twin};
use dyno_engine::core::Scheduler;
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn chat(more: &str) -> String {
    format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"one two three\"}}]{more}}}")
}

#[test]
fn a_chat_streams_lines_by_default_and_its_length_cannot_be_forced() {
    let running = engine("ttft=20ms,itl=5ms,tokens=6", &[]);
    let mut client = Client::connect(running.addr());
    let response = client.ask("/api/chat", &chat(",\"ignore_eos\":true"));
    assert!(response.head.contains("Content-Type: application/x-ndjson\r\n"), "{}", response.head);
    let answer = lines(&response.text());
    assert_eq!(answer.len(), 7);
    assert!(answer[..6].iter().all(|line| line["done"] == false));
    let last = &answer[6];
    assert_eq!((&last["done"], &last["done_reason"]), (&json!(true), &json!("stop")));
    assert_eq!((&last["prompt_eval_count"], &last["eval_count"]), (&json!(3), &json!(6)));
    assert_eq!(last["total_duration"], 45_000_000);
    assert_eq!(
        (&last["prompt_eval_duration"], &last["eval_duration"]),
        (&json!(20_000_000), &json!(25_000_000))
    );

    let cut = client.ask("/api/chat", &chat(",\"options\":{\"num_predict\":2}"));
    assert_eq!(lines(&cut.text())[2]["done_reason"], "length");
    let whole = client.ask("/api/chat", &chat(",\"stream\":false")).json();
    assert_eq!((&whole["eval_count"], &whole["total_duration"]), (&json!(6), &json!(45_000_000)));
    let empty = client.ask("/api/generate", "{\"prompt\":\"\",\"options\":{\"num_predict\":1}}");
    let last = lines(&empty.text()).pop().unwrap();
    assert!(last["prompt_eval_count"].is_null(), "what is zero is left out: {last}");
    assert_eq!(last["eval_count"], 1);
}

#[test]
fn the_times_of_a_twin_leave_the_time_in_the_queue() {
    let running = running(twin(Scheduler { max_seqs: 1, ..SCHEDULER }, 10.0), &[]);
    let mut clients = [0, 1].map(|_| Client::connect(running.addr()));
    let body = chat(",\"options\":{\"num_predict\":3}");
    clients.iter_mut().for_each(|client| {
        client.send(&post("/api/chat", "", &body));
    });
    let [first, second] = clients.map(|mut client| lines(&client.response().text()).pop().unwrap());
    for last in [&first, &second] {
        assert_eq!(last["prompt_eval_duration"], 10_000_000, "{last}");
        assert_eq!(last["eval_duration"], 20_000_000, "{last}");
    }
    let queued = |last: &Value| last["total_duration"].as_u64().unwrap() - 30_000_000;
    assert!(queued(&first) < 1_000_000 && queued(&second) > 20_000_000, "{first} {second}");
}

#[test]
fn errors_are_texts_and_the_model_is_listed() {
    let running = engine("ttft=1ms", &[]);
    let mut client = Client::connect(running.addr());
    let unknown = client.ask("/api/chat", &chat(",\"model\":\"other\""));
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"], "The model `other` does not exist.");
    assert_eq!(client.ask("/api/chat", "{}").json()["error"], "The field `messages` is required.");
    let tags = client.get("/api/tags").json();
    assert_eq!(tags["models"][0]["name"], "dyno-scripted");
    assert_eq!(tags["models"][0]["dyno_simulated"], true);
    assert_eq!(client.get("/api/ps").json()["models"][0]["context_length"], 131_072);
    assert!(client.get("/api/version").json()["version"].as_str().unwrap().contains("dyno"));
    let home = client.get("/");
    assert!(home.status == 200 && !home.text().contains("Ollama"), "{}", home.text());
}
