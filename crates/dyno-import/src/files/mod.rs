//! Results that tools save: JSON, JSON lines, CSV, SQLite, and directories of them. This file recognises
//! the kind of a file and combines what was read; each kind has its own reader.

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
mod stated;

use crate::Imported;
pub(crate) use directory::import as import_directory;
use dyno_model::Diagnostic;
use dyno_words::Problem;
use rebuild::Head;
use serde_json::Value;
pub(crate) use sqlite::with_log;
use stated::Found;

/// A reader of JSON documents: whether it recognises one, and its contents, with the line that it is on.
type Document = (fn(&Value) -> bool, fn(&mut Reading, u64, &Value));

/// What a tool saves. A database is EvalScope's.
#[derive(Debug)]
struct Tool {
    /// As shown in messages.
    kind: &'static str,
    documents: &'static [Document],
    /// Readers of CSV: whether they recognise a file.
    tables: &'static [fn(&mut Reading, &[u8]) -> bool],
    /// Names by which truncated JSON is recognised as a result.
    signs: &'static [&'static str],
}

const NOTHING: Tool = Tool { kind: "", documents: &[], tables: &[], signs: &[] };

/// The first that recognises a document reads it.
const TOOLS: [Tool; 6] = [
    Tool {
        kind: "guidellm reports (JSON)",
        documents: &[
            (guidellm::is_report, guidellm::read),
            (guidellm_first::is_report, guidellm_first::read),
        ],
        signs: &["\"benchmarks\""],
        ..NOTHING
    },
    Tool {
        kind: "results of vLLM's `bench serve` (JSON)",
        documents: &[(serving::is_result, serving::read)],
        signs: &["_ttft_ms\"", "\"ttfts\""],
        ..NOTHING
    },
    // The reader of vLLM's tells them apart.
    Tool { kind: "results of SGLang's `bench_serving` (JSON lines)", ..NOTHING },
    Tool {
        kind: "EvalScope perf results (JSON, SQLite, or the folder of a run)",
        documents: &[
            (evalscope::is_summary, evalscope::read),
            (evalscope::is_percentiles, evalscope::read),
        ],
        signs: &["\"Percentiles\"", "Concurrency\"", "\"Number of concurrency\""],
        ..NOTHING
    },
    Tool {
        kind: "AIPerf and GenAI-Perf exports (JSON, JSON lines, CSV)",
        documents: &[
            (aiperf_records::is_record, aiperf_records::read),
            (aiperf::is_export, aiperf::read),
        ],
        tables: &[aiperf_csv::read],
        signs: &["time_to_first_token"],
    },
    Tool { kind: "LMDeploy profiles (CSV)", tables: &[lmdeploy::read], ..NOTHING },
];

/// What is read here, as shown in messages.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.kind)
}

/// Reads a file, if it is one of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    if sqlite::is_database(bytes) {
        return Some(evalscope_database::import(name, bytes));
    }
    if json::looks_like_json(bytes) {
        return documents(name, bytes);
    }
    let mut reading = Reading::new(name);
    let known = TOOLS.iter().flat_map(|tool| tool.tables).any(|read| read(&mut reading, bytes));
    known.then(|| reading.finish())
}

/// Reads JSON, if any document in it is of a known kind.
fn documents(name: &str, bytes: &[u8]) -> Option<Imported> {
    let mut reading = Reading::new(name);
    let known = reading.documents(bytes);
    known.then(|| reading.finish())
}

/// Reads one document; returns whether it is of a known kind.
fn document(reading: &mut Reading, line: u64, value: &Value) -> bool {
    let mut readers = TOOLS.iter().flat_map(|tool| tool.documents);
    let Some((_, read)) = readers.find(|(is_own, _)| is_own(value)) else { return false };
    read(reading, line, value);
    true
}

/// Whether JSON that cannot be read was probably a result.
fn mentions_a_tool(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 20)];
    let mut signs = TOOLS.iter().flat_map(|tool| tool.signs);
    signs.any(|sign| head.windows(sign.len()).any(|window| window == sign.as_bytes()))
}

/// Levels that belong together.
#[derive(Debug)]
struct Group {
    /// Consecutive levels of the same are one run.
    key: String,
    head: Head,
}

/// A file, or several of one directory, while they are read.
#[derive(Debug)]
struct Reading {
    /// The file, without its directory.
    name: String,
    /// Whether it contains several documents.
    several: bool,
    problems: Vec<Diagnostic>,
    groups: Vec<(Group, Vec<Found>)>,
    /// AIPerf's requests, which are in a separate file.
    records: aiperf_records::Records,
    /// AIPerf's summary of them.
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

    /// Reads the documents of a file; returns whether it is of a known kind. If not, nothing changes.
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

    /// Adds a level, to the previous run where it belongs to that.
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
            // They belong together: the requests of one run, and their summary.
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
            number_duplicates(&mut levels);
            let head = Head { ordinal: runs.len() + 1, ..group.head };
            runs.push(rebuild::run(head, levels, &mut self.problems));
        }
        Imported { runs, problems: self.problems }
    }
}

/// Levels of the same name get a number.
fn number_duplicates(levels: &mut [Found]) {
    let names: Vec<String> = levels.iter().map(|level| level.stated.label.clone()).collect();
    for (i, level) in levels.iter_mut().enumerate() {
        let before = names[..i].iter().filter(|name| **name == names[i]).count();
        if before > 0 {
            level.stated.label = format!("{} ({})", names[i], before + 1);
        }
    }
}
