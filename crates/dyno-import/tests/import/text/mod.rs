//! What tools print, read out of texts: each tool, documents with several, and what goes wrong.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aiperf;
mod any;
mod defects;
mod documents;
mod evalscope;
mod guidellm;
mod llama_bench;
mod logs;
mod matrix;
mod mlperf;
mod serving;
mod trtllm;

use dyno_analysis::RunResults;
use dyno_import::{Imported, import_bytes};
use dyno_model::LevelSummary;
use dyno_model::Severity;
use std::path::Path;

/// The text of a fixture.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A fixture, read.
fn read(name: &str) -> Imported {
    import_bytes(name, fixture(name).as_bytes()).unwrap()
}

/// A text, read.
fn read_text(text: &str) -> Imported {
    import_bytes("text.md", text.as_bytes()).unwrap()
}

/// The labels of its levels.
fn labels(run: &RunResults) -> Vec<&str> {
    run.summary.levels.iter().map(|level| level.label.as_str()).collect()
}

fn mean(figure: &Option<dyno_model::summary::Distribution>) -> Option<f64> {
    figure.as_ref().and_then(|figure| figure.mean)
}

fn load(level: &LevelSummary) -> (&str, Option<f64>) {
    (level.load.kind.name(), level.load.value)
}

/// Problems of a severity: their lines and what was seen.
fn problems(imported: &Imported, severity: Severity) -> Vec<(u64, &str)> {
    let of = imported.problems.iter().filter(|problem| problem.severity == Some(severity));
    of.map(|problem| (problem.line().unwrap_or_default(), problem.what.as_str())).collect()
}
