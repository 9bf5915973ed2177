//! Predictions: the same plans as a benchmark's, the same run directory, in virtual time.

use crate::bench::place::{Place, codes};
use crate::bench::process::run;
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
    assert_eq!(again["levels"], summary["levels"], "the same seed gives the same results");
}

#[test]
fn rounds_differ_by_their_noise_and_are_the_same_each_time() {
    let place = Place::new();
    let noisy = place.file("noisy.toml", &TWIN.replace("noise = 0", "noise = 0.2"));
    let levels = |twin: &str, args: &str| {
        let out = place.path().join("run");
        let _ = std::fs::remove_dir_all(&out);
        let load = "--concurrency 4 --requests 40 --input-tokens 64 --output-tokens 11";
        let args = format!("predict --twin {twin} --out run --json --quiet {load} {args}");
        run(place.dyno(&args)).expect_status(&[0]);
        let summary = place.json("summary.json");
        (summary["levels"].clone(), codes(&summary["notes"]))
    };
    let (rounds, notes) = levels(&noisy, "--repeat 3");
    let means = [0, 1, 2].map(|round: usize| rounds[round]["latency_ms"]["mean"].clone());
    assert!(means[0] != means[1] && means[1] != means[2] && means[0] != means[2], "{means:?}");
    assert!(!notes.contains(&"rounds_equal".to_owned()), "{notes:?}");
    assert_eq!(levels(&noisy, "--repeat 3").0, rounds, "the seed decides");
    let (alone, _) = levels(&noisy, "");
    assert_eq!(alone[0]["latency_ms"], rounds[0]["latency_ms"], "--repeat changes no first round");

    let silent = place.file("plain.toml", TWIN);
    let (rounds, notes) = levels(&silent, "--repeat 2");
    assert_eq!(rounds[0]["latency_ms"], rounds[1]["latency_ms"]);
    assert!(notes.contains(&"rounds_equal".to_owned()), "{notes:?}");
}

#[test]
fn prompts_without_text_are_timed_like_those_with_text() {
    let place = Place::new();
    // Only a twin with a prefix cache reads the text; these prompts have no prefix in common.
    let cached = TWIN.replace("max_seqs = 8", "max_seqs = 8\nprefix_cache = true");
    let twins = [place.file("plain.toml", TWIN), place.file("cached.toml", &cached)];
    let trace = place.file(
        "t.jsonl",
        "{\"timestamp\": 0, \"input_length\": 30, \"output_length\": 3, \"hash_ids\": [1]}\n\
         {\"timestamp\": 900, \"input_length\": 400, \"output_length\": 2, \"hash_ids\": [2]}\n",
    );
    let lengths = "--concurrency 4 --requests 60 --input-tokens 20-200 --output-tokens 5-9";
    for load in [lengths.to_owned(), format!("--data {trace}")] {
        let [without, with] = twins.each_ref().map(|twin| {
            let _ = std::fs::remove_dir_all(place.path().join("run"));
            let args = format!("predict --twin {twin} --out run --json --quiet --seed 3 {load}");
            run(place.dyno(&args)).expect_status(&[0]);
            place.json("summary.json")["levels"][0].clone()
        });
        for metric in ["latency_ms", "ttft_ms", "itl_ms", "input_tokens", "output_tokens"] {
            assert_eq!(without[metric], with[metric], "{metric} of {load}");
        }
    }
}

#[test]
fn hours_of_virtual_time_are_not_announced_to_somebody_who_waits_a_moment() {
    let place = Place::new();
    let slow = place.file("slow.toml", &TWIN.replace("base_ms = 20", "base_ms = 20000"));
    let args = "--concurrency 1,2,4 --requests 20 --output-tokens 20";
    let ended = run(place.dyno(&format!("predict --twin {slow} --out run {args}")));
    let ended = ended.expect_status(&[0]);
    let minutes = place.json("summary.json")["levels"][0]["duration_s"].as_f64().unwrap() / 60.0;
    assert!(minutes > 60.0, "{minutes} min of virtual time");
    assert!(!ended.stderr.contains("will take about"), "{}", ended.said());
}

