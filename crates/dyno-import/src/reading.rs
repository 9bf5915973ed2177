//! A file, or several of one folder, while they are read: the readers of `tools` add levels and runs
//! here, and [`Reading::finish`] makes summaries of them.

use crate::form::csv::Row;
use crate::form::{csv, json, yaml};
use crate::level::{Found, Head, rebuild};
use crate::tools::{self, Lifecycle, Records};
use crate::{FileOutcome, Imported, Outcome};
use dyno_model::Diagnostic;
use dyno_model::summary::{Origin, Recognised};
use dyno_words::Problem;
use serde_json::Value;

/// Reads a file, if it is one of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    let mut reading = Reading::new(name);
    if reading.documents(bytes) { Some(reading.alone()) } else { recognise_other(name, bytes) }
}

/// Reads a file that is not a document, if it is one of a known kind.
pub(crate) fn recognise_other(name: &str, bytes: &[u8]) -> Option<Imported> {
    if let Some(imported) = tools::database(name, bytes) {
        return Some(imported);
    }
    let mut reading = Reading::new(name);
    if let Some((tool, instead)) = tools::refused(bytes) {
        reading.tool = tool;
        reading.problems.push(instead);
        return Some(reading.alone());
    }
    reading.sheet(bytes).then(|| reading.alone())
}

/// Levels that belong together.
#[derive(Debug)]
pub(crate) struct Group {
    /// Consecutive levels of the same are one run.
    pub(crate) key: String,
    pub(crate) head: Head,
}

/// A file, or several of one folder, while they are read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The file that is being read, without its folder.
    pub(crate) name: String,
    pub(crate) problems: Vec<Diagnostic>,
    /// The form of the file: `json`, `jsonl`, `yaml`, `csv`, `sqlite`.
    form: &'static str,
    /// How what is being read was recognised.
    recognised: Option<Recognised>,
    /// The tool that wrote it.
    tool: &'static str,
    groups: Vec<(Group, Vec<Found>)>,
    /// AIPerf's requests, which are in a separate file.
    pub(crate) records: Records,
    /// AIPerf's summary of them.
    pub(crate) exports: Vec<(Head, Found)>,
    /// The files of inference-perf's runs.
    pub(crate) lifecycle: Lifecycle,
}

impl Reading {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            problems: Vec::new(),
            form: "json",
            recognised: None,
            tool: "",
            groups: Vec::new(),
            records: Records::default(),
            exports: Vec::new(),
            lifecycle: Lifecycle::default(),
        }
    }

    /// Of a form that is recognised elsewhere.
    pub(crate) fn of_form(name: &str, form: &'static str, recognised: Recognised) -> Self {
        Self { form, recognised: Some(recognised), ..Self::new(name) }
    }

    /// Reads the documents of a file; returns whether it is of a known kind. If not, nothing changes.
    pub(crate) fn documents(&mut self, bytes: &[u8]) -> bool {
        let (found, form) = if json::looks_like_json(bytes) {
            let found = json::documents(bytes);
            let form = if found.values.len() > 1 { "jsonl" } else { "json" };
            (found, form)
        } else if yaml::looks_like_yaml(bytes) {
            (yaml::documents(bytes), "yaml")
        } else {
            return false;
        };
        self.form = form;
        let mut strange = Vec::new();
        let mut known = false;
        for (line, value) in &found.values {
            if self.document(*line, value) {
                known = true;
            } else {
                strange.push(Diagnostic::from(Problem::UnknownJson).at(*line));
            }
        }
        let cut_off = found.values.is_empty() && tools::mentioned_in(bytes) && form != "yaml";
        if known || cut_off {
            self.problems.extend(strange);
            self.problems.extend(found.problems);
        }
        known || cut_off
    }

    /// Reads one document; returns whether it is of a known kind.
    fn document(&mut self, line: u64, value: &Value) -> bool {
        let Some((tool, reader, recognised)) = tools::document(value) else { return false };
        (self.tool, self.recognised) = (tool, Some(recognised));
        (reader.read)(self, line, value);
        true
    }

    /// Reads comma-separated values; returns whether they are of a known kind. If not, nothing changes.
    pub(crate) fn sheet(&mut self, bytes: &[u8]) -> bool {
        let rows: Vec<Row> = csv::rows(bytes);
        let Some((tool, reader, recognised)) = tools::sheet(&rows) else { return false };
        self.form = "csv";
        (self.tool, self.recognised) = (tool, Some(recognised));
        (reader.read)(self, &rows);
        true
    }

    /// The form of the file that is being read.
    pub(crate) fn form(&self) -> &'static str {
        self.form
    }

    /// The origin of what is being read.
    pub(crate) fn origin(&self, tool: &str, line: impl Into<Option<u64>>) -> Origin {
        Origin {
            tool: tool.to_owned(),
            form: self.form.to_owned(),
            version: None,
            file: self.name.clone(),
            line: line.into(),
            headings: Vec::new(),
            recognised: self.recognised.clone(),
        }
    }

    /// Adds a level, to the previous run where it belongs to that.
    pub(crate) fn add(&mut self, group: Group, level: Found) {
        match self.groups.last_mut() {
            Some((last, levels)) if last.key == group.key => levels.push(level),
            _ => self.groups.push((group, vec![level])),
        }
    }

    /// Adds a run as a whole.
    pub(crate) fn add_run(&mut self, head: Head, levels: Vec<Found>) {
        let key = format!("run {}", self.groups.len());
        self.groups.push((Group { key, head }, levels));
    }

    /// How many levels there are so far.
    pub(crate) fn levels(&self) -> usize {
        let grouped: usize = self.groups.iter().map(|(_, levels)| levels.len()).sum();
        let separate = self.exports.len() + self.lifecycle.levels();
        grouped + separate + usize::from(!self.records.is_empty())
    }

    /// What became of a file before which there were that many levels.
    pub(crate) fn outcome(&self, before: usize) -> Outcome {
        let last = self.groups.last().map(|(group, _)| &group.head);
        let of_another = self.tool == Lifecycle::TOOL;
        let head = self.exports.last().map(|(head, _)| head).or(last).filter(|_| !of_another);
        let tool = head.map_or(self.tool, |head| &head.origin.tool).to_owned();
        match self.levels() - before {
            0 => Outcome::Empty { tool: self.tool.to_owned() },
            levels => {
                let sure = self.recognised.as_ref().map(|recognised| recognised.sure);
                Outcome::Read { tool, sure, levels }
            }
        }
    }

    /// Finishes the only file.
    pub(crate) fn alone(self) -> Imported {
        let file = FileOutcome { file: self.name.clone(), outcome: self.outcome(0) };
        Imported { files: vec![file], ..self.finish() }
    }

    /// Makes runs of what was read. The files are those whose results are also in others.
    pub(crate) fn finish(mut self) -> Imported {
        let records = std::mem::take(&mut self.records).finish(&mut self.problems);
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
        let lifecycle = std::mem::take(&mut self.lifecycle).finish(&mut self.problems);
        let mut files = Vec::new();
        for run in lifecycle {
            let copy = |of| Outcome::Copy { tool: Lifecycle::TOOL.to_owned(), of };
            let covered = run.covered.into_iter();
            files.extend(covered.map(|(file, of)| FileOutcome { file, outcome: copy(of) }));
            self.add_run(run.head, run.levels);
        }
        let mut runs = Vec::new();
        for (group, mut levels) in self.groups {
            number_duplicates(&mut levels);
            let head = Head { ordinal: runs.len() + 1, ..group.head };
            runs.push(rebuild::run(head, levels, &mut self.problems));
        }
        Imported { runs, problems: self.problems, files }
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
