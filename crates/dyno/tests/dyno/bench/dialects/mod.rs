//! The APIs besides OpenAI's, one module each: right tokens, times, ends and failures of runs against
//! engines, and what is sent, as a server written here sees it.

mod llamacpp;
mod ollama;
mod sglang;

use crate::bench::engines::{Engine, QUICK};
use crate::bench::place::Place;
use crate::bench::process::run;
use dyno_model::record::RequestRecord;
use serde_json::{Value, json};

const LOAD: &str = "--concurrency 4 --requests 40 --output-tokens 16 --input-tokens 16";
/// Its responses are longer than what is asked for, unless something limits them.
const TALKATIVE: &str = "ttft=5ms,itl=1ms,tokens=64";
/// The scripted TTFT less what a busy machine may lose between sending and looking at the clock.
const LEAST_TTFT_MS: f64 = 4.0;

/// A run of this API against an engine with these faults: its level, and the measured requests.
#[track_caller]
fn measured(api: &str, faults: &[&str], more: &str) -> (Value, Vec<RequestRecord>) {
    let engine = Engine::start(TALKATIVE, faults);
    let place = Place::new();
    let ended = run(place.bench(&engine.url(), &format!("--api {api} {LOAD} {more}")));
    let summary = ended.expect_measured().json();
    (summary["levels"][0].clone(), place.requests())
}

/// Fails unless all requests completed with the tokens that were asked for, counted by the server.
#[track_caller]
fn expect_all(level: &Value, said: &str) {
    let requests = &level["requests"];
    assert_eq!((&requests["completed"], &requests["failures"]), (&json!(40), &json!({})), "{said}");
    assert_eq!(level["output_tokens"]["total"], 640, "{said}");
    assert_eq!(level["token_source"]["output"], "usage", "{said}");
}

/// Fails unless TTFT is that of the first token, not of something before it. The median, because a client
/// that is interrupted between sending and looking at the clock sees the token early.
#[track_caller]
fn expect_ttft(level: &Value, said: &str) {
    let ttft = level["ttft_ms"]["p50"].as_f64();
    assert!(ttft.is_some_and(|ttft| ttft >= LEAST_TTFT_MS), "{said}: {}", level["ttft_ms"]);
}

/// Fails unless every tenth request failed in this class, with these words among the examples.
#[track_caller]
fn expect_failures(api: &str, fault: &str, class: &str, words: &str) {
    let engine = Engine::start(QUICK, &[&format!("{fault}:every=10")]);
    let place = Place::new();
    let args = format!("--api {api} --allow-failures 20% {LOAD}");
    let ended = run(place.bench(&engine.url(), &args));
    let ended = ended.expect_unless_invalid(0);
    let level = &ended.json()["levels"][0];
    let said = format!("{api}, {fault}: {}", ended.said());
    assert_eq!(level["requests"]["failures"], json!({ class: 4 }), "{said}");
    assert_eq!(level["requests"]["completed"], 36, "{said}");
    assert!(level["failure_samples"][class].to_string().contains(words), "{said}");
}

/// The codes of a level's notes.
fn notes(level: &Value) -> Vec<String> {
    crate::bench::place::codes(&level["notes"])
}
