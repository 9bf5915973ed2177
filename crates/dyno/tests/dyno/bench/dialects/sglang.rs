//! SGLang's `/generate`.

use super::{LOAD, expect_all, expect_failures, expect_ttft, measured};
use crate::bench::place::Place;
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::outcome::Outcome;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};

const API: &str = "sglang-generate";

#[test]
fn tokens_times_and_ends_are_right_whether_frames_repeat_the_text_or_not() {
    for faults in [&[][..], &["incremental-output"], &["no-done"], &["split"], &["coalesce"]] {
        let (level, requests) = measured(API, faults, "--save-text");
        let said = format!("{faults:?}: {level:#}");
        expect_all(&level, &said);
        expect_ttft(&level, &said);
        for request in requests {
            assert_eq!(request.finish_reason.as_deref(), Some("length"), "{said}");
            assert_eq!(request.terminal, faults != ["no-done"], "{said}");
            assert!(request.chunk_tokens_known, "{said}");
            assert_eq!(request.chunks.len(), 16, "{said}");
            // The text once, although frames repeat it.
            let text = request.text.unwrap();
            assert_eq!(text.split_whitespace().count(), 16, "{said}: {text}");
        }
    }
}

#[test]
fn the_servers_times_stand_beside_ttft() {
    // A twin, which has a queue and a prefill.
    let place = Place::new();
    let load = "--concurrency 4 --requests 20 --input-tokens 256 --output-tokens 4";
    let ended = run(place.dyno(&format!("bench --api {API} {load} --seed 1 --out run --json")));
    let level = ended.expect_status(&[0, 4]).json()["levels"][0].clone();
    let times = &level["server_times"];
    assert_eq!(times["reported"], 20, "{times:#}");
    for (name, least) in [("queue_ms", 0.0), ("prefill_ms", 5.0), ("total_ms", 20.0)] {
        let mean = times[name]["mean"].as_f64();
        assert!(mean.is_some_and(|mean| mean >= least), "{name}: {times:#}");
    }
    assert_eq!(times["load_ms"], Value::Null);
    // What is left of TTFT, unless a busy machine sent a request long before it noticed.
    let [left, beyond] = [&times["outside_ms"]["count"], &times["beyond_ttft"]];
    assert_eq!(left.as_u64().unwrap_or(0) + beyond.as_u64().unwrap(), 20, "{times:#}");
    let columns =
        run(place.dyno("report run --format csv --per-request")).expect_status(&[0]).stdout;
    let heads: Vec<&str> = columns.lines().next().unwrap().split(',').collect();
    let at = heads.iter().position(|head| *head == "server_prefill_ms").unwrap();
    let of_each = columns.lines().skip(1).map(|line| line.split(',').nth(at).unwrap());
    assert!(of_each.into_iter().all(|cell| cell.parse::<f64>().is_ok()), "{columns}");
}

#[test]
fn a_response_that_is_not_streamed_has_the_same_counts() {
    let (level, requests) = measured(API, &[], "--no-stream");
    expect_all(&level, &format!("{level:#}"));
    assert_eq!(level["ttft_ms"], Value::Null);
    assert!(requests.iter().all(|request| !request.streamed && request.server.is_some()));
}

#[test]
fn failures_have_their_class_and_the_servers_words() {
    expect_failures(API, "error-event", "stream.error", "died in the middle of this response");
    expect_failures(API, "truncate", "stream.truncated", "");
    expect_failures(API, "not-json", "stream.malformed", "oops");
    expect_failures(API, "short", "output.short", "8 output tokens instead of the 16");
    expect_failures(API, "http-500", "http.500", "The engine was told to refuse this request.");
}

/// A server with nothing but `/generate`, whose queue is full for some.
fn small(request: &Seen, is_full: bool) -> Vec<u8> {
    if !request.is("POST /generate ") {
        return web::json("404 Not Found", "{\"detail\":\"Not Found\"}");
    }
    let tokens = request.json()["sampling_params"]["max_new_tokens"].as_u64().unwrap();
    let meta = |finish: Value, tokens: u64| json!({"id": "x", "prompt_tokens": 3, "completion_tokens": tokens, "finish_reason": finish});
    let frame = match is_full {
        true => {
            let abort = json!({"type": "abort", "message": "queue is full", "status_code": 503});
            json!({"text": "", "output_ids": [], "meta_info": meta(abort, 0)})
        }
        false => {
            let ids: Vec<u64> = (0..tokens).collect();
            let length = json!({"type": "length", "length": tokens});
            json!({"text": " a".repeat(ids.len()), "output_ids": ids, "meta_info": meta(length, tokens)})
        }
    };
    web::answer("200 OK", "text/event-stream", &format!("data: {frame}\n\ndata: [DONE]\n\n"))
}

#[test]
fn a_request_has_its_sampling_inside_and_health_is_not_asked_at_a_path_that_generates() {
    let asked = AtomicU64::new(0);
    let server = Web::start(move |request: &Seen| {
        let measured =
            request.is("POST /generate ") && request.header("x-dyno-preflight").is_none();
        let is_full = measured && asked.fetch_add(1, Ordering::SeqCst) % 4 == 3;
        small(request, is_full)
    });
    let place = Place::new();
    let args = format!("--api {API} --temperature 0 --extra-body {{\"rid\":\"r\"}} {LOAD}");
    let ended = run(place.bench(&server.url(), &args)).expect_status(&[0, 4, 5]);
    let asked = server.asked("POST /generate ");
    let measured: Vec<&Seen> =
        asked.iter().filter(|seen| seen.header("x-dyno-preflight").is_none()).collect();
    assert_eq!(measured.len(), 40, "{}", ended.said());
    for seen in measured {
        let body = seen.json();
        let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["rid", "sampling_params", "stream", "text"]);
        let sampling = json!({"max_new_tokens": 16, "ignore_eos": true, "temperature": 0.0});
        assert_eq!(body["sampling_params"], sampling);
    }
    assert!(server.asked("GET /health").is_empty());
    // A queue that is full is overload, although the status is 200.
    let requests = place.requests();
    let shed = requests.iter().filter(|request| matches!(request.outcome, Outcome::Shed(_)));
    let completed = requests.iter().filter(|request| request.is_completed());
    assert_eq!((shed.count(), completed.count()), (10, 30), "{}", ended.said());
}
