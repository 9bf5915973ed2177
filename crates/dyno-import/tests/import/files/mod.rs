//! Result files of other tools, as they save them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aiperf;
mod broken;
mod edits;
mod evalscope;
mod guidellm;
mod inference_perf;
mod inferencex;
mod k6;
mod llama_bench;
mod llm_d;
mod llmperf;
mod lmdeploy;
mod locust;
mod offline;
mod serving;
mod serving_load;
mod sweep;
mod trtllm;

use dyno_analysis::RunResults;
use dyno_import::Imported;
use dyno_model::{Diagnostic, LevelSummary, Severity};
use dyno_words::on_line;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/files").join(name)
}

fn import(name: &str) -> Imported {
    dyno_import::import(&fixture(name)).unwrap()
}

/// The one run of a folder with these fixtures, under these names, that is read without any error.
fn run_of_folder(files: &[(&str, &str)]) -> RunResults {
    let folder = tempfile::tempdir().unwrap();
    for (name, file) in files {
        std::fs::copy(fixture(name), folder.path().join(file)).unwrap();
    }
    let mut imported = dyno_import::import(folder.path()).unwrap();
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    imported.runs.remove(0)
}

/// The one run of a file that is read without any error.
fn run(name: &str) -> RunResults {
    let mut imported = import(name);
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    imported.runs.remove(0)
}

fn errors(imported: &Imported) -> Vec<String> {
    told(imported, Severity::Error)
}

fn notes(imported: &Imported) -> Vec<String> {
    told(imported, Severity::Note)
}

/// Problems of a severity, with their lines and advice.
fn told(imported: &Imported, severity: Severity) -> Vec<String> {
    let of = imported.problems.iter().filter(|problem| problem.severity == Some(severity));
    let words = |problem: &Diagnostic| {
        format!("{}; {}", on_line(problem).what, problem.advice.as_deref().unwrap_or_default())
    };
    of.map(words).collect()
}

fn loads(run: &RunResults) -> Vec<(&str, Option<f64>)> {
    let loads = run.summary.levels.iter().map(|level| &level.load);
    loads.map(|load| (load.kind.name(), load.value)).collect()
}

fn reported(level: &LevelSummary, name: &str) -> f64 {
    level.reported.as_ref().unwrap().figures[name]
}

#[track_caller]
fn close(ours: Option<f64>, theirs: f64, share: f64) {
    let ours = ours.expect("a value");
    assert!((ours - theirs).abs() <= share * theirs.abs(), "{ours} is not near {theirs}");
}