#[test]
fn past_the_knee_there_is_a_capacity_and_no_latency() {
    let place = Place::new();
    let args = "--rate 5,400 --duration 20s --input-tokens 64 --output-tokens 11";
    let summary = predict(&place, args);
    let twin = place.file("plain.toml", TWIN);
    let again = run(place.dyno(&format!("predict --twin {twin} --out again {args}")));
    let lines: Vec<&str> =
        again.stderr.lines().filter(|line| line.contains("whole level")).collect();
    let [below, past] = lines[..] else { panic!("{}", again.said()) };
    assert!(!below.contains("TTFT –") && past.contains("TTFT –/– ms"), "{}", again.said());
    let [below, past] = [0, 1].map(|i| &summary["levels"][i]);
    assert!(below["latency_ms"]["p50"].is_number() && below["ttft_ms"]["p50"].is_number());
    for figure in ["latency_ms", "latency_scheduled_ms", "ttft_ms", "ttft_scheduled_ms"] {
        assert!(past[figure].is_null(), "{figure}");
    }
    assert!(past["throughput"]["requests_per_s"].is_number());
    assert!(codes(&past["reasons"]).contains(&"past_capacity".to_owned()), "{}", past["reasons"]);
    let words = past["reasons"].to_string();
    // Eight at once, 20 + 10 × 28 ms each: 26.7 per second.
    assert!(words.contains("between 2") && words.contains("400"), "{words}");
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

#[test]
fn a_twin_that_knows_its_accuracy_gives_intervals() {
    let place = Place::new();
    let accuracy = "\n[accuracy]\nrate = 25\nttft = 100\nitl = 60\nlatency = 5\n";
    let twin = place.file("known.toml", &format!("{TWIN}{accuracy}"));
    let args = "--concurrency 4 --requests 40 --input-tokens 64 --output-tokens 11";
    let ended = run(place.dyno(&format!("predict --twin {twin} --out run {args}")));
    let ended = ended.expect_status(&[0]);
    assert!(ended.stdout.contains("95 % of measurements lie within"), "{}", ended.said());
    let level = &place.json("summary.json")["levels"][0];
    let interval = |metric: &str, percentile: &str| {
        let ends = &level["prediction"][metric][percentile];
        [0, 1].map(|end| ends[end].as_f64().unwrap())
    };
    // 20.001 ms, 24 ms and 260.001 ms, as in the test of the coefficients.
    assert_eq!(interval("ttft_ms", "p50"), [10.0005, 40.002]);
    assert_eq!(interval("itl_ms", "p50"), [15.0, 38.4]);
    assert!(level["prediction"]["itl_ms"]["p90"].is_null());
    let [low, high] = interval("latency_ms", "p90");
    assert!((low - 260.001 / 1.05).abs() < 1e-3 && (high - 260.001 * 1.05).abs() < 1e-3, "{level}");
    // A report that is made later says the same.
    let again = run(place.dyno("report run"));
    assert!(again.stdout.contains("95 % of measurements lie within"), "{}", again.said());
    let without = predict(&Place::new(), args);
    assert!(without["levels"][0].get("prediction").is_none(), "{without}");
}

#[test]
fn a_fitted_twin_is_asked_for_the_lengths_that_it_was_fitted_to() {
    let place = Place::new();
    let accuracy = "\n[accuracy]\nrate = 2\nttft = 9\nitl = 5\nlatency = 4\n";
    let fitted = place.file("fitted.toml", &format!("{TWIN}{accuracy}"));
    let mixed = format!("{TWIN}{accuracy}").replace("mean = 64", "mean = 64, spread = 0.6");
    let mixed = place.file("mixed.toml", &mixed);
    let made = place.file("made.toml", TWIN);
    let lengths = |twin: &str, given: &str| {
        let _ = std::fs::remove_dir_all(place.path().join("run"));
        let args = format!("predict --twin {twin} --out run --concurrency 2 --requests 8 {given}");
        let ended = run(place.dyno(&args)).expect_status(&[0]);
        let level = &place.json("summary.json")["levels"][0];
        let mean = |of: &str| level[of]["mean"].as_f64().unwrap();
        let notes = ["prompts of 64 tokens", "responses of 16 tokens"];
        let told = notes.map(|note| ended.stderr.contains(note));
        ((mean("input_tokens"), mean("output_tokens")), told)
    };
    assert_eq!(lengths(&fitted, ""), ((64.0, 16.0), [true, true]));
    assert_eq!(lengths(&fitted, "--output-tokens 64"), ((64.0, 64.0), [true, false]));
    assert_eq!(lengths(&fitted, "--input-tokens 256"), ((256.0, 16.0), [false, true]));
    // There is no one length, or nobody measured it.
    assert_eq!(lengths(&mixed, ""), ((256.0, 64.0), [false, false]));
    assert_eq!(lengths(&made, ""), ((256.0, 64.0), [false, false]));
}
