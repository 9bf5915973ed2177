//! What versions of vLLM's and SGLang's serving benchmarks say of their load and of responses without
//! output, and what early versions leave out.

use crate::files::{close, errors, loads, notes, reported, run};
use dyno_analysis::RunResults;
use dyno_import::import_bytes;
use dyno_model::metric::Time;
use serde_json::{Value, json};

/// A result of vLLM with these fields changed; `null` removes one.
fn changed(changes: Value) -> Vec<u8> {
    let mut value = json!({
        "backend": "vllm", "model_id": "acme/load-1b", "num_prompts": 200, "request_rate": "inf",
        "burstiness": 1.0, "max_concurrency": null, "duration": 40.5, "completed": 200,
        "total_input_tokens": 20000, "total_output_tokens": 8000, "request_throughput": 4.938272,
        "output_throughput": 197.530864, "total_token_throughput": 691.358025,
        "mean_ttft_ms": 55.5, "median_ttft_ms": 50.25, "p99_ttft_ms": 140.75,
    });
    for (name, change) in changes.as_object().unwrap() {
        match change {
            Value::Null => drop(value.as_object_mut().unwrap().remove(name)),
            change => value[name] = change.clone(),
        }
    }
    serde_json::to_vec(&value).unwrap()
}

fn only(bytes: &[u8]) -> (RunResults, Vec<String>) {
    let mut imported = import_bytes("result.json", bytes).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    let notes = notes(&imported);
    (imported.runs.remove(0), notes)
}

#[test]
fn empty_responses_are_completed_where_the_tool_counts_them() {
    let run = run("vllm-0.5-empty.json");
    let level = &run.summary.levels[0];
    let counts = &level.requests;
    assert_eq!((counts.planned, counts.completed, counts.failed), (Some(8), Some(8), Some(0)));
    close(level.throughput.requests_per_s, 6.4, 1e-6);
    close(level.throughput.output_tokens_per_s, reported(level, "output_throughput"), 1e-6);
    let total = reported(level, "input_throughput") + reported(level, "output_throughput");
    close(level.throughput.total_tokens_per_s, total, 1e-6);
    close(level.times[Time::ChunkGap].as_ref().unwrap().mean, reported(level, "mean_itl_ms"), 1e-3);
    // Three of eight are empty and have no TTFT; the tool counts them as 0.
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    assert_eq!(ttft.count, Some(5));
    close(ttft.mean, reported(level, "mean_ttft_ms") * 8.0 / 5.0, 1e-6);
    // Nor is it known how long they took.
    let latency = level.times[Time::Latency].as_ref().unwrap();
    assert_eq!(latency.count, Some(5));
    assert!(latency.min.unwrap() > 50.0, "{latency:?}");
    assert_eq!(loads(&run), [("burst", Some(8.0))]);
    let note = level.notes.iter().find(|note| note.code == "import_empty_responses").unwrap();
    assert!(note.what.starts_with("3 responses"), "{note:?}");
}

#[test]
fn empty_responses_are_failed_where_it_does_not_count_them() {
    let text = std::fs::read(crate::files::fixture("vllm-0.5-empty.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&text).unwrap();
    value["completed"] = json!(5);
    let (run, _) = only(&serde_json::to_vec(&value).unwrap());
    let counts = &run.summary.levels[0].requests;
    assert_eq!((counts.completed, counts.failed), (Some(5), Some(3)));
    // Of three, two failed: which ones is not guessed.
    value["completed"] = json!(6);
    let (run, notes) = only(&serde_json::to_vec(&value).unwrap());
    assert!(notes[0].contains("2 of 3 responses without output failed"), "{notes:?}");
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(6), None));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().count, None);
}

