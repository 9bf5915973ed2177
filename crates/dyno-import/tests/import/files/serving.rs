//! The serving benchmarks of vLLM and SGLang.

use crate::files::{close, errors, loads, reported, run};
use dyno_import::import_bytes;
use dyno_model::metric::Time;
use dyno_model::summary::Burstiness;
use serde_json::{Value, json};

#[test]
fn results_are_recomputed_from_requests_with_times() {
    let run = run("vllm-detailed.json");
    assert_eq!(loads(&run), [("concurrency", Some(2.0))]);
    let level = &run.summary.levels[0];
    assert_eq!(run.summary.run.model.as_deref(), Some("org/tiny-7b"));
    let counts = &level.requests;
    assert_eq!((counts.planned, counts.completed, counts.failed), (Some(9), Some(8), Some(1)));
    assert_eq!(level.failure_samples["stream.error"], ["Service Unavailable"]);
    for (figure, name) in [
        (&level.times[Time::Ttft], "ttft"),
        (&level.times[Time::Tpot], "tpot"),
        (&level.times[Time::ChunkGap], "itl"),
        (&level.times[Time::Latency], "e2el"),
    ] {
        let mean = reported(level, &format!("mean_{name}_ms"));
        close(figure.as_ref().unwrap().mean, mean, 1e-3);
    }
    // Fifteen gaps after the first of sixteen tokens: every token has its time.
    assert_eq!(level.times[Time::Itl].as_ref().unwrap().count, Some(8 * 15));
    assert_eq!(level.concurrency.unwrap().peak, 2);
    assert!(level.steady.is_some());
    // Its clock is not the wall's.
    assert_eq!(run.summary.run.started, None);
    assert_eq!(run.extras.of(0).burstiness, Some(Burstiness::Shape(1.0)));
    assert!(run.rebuilt.is_some());
}

#[test]
fn requests_without_times_give_metrics_that_need_none() {
    let run = run("vllm-0.6.json");
    assert_eq!(loads(&run), [("rate", Some(4.0))]);
    let level = &run.summary.levels[0];
    assert_eq!((level.requests.completed, level.requests.failed), (Some(6), Some(1)));
    close(level.times[Time::Ttft].as_ref().unwrap().mean, reported(level, "mean_ttft_ms"), 1e-3);
    // The version does not write it; its requests tell.
    assert_eq!(level.times[Time::Latency].as_ref().unwrap().count, Some(6));
    assert_eq!(
        level.duration_s,
        Some(reported(level, "duration")).map(|s| (s * 1e6).round() / 1e6)
    );
    close(level.throughput.output_tokens_per_s, reported(level, "output_throughput"), 1e-5);
    assert_eq!((level.concurrency, level.steady), (None, None));
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().ci95.mean, None);
    assert!(run.rebuilt.is_none());
}

#[test]
fn appended_results_are_one_sweep() {
    let run = run("vllm-append.json");
    let wanted = [1.0, 2.0, 4.0].map(|slots| ("concurrency", Some(slots)));
    assert_eq!(loads(&run), wanted);
    let level = &run.summary.levels[2];
    assert_eq!(level.index, 2);
    assert_eq!(level.reported.as_ref().unwrap().line, Some(3));
    close(level.times[Time::Ttft].as_ref().unwrap().p99, reported(level, "p99_ttft_ms"), 1e-6);
    assert_eq!(level.times[Time::Ttft].as_ref().unwrap().p90, None);
    assert_eq!(level.times[Time::Itl], None);
    assert_eq!(level.input_tokens.unwrap().mean, 100.0);
    assert_eq!(run.extras.of(2).peak_requests, Some(4));
}

#[test]
fn what_was_not_streamed_has_no_ttft_of_zero() {
    let run = run("vllm-not-streamed.json");
    let level = &run.summary.levels[0];
    assert_eq!(level.times[Time::Ttft], None);
    assert_eq!(reported(level, "mean_ttft_ms"), 0.0);
    assert_eq!(loads(&run), [("burst", Some(4.0))]);
}

#[test]
fn sglang_with_and_without_details() {
    let run = run("sglang.jsonl");
    assert_eq!(loads(&run), [("concurrency", Some(2.0)), ("rate", Some(20.0))]);
    let origin = run.summary.run.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.form.as_str()), ("sglang", "jsonl"));
    let [detailed, plain] = run.summary.levels.as_slice() else { panic!("two levels") };
    assert_eq!(detailed.times[Time::Ttft].as_ref().unwrap().count, Some(6));
    close(
        detailed.times[Time::Ttft].as_ref().unwrap().mean,
        reported(detailed, "mean_ttft_ms"),
        1e-3,
    );
    close(
        detailed.times[Time::ChunkGap].as_ref().unwrap().mean,
        reported(detailed, "mean_itl_ms"),
        1e-3,
    );
    assert_eq!(plain.times[Time::Ttft].as_ref().unwrap().count, None);
    close(
        plain.times[Time::Latency].as_ref().unwrap().mean,
        reported(plain, "mean_e2e_latency_ms"),
        1e-6,
    );
    // The lengths of random prompts stand in it, but these came from a file.
    assert_eq!((plain.input_length, plain.output_length), (None, None));
}

