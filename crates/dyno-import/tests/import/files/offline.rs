//! What vLLM and SGLang measure without a server, or in one batch.

use crate::files::{close, errors, import, loads, notes, reported, run};
use dyno_model::metric::Time;

#[test]
fn throughput_of_an_engine() {
    let run = run("sglang-offline.jsonl");
    assert_eq!(loads(&run), [("burst", Some(120.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.duration_s), (Some(120), Some(8.125)));
    close(level.throughput.requests_per_s, reported(level, "request_throughput"), 1e-6);
    close(level.throughput.output_tokens_per_s, reported(level, "output_throughput"), 1e-6);
    close(level.throughput.total_tokens_per_s, reported(level, "total_throughput"), 1e-6);
    assert_eq!(level.input_tokens.unwrap().mean, 501.0);
    // The time of all together is no latency.
    assert_eq!(level.times[Time::Latency], None);
    assert_eq!(level.notes[0].code, "import_offline");
}

#[test]
fn throughput_of_vllm() {
    let run = run("vllm-throughput.json");
    assert_eq!(loads(&run), [("burst", Some(400.0))]);
    let level = &run.summary.levels[0];
    assert_eq!(level.throughput.total_tokens_per_s, Some(14400.0));
    // How many of the tokens are output is not stated.
    assert_eq!((level.throughput.output_tokens_per_s, level.output_tokens), (None, None));
}

#[test]
fn batches_of_a_model() {
    let run = run("sglang-one-batch.jsonl");
    assert_eq!(loads(&run), [("burst", Some(1.0)), ("burst", Some(8.0))]);
    assert_eq!(run.summary.run.label.as_deref(), Some("tiny"));
    let level = &run.summary.levels[1];
    assert_eq!((level.input_length, level.output_length), (Some(256), Some(32)));
    close(level.throughput.total_tokens_per_s, reported(level, "overall_throughput"), 1e-6);
    // 8 times 32 tokens, in the time of prefill and decoding.
    close(level.throughput.output_tokens_per_s, 256.0 / reported(level, "total_latency"), 1e-6);
    assert_eq!((&level.times[Time::Ttft], &level.times[Time::Tpot]), (&None, &None));
    assert_eq!(level.output_tokens.unwrap().total, Some(256));
}

#[test]
fn a_batch_over_a_server() {
    let run = run("sglang-one-batch-server.jsonl");
    assert_eq!(run.summary.run.label, None);
    let level = &run.summary.levels[0];
    assert_eq!(level.duration_s, Some(1.85));
    // The tool's leaves the time of the prefill out.
    close(level.throughput.output_tokens_per_s, 16.0 * 64.0 / 1.85, 1e-6);
    assert!(reported(level, "output_throughput") > 620.0);
    close(level.throughput.total_tokens_per_s, reported(level, "overall_throughput"), 1e-4);
}

#[test]
fn times_of_batches_without_a_size_are_refused() {
    let imported = import("vllm-latency.json");
    assert_eq!(imported.runs.len(), 0);
    assert!(errors(&imported)[0].contains("bench latency"), "{:?}", imported.problems);
    assert_eq!(notes(&imported), Vec::<String>::new());
}
