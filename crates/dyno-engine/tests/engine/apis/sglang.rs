//! SGLang's `/generate`.

use crate::support::{Client, End, SCHEDULER, engine, running, twin};
use dyno_engine::core::Scheduler;
use serde_json::{Value, json};

fn body(stream: bool, more: &str) -> String {
    format!(
        "{{\"text\":\"one two three four five\",\"stream\":{stream},\
         \"sampling_params\":{{\"max_new_tokens\":4,\"ignore_eos\":true{more}}}}}"
    )
}

#[test]
fn every_frame_repeats_what_came_before_and_counts_it() {
    let running = engine("ttft=20ms,itl=5ms", &[]);
    let response = Client::connect(running.addr()).ask("/generate", &body(true, ""));
    assert_eq!(response.events().last().unwrap(), "[DONE]");
    let frames = response.values();
    assert_eq!(frames.len(), 4);
    for (k, frame) in frames.iter().enumerate() {
        let meta = &frame["meta_info"];
        assert_eq!(meta["completion_tokens"], k + 1);
        assert_eq!(frame["output_ids"].as_array().unwrap().len(), k + 1);
        assert_eq!(meta["prompt_tokens"], 5);
        assert_eq!(meta["finish_reason"].is_null(), k < 3);
        let next = frames.get(k + 1).map(|next| next["text"].as_str().unwrap());
        assert!(next.is_none_or(|next| next.starts_with(frame["text"].as_str().unwrap())));
    }
    assert_eq!(frames[3]["meta_info"]["finish_reason"], json!({"type": "length", "length": 4}));
    assert_eq!(frames[3]["meta_info"]["e2e_latency"], 0.035);
    let whole = Client::connect(running.addr()).ask("/generate", &body(false, "")).json();
    assert_eq!(whole["meta_info"]["e2e_latency"], 0.035);
    assert_eq!(whole["meta_info"]["completion_tokens"], 4);
}

#[test]
fn a_twin_tells_queueing_prefill_and_cached_tokens() {
    let scheduler = Scheduler { prefix_cache: true, max_seqs: 1, ..SCHEDULER };
    let running = running(twin(scheduler, 10.0), &[]);
    let mut first = Client::connect(running.addr());
    let mut second = Client::connect(running.addr());
    for client in [&mut first, &mut second] {
        client.send(&crate::support::post("/generate", "", &body(true, "")));
    }
    let last = |frames: Vec<Value>| frames.last().unwrap()["meta_info"].clone();
    let (first, second) = (last(first.response().values()), last(second.response().values()));
    assert_eq!((&first["cached_tokens"], &second["cached_tokens"]), (&json!(0), &json!(4)));
    let number = |meta: &Value, name: &str| meta[name].as_f64().unwrap();
    // Four steps of 10 ms for the first, for which the second waits.
    assert!(number(&first, "queue_time") < 0.001, "{first}");
    assert!((0.025..0.041).contains(&number(&second, "queue_time")), "{second}");
    let prefill = number(&second, "prefill_finished_time") - number(&second, "forward_entry_time");
    assert!((prefill - 0.010).abs() < 0.000_01, "{second}");
    let rest = number(&second, "e2e_latency") - number(&second, "queue_time");
    assert!((rest - 0.040).abs() < 0.000_01, "{second}");
    let whole = Client::connect(running.addr()).ask("/generate", &body(false, "")).json();
    assert_eq!(whole["meta_info"]["cached_tokens"], 4);
    assert!((number(&whole["meta_info"], "e2e_latency") - 0.040).abs() < 0.001, "{whole}");
}

#[test]
fn what_is_wrong_is_said_inside_a_stream_and_beside_one() {
    let running = engine("ttft=1ms,context=8", &[]);
    let mut client = Client::connect(running.addr());
    let refused = client.ask("/generate", &body(false, ""));
    assert_eq!(refused.status, 400);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("context length is 8"));
    let inside = client.ask("/generate", &body(true, ""));
    assert_eq!((inside.status, inside.end), (200, End::Proper));
    assert_eq!(inside.values()[0]["error"]["code"], 400);
    assert_eq!(inside.events().last().unwrap(), "[DONE]");
    assert_eq!(client.ask("/generate", "{\"text\":[\"a\"]}").status, 400);
}

#[test]
fn it_says_what_it_is_and_its_cache_is_flushed_when_nothing_runs() {
    let scheduler = Scheduler { prefix_cache: true, ..SCHEDULER };
    let running = running(twin(scheduler, 20.0), &[]);
    let mut client = Client::connect(running.addr());
    let info = client.get("/server_info").json();
    assert!(info["internal_states"].is_array() && info["dyno_simulated"] == true, "{info}");
    assert_eq!(info["twin"], "a-twin");
    assert_eq!(client.get("/model_info").json()["model_path"], "dyno-scripted");
    let cached = |client: &mut Client| {
        client.ask("/generate", &body(false, "")).json()["meta_info"]["cached_tokens"].clone()
    };
    assert_eq!((cached(&mut client), cached(&mut client)), (json!(0), json!(4)));
    let mut busy = Client::connect(running.addr());
    busy.send(&crate::support::post("/generate", "", &body(true, "")));
    crate::support::wait_for("running", 1.0, || {
        crate::support::metric(running.addr(), "dyno_engine_requests_running")
    });
    assert_eq!(client.get("/flush_cache").status, 400);
    assert_eq!(busy.response().values().len(), 4);
    assert_eq!(client.ask("/flush_cache", "").status, 200);
    assert_eq!(cached(&mut client), json!(0));
}
