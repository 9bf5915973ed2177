//! LLMPerf: summaries, several in one file, and individual responses.

use crate::files::{close, import, loads, reported, run};
use dyno_model::metric::Time;

#[test]
fn a_summary_is_a_level() {
    let run = run("llmperf-summary.json");
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "llmperf");
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/pocket-1b"));
    assert_eq!(loads(&run), [("concurrency", Some(2.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(8), Some(1)));
    let ttft = level.times[Time::Ttft].as_ref().unwrap();
    close(ttft.mean, 285.0, 1e-6);
    close(ttft.p50, 285.0, 1e-6);
    close(level.times[Time::Latency].as_ref().unwrap().min, 1050.0, 1e-6);
    let per_minute = reported(level, "results_num_completed_requests_per_min");
    close(level.throughput.requests_per_s, per_minute / 60.0, 1e-6);
    assert_eq!(level.input_tokens.unwrap().mean, 200.0);
    // Only the input is of one length.
    assert_eq!((level.input_length, level.output_length), (Some(200), None));
}

#[test]
fn its_inter_token_latency_includes_the_first_token() {
    let run = run("llmperf-summary.json");
    let level = &run.summary.levels[0];
    for time in [Time::Tpot, Time::Itl, Time::ChunkGap] {
        assert_eq!(level.times[time], None);
    }
    let mean = reported(level, "results_inter_token_latency_s_mean") * 1e3;
    close(run.extras.of(0).latency_per_output_token_ms, mean, 1e-6);
}

#[test]
fn summaries_of_one_file_are_in_the_order_of_their_concurrency() {
    let run = run("llmperf-sweep.json");
    let slots: Vec<_> = loads(&run).into_iter().map(|(_, slots)| slots.unwrap()).collect();
    assert_eq!(slots, [1.0, 2.0, 16.0]);
    close(run.summary.levels[2].times[Time::Ttft].as_ref().unwrap().min, 4000.0, 1e-6);
}

#[test]
fn responses_alone_have_no_load_and_no_duration() {
    let run = run("llmperf-individual.json");
    assert_eq!(loads(&run), [("unknown", None)]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(8), Some(1)));
    assert_eq!(level.requests.failures["http.429"], 1);
    assert_eq!((level.duration_s, level.throughput.requests_per_s), (None, None));
    // Of a response with 40 tokens: (1.05 s − 0.25 s) / 39.
    close(level.times[Time::Tpot].as_ref().unwrap().max, 800.0 / 39.0, 1e-4);
}

#[test]
fn a_folder_with_both_is_one_run_with_the_load() {
    let run = &crate::files::run_of_folder(&[
        ("llmperf-individual.json", "a_200_50_individual_responses.json"),
        ("llmperf-summary.json", "a_200_50_summary.json"),
    ]);
    assert_eq!(loads(run), [("concurrency", Some(2.0))]);
    let level = &run.summary.levels[0];
    assert!(level.times[Time::Tpot].is_some() && level.throughput.requests_per_s.is_some());
}

#[test]
fn responses_of_another_test_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(crate::files::fixture("llmperf-individual.json")).unwrap();
    let slower = text.replace("\"end_to_end_latency_s\": 1.", "\"end_to_end_latency_s\": 2.");
    std::fs::write(folder.path().join("responses.json"), slower).unwrap();
    let summary = crate::files::fixture("llmperf-summary.json");
    std::fs::copy(summary, folder.path().join("summary.json")).unwrap();
    assert_eq!(dyno_import::import(folder.path()).unwrap().runs.len(), 2);
    assert_eq!(import("llmperf-summary.json").runs.len(), 1);
}
