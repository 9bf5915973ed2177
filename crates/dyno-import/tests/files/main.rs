//! Result files of other tools, as they save them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aiperf;
mod broken;
mod evalscope;
mod guidellm;
mod lmdeploy;
mod serving;

use dyno_import::{Imported, ImportedRun, Weight};
use dyno_model::LevelSummary;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/files").join(name)
}

fn import(name: &str) -> Imported {
    dyno_import::import(&fixture(name)).unwrap()
}

/// The one run of a file that is read without any error.
fn run(name: &str) -> ImportedRun {
    let mut imported = import(name);
    assert_eq!(errors(&imported), Vec::<String>::new());
    assert_eq!(imported.runs.len(), 1);
    imported.runs.remove(0)
}

fn errors(imported: &Imported) -> Vec<String> {
    let errors = imported.problems.iter().filter(|problem| problem.weight == Weight::Error);
    errors.map(ToString::to_string).collect()
}

fn notes(imported: &Imported) -> Vec<String> {
    let notes = imported.problems.iter().filter(|problem| problem.weight == Weight::Note);
    notes.map(ToString::to_string).collect()
}

fn loads(run: &ImportedRun) -> Vec<(&str, Option<f64>)> {
    let loads = run.summary.levels.iter().map(|level| &level.load);
    loads.map(|load| (load.kind.name(), load.value)).collect()
}

fn reported(level: &LevelSummary, name: &str) -> f64 {
    level.reported.as_ref().unwrap().figures[name]
}

#[track_caller]
fn close(ours: Option<f64>, theirs: f64, share: f64) {
    let ours = ours.expect("a figure");
    assert!((ours - theirs).abs() <= share * theirs.abs(), "{ours} is not near {theirs}");
}