#[test]
fn a_rate_that_no_client_can_send_is_none() {
    for rate in [json!(1e9), json!("inf"), json!("1000000000")] {
        let (limited, notes) = only(&changed(json!({"request_rate": rate, "max_concurrency": 4})));
        assert_eq!(loads(&limited), [("concurrency", Some(4.0))], "{rate}");
        assert_eq!(notes, Vec::<String>::new());
        let (unlimited, _) = only(&changed(json!({"request_rate": rate})));
        assert_eq!(loads(&unlimited), [("burst", Some(200.0))], "{rate}");
    }
}

#[test]
fn a_limit_decides_where_all_requests_are_due_at_the_start() {
    // 200 requests at 1000/s are due within 0.2 s of 40.5 s.
    let (run, notes) = only(&changed(json!({"request_rate": 1000.0, "max_concurrency": 4})));
    assert_eq!(loads(&run), [("concurrency", Some(4.0))]);
    assert!(notes[0].contains("all requests were due at the start"), "{notes:?}");
    // At 10/s they are due within half of it.
    let (run, notes) = only(&changed(json!({"request_rate": 10.0, "max_concurrency": 4})));
    assert_eq!(loads(&run), [("rate", Some(10.0))]);
    assert!(notes[0].contains("at most 4 requests in flight"), "{notes:?}");
    // Without a limit a rate is what was asked for, however high.
    let (run, _) = only(&changed(json!({"request_rate": 1000.0})));
    assert_eq!(loads(&run), [("rate", Some(1000.0))]);
}

#[test]
fn a_limit_has_other_names_and_places() {
    for changes in [
        json!({"max-concurrency": 16}),
        json!({"concurrency": "16"}),
        json!({"args": {"max-concurrency": "16"}}),
    ] {
        let (run, notes) = only(&changed(changes.clone()));
        assert_eq!(loads(&run), [("concurrency", Some(16.0))], "{changes}");
        assert!(notes[0].contains("is stated as"), "{notes:?}");
    }
    let (run, notes) = only(&changed(json!({"args": {"max_concurrency": 16}})));
    assert_eq!(loads(&run), [("concurrency", Some(16.0))]);
    assert_eq!(notes, Vec::<String>::new());
    // In SGLang's results it is how many were in flight on average.
    let sglang = json!({"model_id": null, "total_token_throughput": null,
        "total_throughput": 691.358025, "concurrency": 16.0});
    assert_eq!(loads(&only(&changed(sglang)).0), [("burst", Some(200.0))]);
}

#[test]
fn a_ramp_is_no_rate() {
    let ramp = json!({"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 9});
    assert_eq!(loads(&only(&changed(ramp)).0), [("ramp", None)]);
}

#[test]
fn early_results_of_sglang_lack_a_rate() {
    let run = run("sglang-early.jsonl");
    let wanted = [("rate", Some(2.0)), ("rate", Some(4.0)), ("burst", Some(480.0))];
    assert_eq!(loads(&run), wanted);
    let level = &run.summary.levels[1];
    let duration = reported(level, "duration");
    close(level.throughput.requests_per_s, 240.0 / duration, 1e-6);
    close(level.throughput.total_tokens_per_s, (240.0 * 700.0 + 10.0) / duration, 1e-6);
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p50, Some(246.0));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().mean, None);
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(8402.0));
    assert_eq!(level.times[Time::Tpot], None);
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "sglang");
}

#[test]
fn the_copy_of_lmdeploy_is_its_own() {
    let run = run("lmdeploy-restful.jsonl");
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "lmdeploy");
    assert_eq!(run.summary.run.api.as_deref(), Some("openai-completions"));
    assert_eq!(loads(&run), [("burst", Some(500.0))]);
    let level = &run.summary.levels[0];
    close(level.throughput.requests_per_s, 500.0 / 41.75, 1e-6);
    assert_eq!(level.times[Time::ChunkGap].as_ref().unwrap().p50, Some(33.5));
}

