//! vLLM's `bench sweep`, and results that are in several files of a folder.

use crate::files::{errors, fixture, loads, notes, run};
use dyno_import::{FileOutcome, ImportOutcome, import};
use dyno_model::LevelSummary;
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

fn outcome<'a>(files: &'a [FileOutcome], name: &str) -> &'a ImportOutcome {
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
    let copy = ImportOutcome::Copy { tool: "vllm".to_owned(), of: "run=1.json".to_owned() };
    assert_eq!(outcome(&imported.files, "summary.json"), &copy);
}

#[test]
fn so_is_what_is_in_two_folders() {
    let rows: Value =
        serde_json::from_slice(&std::fs::read(fixture("inferencex-agg.json")).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("single")).unwrap();
    write(folder.path(), "agg_bmk.json", &rows);
    write(folder.path(), "single/agg_conc16.json", &rows[1]);
    let imported = import(folder.path()).unwrap();
    let levels: usize = imported.runs.iter().map(|run| run.summary.levels.len()).sum();
    assert_eq!(levels, 3);
    let shown = Path::new("single").join("agg_conc16.json").to_string_lossy().into_owned();
    let copy = ImportOutcome::Copy { tool: "inferencex".to_owned(), of: "agg_bmk.json".to_owned() };
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

/// The table that a sweep writes of all its results, with an index before them.
fn table(results: &Value) -> String {
    let results = results.as_array().unwrap();
    let names: Vec<&String> = results[0].as_object().unwrap().keys().collect();
    let cell = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = vec![names.iter().fold(String::new(), |line, name| line + "," + name)];
    for (i, result) in results.iter().enumerate() {
        let row = names.iter().fold(i.to_string(), |row, name| row + "," + &cell(&result[*name]));
        lines.push(row);
    }
    lines.join("\n") + "\n"
}

#[test]
fn a_table_has_a_result_in_each_row() {
    let text = table(&summary());
    let imported = dyno_import::import_bytes("summary.csv", text.as_bytes()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    let [read] = imported.runs.as_slice() else { panic!("one run") };
    let of_json = run("vllm-sweep-summary.json").summary.levels;
    let values = |levels: &[LevelSummary]| {
        let of = |level: &LevelSummary| (level.load, level.throughput, level.times.clone());
        levels.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(values(&read.summary.levels), values(&of_json));
    let shifted = text.replacen("\n1,", "\n1,surplus,", 1);
    let imported = dyno_import::import_bytes("summary.csv", shifted.as_bytes()).unwrap();
    assert!(errors(&imported)[0].starts_with("line 3"), "{:?}", imported.problems);
    assert_eq!(imported.runs[0].summary.levels.len(), 1);
}

#[test]
fn the_table_beside_the_folders_is_their_copy() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("BENCH--max_concurrency=4");
    std::fs::create_dir(&inner).unwrap();
    combination(&inner);
    std::fs::write(folder.path().join("summary.csv"), table(&summary())).unwrap();
    let imported = import(folder.path()).unwrap();
    assert_eq!(imported.runs.len(), 1);
    assert_eq!(imported.runs[0].summary.run.origin.as_ref().unwrap().form, "json");
    let ImportOutcome::Copy { tool, of } = outcome(&imported.files, "summary.csv") else {
        panic!("{:?}", imported.files)
    };
    assert_eq!(tool, "vllm");
    assert_eq!(of, "BENCH--max_concurrency=4/run=1.json");
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
