//! Ollama's `/api/chat` and `/api/generate`.

use super::{LOAD, expect_all, expect_failures, expect_ttft, measured, notes};
use crate::bench::engines::Engine;
use crate::bench::place::Place;
use crate::bench::process::run;
use crate::bench::web::{self, Seen, Web};
use dyno_model::record::RequestRecord;
use serde_json::{Value, json};

const APIS: [&str; 2] = ["ollama-chat", "ollama-generate"];

#[test]
fn tokens_times_and_ends_are_right_at_both_endpoints() {
    for api in APIS {
        for faults in [&[][..], &["reasoning"], &["split"], &["coalesce"], &["close-delimited"]] {
            let (level, requests) = measured(api, faults, "--save-text");
            let said = format!("{api} {faults:?}: {level:#}");
            expect_all(&level, &said);
            expect_ttft(&level, &said);
            for request in requests {
                assert_eq!(request.finish_reason.as_deref(), Some("length"), "{said}");
                assert!(request.terminal && request.chunks.len() == 16, "{said}");
                assert_eq!(request.text.unwrap().split_whitespace().count(), 16, "{said}");
            }
        }
    }
}

#[test]
fn a_response_that_stops_by_itself_is_not_a_failure() {
    let engine = Engine::start("ttft=5ms,itl=1ms,tokens=8", &[]);
    let place = Place::new();
    let ended = run(place.bench(&engine.url(), &format!("--api ollama-chat {LOAD}")));
    let level = ended.expect_measured().json()["levels"][0].clone();
    assert_eq!(level["requests"]["completed"], 40);
    assert_eq!(level["output_tokens"]["mean"], 8.0);
    let stopped = |request: &RequestRecord| request.finish_reason.as_deref() == Some("stop");
    assert!(place.requests().iter().all(stopped));
}

#[test]
fn the_servers_times_stand_beside_ttft_and_the_queue_is_part_of_the_rest() {
    let (level, _) = measured("ollama-chat", &[], "");
    let times = &level["server_times"];
    assert_eq!((&times["reported"], &times["queue_ms"]), (&json!(40), &Value::Null));
    let mean = |name: &str| times[name]["mean"].as_f64().unwrap_or_else(|| panic!("{times:#}"));
    assert!(mean("prefill_ms") >= 4.9 && mean("decode_ms") >= 14.0, "{times:#}");
    // Where a busy machine noticed late that a request was sent, nothing is left of TTFT, or less.
    let left = times["outside_ms"]["count"].as_u64().unwrap_or(0);
    assert_eq!(left + times["beyond_ttft"].as_u64().unwrap(), 40, "{times:#}");
    let rest = level["ttft_ms"]["mean"].as_f64().unwrap() - mean("prefill_ms");
    assert!(left < 40 || mean("outside_ms") >= rest - 0.1, "{times:#} {rest}");
}

#[test]
fn a_response_that_is_not_streamed_has_the_same_counts() {
    for api in APIS {
        let (level, requests) = measured(api, &[], "--no-stream");
        expect_all(&level, &format!("{level:#}"));
        assert!(requests.iter().all(|request| !request.streamed && request.server.is_some()));
    }
}

#[test]
fn failures_have_their_class_and_the_servers_words() {
    for api in APIS {
        expect_failures(api, "error-event", "stream.error", "died in the middle of this response");
        expect_failures(api, "truncate", "stream.truncated", "");
        expect_failures(api, "truncate-event", "stream.truncated", "");
        expect_failures(api, "not-json", "stream.malformed", "oops");
        expect_failures(api, "http-500", "http.500", "The engine was told to refuse this request.");
    }
}

/// A server that says these words, and ends its streams with a line like this.
fn server(words: &'static [&'static str], last: Value) -> Web {
    Web::start(move |request: &Seen| {
        if request.is("GET /api/tags") {
            return web::json("200 OK", "{\"models\":[{\"name\":\"small:1b\"}]}");
        }
        if !request.is("POST /api/chat ") {
            return web::json("404 Not Found", "{}");
        }
        let line =
            |text: &str| json!({"message": {"role": "assistant", "content": text}, "done": false});
        let mut body: String = words.iter().map(|word| format!("{}\n", line(word))).collect();
        body.push_str(&last.to_string());
        web::answer("200 OK", "application/x-ndjson", &body)
    })
}

#[test]
fn a_conversation_goes_on_with_the_servers_own_answers() {
    let server = server(&["so", " \"it\" is"], json!({"done": true, "eval_count": 4}));
    let place = Place::new();
    let args =
        "--api ollama-chat --data session,turns=3 --concurrency 1 --requests 3 --output-tokens 4";
    run(place.bench(&server.url(), args)).expect_measured();
    let asked = server.asked("POST /api/chat ");
    let sent: Vec<&Seen> =
        asked.iter().filter(|seen| seen.header("x-dyno-preflight").is_none()).collect();
    assert_eq!(sent.len(), 3);
    for (turn, seen) in sent.iter().enumerate() {
        let body = seen.json();
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2 * turn + 1, "{body:#}");
        for answer in messages.iter().skip(1).step_by(2) {
            assert_eq!(*answer, json!({"role": "assistant", "content": "so \"it\" is"}));
        }
        assert_eq!((&body["model"], &body["keep_alive"]), (&json!("small:1b"), &json!("30m")));
        assert_eq!(body["options"], json!({"num_predict": 4}));
    }
}

#[test]
fn without_counts_tokens_are_events_and_the_report_says_so() {
    let server = server(&["a", " b", " c"], json!({"done": true, "done_reason": "stop"}));
    let place = Place::new();
    let ended = run(place.bench(&server.url(), &format!("--api ollama-chat {LOAD}")));
    let ended = ended.expect_measured();
    let summary = ended.json();
    let level = &summary["levels"][0];
    assert_eq!(level["requests"]["completed"], 40, "{}", ended.said());
    assert_eq!(level["output_tokens"]["mean"], 3.0);
    assert_eq!(level["token_source"]["output"], "events");
    assert_eq!(level["input_tokens"], Value::Null);
    assert_eq!(level.get("server_times"), None);
    assert!(crate::bench::place::codes(&summary["notes"]).contains(&"length_not_fixed".to_owned()));
}

#[test]
fn a_model_that_is_loaded_meanwhile_and_times_beyond_ttft_are_told() {
    let last = json!({"done": true, "done_reason": "length", "eval_count": 2,
        "load_duration": 1_500_000_000_u64, "prompt_eval_duration": 20_000_000,
        "total_duration": 1_600_000_000_u64});
    let server = server(&["a", " b"], last);
    let place = Place::new();
    let ended = run(place.bench(&server.url(), &format!("--api ollama-chat {LOAD}")));
    let level = ended.expect_measured().json()["levels"][0].clone();
    let notes = notes(&level);
    for code in ["model_loaded", "server_times_beyond_ttft"] {
        assert!(notes.contains(&code.to_owned()), "{code}: {notes:?}");
    }
    let times = &level["server_times"];
    assert_eq!((&times["beyond_ttft"], &times["outside_ms"]), (&json!(40), &Value::Null));
    let text = run(place.dyno("report run")).expect_status(&[0]).stdout;
    assert!(text.contains("the model was loaded during 40 requests"), "{text}");
    assert!(text.contains("server's own times: in 40 of 40 responses"), "{text}");
    let zh = run(place.dyno("report run --lang zh")).expect_status(&[0]).stdout;
    assert!(zh.contains("服务器自报时间"), "{zh}");
}
