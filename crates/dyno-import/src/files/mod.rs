//! Results that tools save: JSON, JSON lines, CSV, SQLite, and folders of them. Here a file's kind is
//! found, and what was read of it is put together; each kind has a reader of its own.

mod aiperf;
mod aiperf_csv;
mod aiperf_records;
mod csv;
mod directory;
mod evalscope;
mod evalscope_database;
mod guidellm;
mod guidellm_first;
mod guidellm_requests;
mod json;
mod lmdeploy;
mod rebuild;
mod sample;
mod serving;
mod sqlite;
mod told;

use crate::{Imported, Problem};
pub(crate) use directory::{import as import_directory, journal, journal_note};
use rebuild::Head;
use serde_json::Value;
use told::Found;

/// What is read here, in the words of messages.
pub(crate) const KINDS: &[&str] = &[
    "guidellm reports (JSON)",
    "results of vLLM's `bench serve` (JSON)",
    "results of SGLang's `bench_serving` (JSON lines)",
    "EvalScope perf results (JSON, SQLite, or the folder of a run)",
    "AIPerf and GenAI-Perf exports (JSON, JSON lines, CSV)",
    "LMDeploy profiles (CSV)",
];

/// Reads a file, if it is one of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    if sqlite::is_database(bytes) {
        return Some(evalscope_database::import(name, bytes));
    }
    if json::looks_like_json(bytes) {
        return documents(name, bytes);
    }
    let mut reading = Reading::new(name);
    let known = aiperf_csv::read(&mut reading, bytes) || lmdeploy::read(&mut reading, bytes);
    known.then(|| reading.finish())
}

/// Reads JSON, if any document in it is of a known kind.
fn documents(name: &str, bytes: &[u8]) -> Option<Imported> {
    let found = json::documents(bytes);
    let mut reading = Reading::new(name);
    reading.several = found.values.len() > 1;
    let mut known = false;
    let mut records = aiperf_records::Records::default();
    for (line, value) in &found.values {
        if aiperf_records::is_record(value) {
            records.add(*line, value, &mut reading);
            known = true;
        } else if document(&mut reading, *line, value) {
            known = true;
        } else {
            let what = "this is JSON, but not the result of a known tool";
            reading.problems.push(Problem::error(Some(*line), what, "it is left out"));
        }
    }
    records.finish(&mut reading);
    if !known && !(found.values.is_empty() && mentions_a_tool(bytes)) {
        return None;
    }
    reading.problems.extend(found.problems);
    Some(reading.finish())
}

/// Reads one document; whether it is of a known kind.
fn document(reading: &mut Reading<'_>, line: u64, value: &Value) -> bool {
    if guidellm::is_report(value) {
        guidellm::read(reading, line, value);
    } else if guidellm_first::is_report(value) {
        guidellm_first::read(reading, line, value);
    } else if serving::is_result(value) {
        serving::read(reading, line, value);
    } else if aiperf::is_export(value) {
        aiperf::read(reading, line, value);
    } else if evalscope::is_summary(value) || evalscope::is_percentiles(value) {
        evalscope::read(reading, line, value);
    } else {
        return false;
    }
    true
}

/// Whether JSON that cannot be read was probably a result.
fn mentions_a_tool(bytes: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [
        b"\"benchmarks\"",
        b"_ttft_ms\"",
        b"\"ttfts\"",
        b"time_to_first_token",
        b"\"Percentiles\"",
        b"Concurrency\"",
        b"\"Number of concurrency\"",
    ];
    let head = &bytes[..bytes.len().min(1 << 20)];
    NAMES.iter().any(|name| head.windows(name.len()).any(|window| window == *name))
}

/// Levels that belong together.
#[derive(Debug)]
struct Group {
    /// Consecutive levels of the same are one run.
    key: String,
    head: Head,
}

/// A file while it is read.
#[derive(Debug)]
struct Reading<'a> {
    /// The file, without its folder.
    name: &'a str,
    /// It holds several documents.
    several: bool,
    problems: Vec<Problem>,
    groups: Vec<(Group, Vec<Found>)>,
}

impl<'a> Reading<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, several: false, problems: Vec::new(), groups: Vec::new() }
    }

    /// Adds a level, to the run before where it belongs to that.
    fn add(&mut self, group: Group, level: Found) {
        match self.groups.last_mut() {
            Some((last, levels)) if last.key == group.key => levels.push(level),
            _ => self.groups.push((group, vec![level])),
        }
    }

    /// Adds a run as a whole.
    fn add_run(&mut self, head: Head, levels: Vec<Found>) {
        let key = format!("run {}", self.groups.len());
        self.groups.push((Group { key, head }, levels));
    }

    fn finish(mut self) -> Imported {
        let mut runs = Vec::new();
        for (group, mut levels) in self.groups {
            told_apart(&mut levels);
            let head = Head { ordinal: runs.len() + 1, ..group.head };
            runs.push(rebuild::run(head, levels, &mut self.problems));
        }
        Imported { runs, problems: self.problems }
    }
}

/// Levels of the same name get a number.
fn told_apart(levels: &mut [Found]) {
    let names: Vec<String> = levels.iter().map(|level| level.told.label.clone()).collect();
    for (i, level) in levels.iter_mut().enumerate() {
        let before = names[..i].iter().filter(|name| **name == names[i]).count();
        if before > 0 {
            level.told.label = format!("{} ({})", names[i], before + 1);
        }
    }
}
