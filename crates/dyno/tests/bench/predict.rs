//! Predictions: the same plans as a benchmark's, the same run directory, in virtual time.

use crate::place::{Place, codes};
use crate::process::run;
use serde_json::Value;

/// A twin whose steps take exactly 20 ms and a millisecond for each sequence.
pub(crate) const TWIN: &str = r#"
schema = "dyno.twin/1"
name = "plain"
engine = "made for a test"
provenance = "made for a test"

[scheduler]
policy = "chunked"
max_seqs = 8
token_budget = 4096
kv_blocks = 4096
context = 16384

[cost]
base_ms = 20
prefill_token_us = 0
attention_ns = 0
decode_us = 1000
kv_ns = 0
prefill_base_ms = 0
front_end_ms = 0
noise = 0

[lengths]
input = { mean = 64 }
output = { mean = 16 }
"#;

fn predict(place: &Place, args: &str) -> Value {
    let twin = place.file("plain.toml", TWIN);
    let out = place.path().join("run");
    let _ = std::fs::remove_dir_all(&out);
    run(place.dyno(&format!("predict --twin {twin} --out run --json --quiet {args}")))
        .expect_status(&[0]);
    place.json("summary.json")
}

#[test]
fn figures_follow_from_the_coefficients_and_nothing_else() {
    let place = Place::new();
    let args = "--concurrency 4 --requests 40 --input-tokens 64 --output-tokens 11";
    let summary = predict(&place, args);
    assert_eq!(summary["run"]["simulated"], true);
    assert_eq!(summary["run"]["predicted"], true);
    let level = &summary["levels"][0];
    assert_eq!(level["requests"]["completed"], 40);
    // A wave of four prefills in one step of 20 ms, then ten steps of 24 ms; and the way there.
    assert_eq!(level["ttft_ms"]["p50"], 20.001);
    assert_eq!(level["itl_ms"]["p50"], 24.0);
    assert_eq!(level["latency_ms"]["max"], 260.001);
    assert_eq!(level["duration_s"], 2.60001);
    assert_eq!(level["input_tokens"]["mean"], 64.0);
    assert_eq!(level["client"]["send_lag_ms"]["max"], 0.0);
    let again = predict(&Place::new(), args);
    assert_eq!(again["levels"], summary["levels"], "the same seed gives the same figures");
}

#[test]
fn past_the_knee_there_is_a_capacity_and_no_latency() {
    let place = Place::new();
    let args = "--rate 5,400 --duration 20s --input-tokens 64 --output-tokens 11";
    let summary = predict(&place, args);
    let [below, past] = [0, 1].map(|i| &summary["levels"][i]);
    assert!(below["latency_ms"]["p50"].is_number() && below["ttft_ms"]["p50"].is_number());
    for figure in ["latency_ms", "latency_scheduled_ms", "ttft_ms", "ttft_scheduled_ms"] {
        assert!(past[figure].is_null(), "{figure}");
    }
    assert!(past["throughput"]["requests_per_s"].is_number());
    assert!(codes(&past["reasons"]).contains(&"past_capacity".to_owned()), "{}", past["reasons"]);
    let words = past["reasons"].to_string();
    // Eight at once, 20 + 10 × 28 ms each: 26.7 per second.
    assert!(words.contains("capacity of 2") && words.contains("400"), "{words}");
    assert!(codes(&summary["notes"]).contains(&"beyond_range".to_owned()), "{}", summary["notes"]);
}

#[test]
fn conversations_and_traces_are_predicted_too() {
    let place = Place::new();
    let summary = predict(
        &place,
        "--data session,turns=4,think=1s --concurrency 2 --requests 16 --input-tokens 20 \
         --output-tokens 5",
    );
    let sessions = &summary["levels"][0]["sessions"];
    assert_eq!((&sessions["started"], &sessions["turns_mean"]), (&4.into(), &4.0.into()));
    // 20 tokens, then 25 more with each turn: what was answered and what is said next.
    assert_eq!(sessions["first"]["input_tokens"]["mean"], 20.0);
    assert_eq!(sessions["later"]["input_tokens"]["mean"], 70.0);

    let trace = place.file(
        "t.jsonl",
        "{\"timestamp\": 0, \"input_length\": 30, \"output_length\": 3, \"hash_ids\": [1]}\n\
         {\"timestamp\": 9000, \"input_length\": 40, \"output_length\": 2, \"hash_ids\": [2]}\n",
    );
    let summary = predict(&place, &format!("--data {trace}"));
    let level = &summary["levels"][0];
    assert_eq!(level["requests"]["completed"], 2);
    assert_eq!(level["duration_s"], 9.041);
}

#[test]
fn a_request_that_can_never_fit_fails_and_nothing_hangs() {
    let place = Place::new();
    let twin = place.file("plain.toml", TWIN);
    let args = "--concurrency 2 --requests 4 --input-tokens 20000 --output-tokens 5";
    run(place.dyno(&format!("predict --twin {twin} --out run --json {args}"))).expect_status(&[5]);
    let level = &place.json("summary.json")["levels"][0];
    assert_eq!(level["requests"]["failures"]["http.400"], 4);
    assert!(level["failure_samples"].to_string().contains("16384"), "{}", level["failure_samples"]);
}

#[test]
fn wrong_twins_say_what_would_be_right() {
    let place = Place::new();
    let missing = place.file("missing.toml", &TWIN.replace("base_ms = 20\n", ""));
    let impossible = place.file("impossible.toml", &TWIN.replace("base_ms = 20", "base_ms = -1"));
    for (twin, words) in [
        ("nothing-like-it".to_owned(), vec!["--twin", "nothing-like-it", "dyno twins"]),
        (missing, vec!["missing.toml", "base_ms"]),
        (impossible, vec!["impossible.toml", "base_ms", "-1"]),
        ("/nowhere/twin.toml".to_owned(), vec!["/nowhere/twin.toml"]),
    ] {
        run(place.dyno(&format!("predict --twin {twin} --concurrency 1 --requests 1")))
            .expect_status(&[2])
            .expect_words(&words);
    }
}
