//! vLLM's `bench sweep`, and results that are in several files of a folder.

use crate::{errors, fixture, loads, notes, run};
use dyno_import::{FileOutcome, Outcome, import};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn a_summary_is_a_list_of_results() {
    let run = run("vllm-sweep-summary.json");
    assert_eq!(loads(&run), [("concurrency", Some(4.0)), ("concurrency", Some(4.0))]);
    let labels: Vec<_> = run.summary.levels.iter().map(|level| level.label.as_str()).collect();
    assert_eq!(labels, ["concurrency 4", "concurrency 4 (2)"]);
    assert_eq!(run.summary.run.model.as_deref(), Some("acme/sweep-1b"));
    assert_eq!(run.summary.run.origin.as_ref().unwrap().tool, "vllm");
}

#[test]
fn a_list_with_something_else_in_it_is_read_as_far_as_it_is_known() {
    let mut results = summary();
    results.as_array_mut().unwrap().push(json!({"a": 1}));
    let bytes = serde_json::to_vec(&results).unwrap();
    let imported = dyno_import::import_bytes("a.json", &bytes).unwrap();
    assert_eq!(imported.runs[0].summary.levels.len(), 2);
    assert_eq!(errors(&imported).len(), 1, "{:?}", imported.problems);
    assert!(dyno_import::import_bytes("a.json", b"[{\"a\": 1}, 2]").is_err());
}

fn summary() -> Value {
    serde_json::from_slice(&std::fs::read(fixture("vllm-sweep-summary.json")).unwrap()).unwrap()
}

fn write(folder: &Path, name: &str, value: &Value) {
    std::fs::write(folder.join(name), serde_json::to_vec(value).unwrap()).unwrap();
}

/// The folder of one combination, as the tool leaves it.
fn combination(folder: &Path) {
    let results = summary();
    write(folder, "run=0.json", &results[0]);
    write(folder, "run=1.json", &results[1]);
    write(folder, "summary.json", &results);
    let mut warmup = results[0].clone();
    warmup["run_number"] = json!(-1);
    warmup["duration"] = json!(9.75);
    write(folder, "warmup.json", &warmup);
}

fn outcome<'a>(files: &'a [FileOutcome], name: &str) -> &'a Outcome {
    &files.iter().find(|file| file.file == name).unwrap().outcome
}

#[test]
fn what_is_in_two_files_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    combination(folder.path());
    let imported = import(folder.path()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(imported.runs[0].summary.levels.len(), 2);
    assert!(notes(&imported)[0].contains("warm-up of a sweep"), "{:?}", imported.problems);
    let copy = Outcome::Copy { tool: "vllm or sglang".to_owned(), of: "run=1.json".to_owned() };
    assert_eq!(outcome(&imported.files, "summary.json"), &copy);
}

#[test]
fn so_is_what_is_in_two_folders() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("SERVE--max_num_seqs=16");
    std::fs::create_dir(&inner).unwrap();
    combination(&inner);
    write(folder.path(), "all.json", &summary());
    let imported = import(folder.path()).unwrap();
    assert_eq!(imported.runs.len(), 1);
    let file = inner.join("summary.json");
    let shown = file.strip_prefix(folder.path()).unwrap().to_string_lossy();
    let copy = Outcome::Copy { tool: "vllm or sglang".to_owned(), of: "all.json".to_owned() };
    assert_eq!(outcome(&imported.files, &shown), &copy);
}

#[test]
fn loads_of_one_server_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    for (server, slots) in [(4, 16), (4, 2), (8, 2)] {
        let name = format!("SERVE--max_num_seqs={server}-BENCH--max_concurrency={slots}");
        let inner = folder.path().join(name);
        std::fs::create_dir(&inner).unwrap();
        let mut result = summary()[0].clone();
        result["max_concurrency"] = json!(slots);
        result["duration"] = json!(1.5 + f64::from(server + slots) / 7.0);
        write(&inner, "run=0.json", &result);
        write(&inner, "summary.json", &json!([result]));
    }
    let imported = import(folder.path()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    let [four, eight] = imported.runs.as_slice() else { panic!("two servers") };
    assert_eq!(loads(four), [("concurrency", Some(2.0)), ("concurrency", Some(16.0))]);
    assert_eq!(loads(eight), [("concurrency", Some(2.0))]);
    assert_eq!(four.summary.run.label.as_deref(), Some("acme/sweep-1b, max_num_seqs=4"));
}

#[test]
fn a_failure_says_what_failed() {
    let failure = json!({"run_number": 0, "error_type": "RuntimeError", "error": "out of memory",
        "serve_overrides": {"max_num_seqs": 512}, "bench_overrides": {}});
    let bytes = serde_json::to_vec(&failure).unwrap();
    let imported = dyno_import::import_bytes("run=0.failure.json", &bytes).unwrap();
    assert_eq!(imported.runs.len(), 0);
    assert!(
        errors(&imported)[0].contains("RuntimeError: out of memory"),
        "{:?}",
        imported.problems
    );
}