#[test]
fn greatest_values_and_seconds_are_understood() {
    let bytes = changed(json!({"p100_ttft_ms": 150.5, "p0_ttft_ms": 20.25, "mean_ttft_ms": null}));
    let (run, _) = only(&bytes);
    let ttft = run.summary.levels[0].times[Time::Ttft].clone().unwrap();
    assert_eq!(
        (ttft.min, ttft.p50, ttft.max, ttft.mean),
        (Some(20.25), Some(50.25), Some(150.5), None)
    );
    let seconds = json!({"mean_ttft_ms": null, "median_ttft_ms": null, "p99_ttft_ms": null,
        "median_ttft": 0.25, "p99_ttft": 1.5, "median_tpot": 0.01});
    let level = only(&changed(seconds)).0.summary.levels[0].clone();
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p50, Some(250.0));
    assert_eq!(level.times[Time::Tpot].as_ref().unwrap().p50, Some(10.0));
}

#[test]
fn what_was_added_to_a_result_is_kept() {
    let added = json!({"gpu_count": "2", "benchmark_start_time_unix": 1_770_000_000.5,
        "backend": "openai-chat"});
    let (run, _) = only(&changed(added));
    assert_eq!(run.summary.run.gpus, Some(2));
    assert_eq!(run.summary.run.started.as_deref(), Some("2026-02-02T02:40:00Z"));
    assert_eq!(run.summary.run.api.as_deref(), Some("openai-chat"));
}

#[test]
fn the_first_version_divides_the_whole_latency_by_tokens() {
    let first = json!({"request_throughput": null, "request_inthroughput": 4.938272,
        "input_throughput": 493.827161, "total_token_throughput": null, "mean_tpot_ms": 12.5});
    let (run, notes) = only(&changed(first));
    let level = &run.summary.levels[0];
    assert_eq!(level.times[Time::Tpot], None);
    assert_eq!(reported(level, "mean_tpot_ms"), 12.5);
    assert!(notes[0].contains("divided by all output tokens"), "{notes:?}");
    assert_eq!(level.throughput.requests_per_s, Some(4.938272));
    close(level.throughput.total_tokens_per_s, 691.358025, 1e-6);
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "vllm");
}

#[test]
fn the_gaps_of_sglang_are_of_tokens_or_events() {
    let of = |backend: &str, accepted: Value, p95: Value| {
        let bytes = changed(json!({"model_id": null, "total_token_throughput": null,
            "total_throughput": 691.358025, "backend": backend, "accept_length": accepted,
            "mean_itl_ms": 9.5, "p95_itl_ms": p95}));
        let times = only(&bytes).0.summary.levels[0].times.clone();
        let mean = |time| times[time].as_ref().and_then(|one| one.mean);
        (mean(Time::Itl), mean(Time::ChunkGap))
    };
    // Its own API: the time of an event is divided by its tokens.
    assert_eq!(of("sglang", json!(2.5), json!(20.5)), (Some(9.5), None));
    // Every event has one.
    assert_eq!(of("sglang", Value::Null, json!(20.5)), (Some(9.5), Some(9.5)));
    // An early version.
    assert_eq!(of("sglang", Value::Null, Value::Null), (None, Some(9.5)));
    // Other APIs do not say how many an event has; with speculation it is divided by the mean.
    assert_eq!(of("sglang-oai", Value::Null, json!(20.5)), (None, Some(9.5)));
    assert_eq!(of("sglang-oai", json!(2.5), json!(20.5)), (None, None));
}

#[test]
fn embeddings_have_a_latency_only() {
    let bytes = changed(json!({"mean_ttft_ms": null, "median_ttft_ms": null, "p99_ttft_ms": null,
        "output_throughput": null, "total_output_tokens": null, "mean_e2el_ms": 81.5}));
    let level = only(&bytes).0.summary.levels[0].clone();
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().mean, Some(81.5));
    assert_eq!((level.output_tokens, level.throughput.output_tokens_per_s), (None, None));
    assert_eq!(level.throughput.total_tokens_per_s, Some(691.358025));
}