fn result(change: impl Fn(&mut Value)) -> Vec<u8> {
    let text = std::fs::read(crate::files::fixture("vllm-detailed.json")).unwrap();
    let mut value: Value = serde_json::from_slice(&text).unwrap();
    change(&mut value);
    serde_json::to_vec(&value).unwrap()
}

#[test]
fn lists_that_do_not_fit_together_are_not_guessed_at() {
    let bytes = result(|value| {
        value["itls"].as_array_mut().unwrap().pop();
    });
    let imported = import_bytes("a.json", &bytes).unwrap();
    assert!(errors(&imported)[0].contains("`itls` has 8"), "{:?}", imported.problems);
    let level = &imported.runs[0].summary.levels[0];
    close(level.times[Time::Ttft].as_ref().unwrap().mean, reported(level, "mean_ttft_ms"), 1e-6);
    assert!(imported.runs[0].rebuilt.is_none());
}

#[test]
fn values_that_contradict_their_own_requests_are_reported() {
    let bytes = result(|value| value["mean_tpot_ms"] = json!(25.0));
    let imported = import_bytes("a.json", &bytes).unwrap();
    let notes = crate::files::notes(&imported);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("mean TPOT") && notes[0].contains("reports 25"), "{notes:?}");
    let level = &imported.runs[0].summary.levels[0];
    assert!(level.times[Time::Tpot].as_ref().unwrap().mean.unwrap() < 12.0);
    assert_eq!(reported(level, "mean_tpot_ms"), 25.0);
}

#[test]
fn a_rate_with_a_limit_is_a_rate_and_says_so() {
    let bytes = result(|value| value["request_rate"] = json!(5.0));
    let imported = import_bytes("a.json", &bytes).unwrap();
    assert_eq!(loads(&imported.runs[0]), [("rate", Some(5.0))]);
    assert!(
        crate::files::notes(&imported)[0].contains("at most 2 requests in flight"),
        "{:?}",
        imported.problems
    );
    let notes = &imported.runs[0].summary.levels[0].notes;
    assert!(notes.iter().any(|note| note.code == "import_load_two"), "{notes:?}");
}

#[test]
fn two_tools_in_one_file_are_two_runs() {
    let mut bytes = std::fs::read(crate::files::fixture("vllm-append.json")).unwrap();
    bytes.push(b'\n');
    bytes.extend(std::fs::read(crate::files::fixture("sglang.jsonl")).unwrap());
    let imported = import_bytes("both.jsonl", &bytes).unwrap();
    let tools = imported.runs.iter().map(|run| run.summary.run.origin.clone().unwrap().tool);
    assert_eq!(tools.collect::<Vec<_>>(), ["vllm", "sglang"]);
    assert_eq!(imported.runs[1].summary.run.id, "both-2");
    let levels: Vec<usize> = imported.runs.iter().map(|run| run.summary.levels.len()).collect();
    assert_eq!(levels, [3, 2]);
}

#[test]
fn another_model_is_another_run() {
    let first = result(|_| {});
    let second = result(|value| value["model_id"] = json!("org/other"));
    let bytes = [first, b"\n".to_vec(), second].concat();
    let imported = import_bytes("a.jsonl", &bytes).unwrap();
    assert_eq!(imported.runs.len(), 2);
    let same = [result(|_| {}), result(|_| {})].join(&b'\n');
    let imported = import_bytes("a.jsonl", &same).unwrap();
    let labels = imported.runs[0].summary.levels.iter().map(|level| level.label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["concurrency 2", "concurrency 2 (2)"]);
}

#[test]
fn a_folder_of_results_is_one_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(crate::files::fixture("vllm-append.json")).unwrap();
    for (slots, line) in [1, 2, 4].iter().zip(text.lines()) {
        let name = format!("vllm-infqps-concurrency{slots}-tiny.json");
        std::fs::write(folder.path().join(name), line).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
    std::fs::write(folder.path().join("other.json"), "{\"a\": 1}").unwrap();
    let imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(imported.problems, []);
    assert_eq!(imported.runs.len(), 1);
    let wanted = [1.0, 2.0, 4.0].map(|slots| ("concurrency", Some(slots)));
    assert_eq!(loads(&imported.runs[0]), wanted);
}
