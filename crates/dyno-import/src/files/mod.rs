//! Results that tools save: JSON, JSON lines, CSV, SQLite, and folders of them. Here a file's kind is
//! found, and what was read of it is put together; each kind has a reader of its own.

mod aiperf;
mod aiperf_csv;
mod aiperf_records;
mod csv;
mod directory;
mod evalscope;
mod evalscope_database;
mod frames;
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

use crate::Imported;
pub(crate) use directory::import as import_directory;
use dyno_model::Diagnostic;
use dyno_words::Problem;
use rebuild::Head;
use serde_json::Value;
pub(crate) use sqlite::with_log;
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
    let mut reading = Reading::new(name);
    let known = reading.documents(bytes);
    known.then(|| reading.finish())
}

/// Reads one document; whether it is of a known kind.
fn document(reading: &mut Reading, line: u64, value: &Value) -> bool {
    if guidellm::is_report(value) {
        guidellm::read(reading, line, value);
    } else if guidellm_first::is_report(value) {
        guidellm_first::read(reading, line, value);
    } else if serving::is_result(value) {
        serving::read(reading, line, value);
    } else if aiperf_records::is_record(value) {
        reading.records.add(line, value, &mut reading.problems);
    } else if aiperf::is_export(value) {
        let export = aiperf::read(reading, line, value);
        reading.exports.push(export);
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

/// A file, or several of one folder, while they are read.
#[derive(Debug)]
struct Reading {
    /// The file, without its folder.
    name: String,
    /// It holds several documents.
    several: bool,
    problems: Vec<Diagnostic>,
    groups: Vec<(Group, Vec<Found>)>,
    /// Requests of AIPerf's, which stand in a file of their own.
    records: aiperf_records::Records,
    /// What AIPerf says of them as a whole.
    exports: Vec<(Head, Found)>,
}

impl Reading {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            several: false,
            problems: Vec::new(),
            groups: Vec::new(),
            records: aiperf_records::Records::default(),
            exports: Vec::new(),
        }
    }

    /// Reads the documents of a file; whether it is of a known kind. If not, nothing is changed.
    fn documents(&mut self, bytes: &[u8]) -> bool {
        let found = json::documents(bytes);
        self.several = found.values.len() > 1;
        let mut strange = Vec::new();
        let mut known = false;
        for (line, value) in &found.values {
            if document(self, *line, value) {
                known = true;
            } else {
                strange.push(Diagnostic::from(Problem::UnknownJson).at(*line));
            }
        }
        let cut_off = found.values.is_empty() && mentions_a_tool(bytes);
        if known || cut_off {
            self.problems.extend(strange);
            self.problems.extend(found.problems);
        }
        known || cut_off
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
        let records = std::mem::take(&mut self.records).finish(&self.name, &mut self.problems);
        let mut exports = std::mem::take(&mut self.exports);
        match (exports.as_mut_slice(), records) {
            // One is of the other: the requests of one run, and what is said of them.
            ([(_, export)], Some((_, requests))) => export.samples = requests.samples,
            (_, Some((head, requests))) => self.add_run(head, vec![requests]),
            (_, None) => {}
        }
        for (head, export) in exports {
            let key = format!("{} {:?}", head.origin.tool, head.model);
            self.add(Group { key, head }, export);
        }
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
