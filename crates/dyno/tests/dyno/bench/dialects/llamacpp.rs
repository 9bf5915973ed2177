//! llama.cpp's `/completion`.

use super::{LOAD, expect_all, expect_failures, expect_ttft, measured};
use crate::bench::place::{Place, codes};
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use serde_json::{Value, json};

const API: &str = "llamacpp-completion";

#[test]
fn tokens_times_and_ends_are_right() {
    for faults in [&[][..], &["split"], &["coalesce"], &["close-delimited"], &["crlf"]] {
        let (level, requests) = measured(API, faults, "--save-text");
        let said = format!("{faults:?}: {level:#}");
        expect_all(&level, &said);
        expect_ttft(&level, &said);
        for request in requests {
            assert_eq!(request.finish_reason.as_deref(), Some("limit"), "{said}");
            assert!(request.terminal && request.chunk_tokens_known, "{said}");
            assert_eq!(request.chunks.len(), 16, "{said}");
            assert_eq!(request.text.unwrap().split_whitespace().count(), 16, "{said}");
            // The last frame carries no token, so it does not end the last gap.
            assert_eq!(request.finish_tokens, Some(0), "{said}");
            assert!(request.last <= Some(request.end), "{said}");
        }
    }
}

#[test]
fn the_servers_times_stand_beside_ttft() {
    let (level, _) = measured(API, &[], "");
    let times = &level["server_times"];
    assert_eq!((&times["reported"], &times["beyond_ttft"]), (&json!(40), &json!(0)), "{times:#}");
    let mean = |name: &str| times[name]["mean"].as_f64().unwrap_or_else(|| panic!("{times:#}"));
    assert!(mean("prefill_ms") >= 4.9 && mean("decode_ms") >= 14.0, "{times:#}");
    assert_eq!((&times["queue_ms"], &times["load_ms"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_response_that_is_not_streamed_has_the_same_counts() {
    let (level, requests) = measured(API, &[], "--no-stream");
    expect_all(&level, &format!("{level:#}"));
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

/// A server that stops by itself unless it is told not to, counts as llama.cpp does, and shows what it
/// is at `/props`.
fn small(request: &Seen) -> Vec<u8> {
    if request.is("GET /v1/models") {
        return web::json("200 OK", r#"{"data":[{"id":"reed"}]}"#);
    }
    if request.is("GET /props") {
        return web::json("200 OK", r#"{"default_generation_settings":{}}"#);
    }
    if request.is("POST /tokenize ") {
        let words = request.json()["content"].as_str().map(|text| text.split(' ').count());
        return web::json("200 OK", &json!({"tokens": vec![7; words.unwrap_or(0)]}).to_string());
    }
    if request.is("POST /v1/chat/completions ") {
        return web::openai(request);
    }
    if !request.is("POST /completion ") {
        return web::json("404 Not Found", r#"{"error":{"message":"File Not Found","code":404}}"#);
    }
    let body = request.json();
    let most = body["n_predict"].as_u64().unwrap();
    let (said, reason) = match body["ignore_eos"] == true {
        true => (most, "limit"),
        false => (most.min(3), if most > 3 { "eos" } else { "limit" }),
    };
    let input = body["prompt"].as_str().map_or(0, |text| text.split(' ').count());
    let frame = |n: u64| {
        json!({"index": 0, "content": " a", "tokens": [7], "stop": false, "id_slot": -1,
            "tokens_predicted": n, "tokens_evaluated": input})
    };
    let last = json!({"content": "", "stop": true, "stop_type": reason, "tokens_predicted": said,
        "tokens_evaluated": input, "timings": {"cache_n": 1, "prompt_ms": 0.5, "predicted_ms": 1.5}});
    let frames = (1..=said).map(frame).chain([last]);
    let sse: String = frames.map(|frame| format!("data: {frame}\n\n")).collect();
    web::answer("200 OK", "text/event-stream", &sse)
}

#[test]
fn a_request_asks_for_what_is_read_and_prompts_are_counted_by_the_server() {
    let server = Web::start(small);
    let place = Place::new();
    let args = format!("--api {API} --extra-body {{\"cache_prompt\":false}} {LOAD}");
    let ended = run(place.bench(&server.url(), &args)).expect_measured();
    let asked = server.asked("POST /completion ");
    let measured: Vec<&Seen> =
        asked.iter().filter(|seen| seen.header("x-dyno-preflight").is_none()).collect();
    assert_eq!(measured.len(), 40, "{}", ended.said());
    for seen in measured {
        let body = seen.json();
        let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
        let all = [
            "cache_prompt",
            "ignore_eos",
            "model",
            "n_predict",
            "prompt",
            "response_fields",
            "stream",
        ];
        assert_eq!(fields, all);
        assert_eq!((&body["model"], &body["n_predict"]), (&json!("reed"), &json!(16)));
        // By the server's own count.
        assert_eq!(body["prompt"].as_str().unwrap().split(' ').count(), 16, "{body}");
    }
    let environment = place.json("environment.json");
    assert_eq!(environment["preflight"]["length_forced"], true, "{environment:#}");
    let level = &ended.json()["levels"][0];
    assert_eq!(level["cache"]["cached_tokens"], 40, "{level:#}");
}

#[test]
fn a_server_that_has_chat_as_well_is_measured_by_that_unless_the_path_says_otherwise() {
    let server = Web::start(small);
    let place = Place::new();
    run(place.bench(&server.url(), &format!("--api auto {LOAD}"))).expect_measured();
    assert_eq!(place.json("plan.json")["target"]["api"], "openai-chat");
    let place = Place::new();
    let url = format!("{}/completion", server.url());
    let ended = run(place.bench(&url, &format!("--api auto {LOAD}"))).expect_measured();
    assert_eq!(place.json("plan.json")["target"]["api"], API);
    assert!(!codes(&ended.json()["notes"]).contains(&"no_terminal_event".to_owned()));
}
