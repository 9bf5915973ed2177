//! A file, or several of one folder, while they are read: the readers of `tools` add levels and runs
//! here, and [`Reading::finish`] makes summaries of them.

use crate::level::same::Seen;
use crate::level::{RunHead, StatedLevel, rebuild};
use crate::tools::{self, Lifecycle, Records};
use crate::{FileOutcome, ImportOutcome, Imported};
use dyno_form::csv::CsvRow;
use dyno_form::{csv, json, yaml};
use dyno_model::Diagnostic;
use dyno_model::summary::{Origin, Recognised};
use dyno_words::Problem;
use serde_json::Value;

/// Reads a file, if it is one of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    let mut reading = Reading::new(name);
    if reading.documents(bytes) { Some(reading.alone()) } else { reading.other(name, bytes) }
}

/// The most levels of a file or folder. Each takes some 20 KB of memory, and a file can have millions of
/// short lines.
pub(crate) const MOST_LEVELS: usize = 10_000;

/// Levels that belong together.
#[derive(Debug)]
pub(crate) struct Group {
    /// Consecutive levels of the same are one run.
    pub(crate) key: String,
    pub(crate) head: RunHead,
}

impl Group {
    /// Whether a level of the other group belongs to this run. Without a model, levels of two files may be
    /// of two servers.
    fn belongs_with(&self, other: &Self) -> bool {
        let one_file = self.head.origin.file == other.head.origin.file;
        self.key == other.key && (one_file || other.head.model.is_some())
    }
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SoFar {
    grouped: usize,
    exports: usize,
    records: usize,
}

/// A file, or several of one folder, while they are read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The file that is being read: its name, or its path below the folder that is read.
    pub(crate) name: String,
    pub(crate) problems: Vec<Diagnostic>,
    /// The form of the file: `json`, `jsonl`, `yaml`, `csv`, `sqlite`.
    form: &'static str,
    /// How what is being read was recognised.
    recognised: Option<Recognised>,
    /// The tool that wrote it.
    tool: &'static str,
    groups: Vec<(Group, Vec<StatedLevel>)>,
    /// How many levels there are, and whether more were left out.
    levels: usize,
    full: bool,
    /// The results so far, by which those that a tool wrote into several files are read once.
    seen: Seen,
    /// The tool of the last one that was left out for that, and the file in which it was before.
    repeated: Option<(String, String)>,
    /// AIPerf's requests, which are in a separate file.
    pub(crate) records: Records,
    /// AIPerf's summary of them.
    pub(crate) exports: Vec<(RunHead, StatedLevel)>,
    /// Requests in a separate file, without their load; they join the level whose requests they are.
    pub(crate) loose: Vec<(RunHead, StatedLevel)>,
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
            levels: 0,
            full: false,
            seen: Seen::default(),
            repeated: None,
            records: Records::default(),
            exports: Vec::new(),
            loose: Vec::new(),
            lifecycle: Lifecycle::default(),
        }
    }

    /// Of a folder, beside others in which these results were.
    pub(crate) fn beside(name: &str, seen: Seen) -> Self {
        Self { seen, ..Self::new(name) }
    }

    /// The results so far, for the next folder.
    pub(crate) fn take_seen(&mut self) -> Seen {
        std::mem::take(&mut self.seen)
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
        (self.tool, self.recognised, self.repeated) = ("", None, None);
        let mut strange = Vec::new();
        let mut known = false;
        for (line, value) in &found.values {
            known |= self.one_or_more(*line, value, &mut strange);
        }
        let cut_off = found.values.is_empty() && tools::mentioned_in(bytes) && form != "yaml";
        if known || cut_off || found.too_large {
            self.problems.extend(strange);
            self.problems.extend(found.problems);
        }
        known || cut_off || found.too_large
    }

    /// Reads a document, or a list of them as if each were on its own; returns whether any is of a known
    /// kind.
    fn one_or_more(&mut self, line: u64, value: &Value, strange: &mut Vec<Diagnostic>) -> bool {
        if self.document(line, value) {
            return true;
        }
        let unknown = Diagnostic::from(Problem::UnknownJson).at(line);
        let before = strange.len();
        let mut known = false;
        for one in value.as_array().into_iter().flatten() {
            if self.document(line, one) {
                known = true;
            } else {
                strange.push(unknown.clone());
            }
        }
        if !known {
            strange.truncate(before);
            strange.push(unknown);
        }
        known
    }

    /// Reads one document; returns whether it is of a known kind.
    fn document(&mut self, line: u64, value: &Value) -> bool {
        let Some((tool, reader, recognised)) = tools::document(value) else { return false };
        (self.tool, self.recognised) = (tool, Some(recognised));
        (reader.read)(self, line, value);
        true
    }

    /// Reads a file that is not a document, beside those that were read so far.
    pub(crate) fn other(&mut self, name: &str, bytes: &[u8]) -> Option<Imported> {
        if let Some(imported) = tools::database(name, bytes) {
            return Some(imported);
        }
        let mut reading = Self::beside(name, self.take_seen());
        if let Some((tool, instead)) = tools::refused(bytes) {
            self.seen = reading.take_seen();
            reading.tool = tool;
            reading.problems.push(instead);
            return Some(reading.alone());
        }
        let known = reading.sheet(bytes);
        self.seen = reading.take_seen();
        known.then(|| reading.alone())
    }

    /// Reads comma-separated values; returns whether they are of a known kind. If not, nothing changes.
    pub(crate) fn sheet(&mut self, bytes: &[u8]) -> bool {
        // In a page, a block of CSV is one of several things.
        if bytes.windows(4).any(|four| four == b"\n```") {
            return false;
        }
        let mut rows: Vec<CsvRow> = csv::rows(bytes);
        let Some((tool, reader, recognised)) = tools::sheet(&rows) else { return false };
        self.form = "csv";
        (self.tool, self.recognised) = (tool, Some(recognised));
        // Below the heading, a row is a level.
        if let Some(row) = rows.get(MOST_LEVELS + 1) {
            self.problems.push(Problem::TooManyLevels.with([MOST_LEVELS]).at(row.line));
            rows.truncate(MOST_LEVELS + 1);
        }
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

    /// Adds a level, to the previous run where it belongs to that. What another file contains, too, is
    /// left out.
    pub(crate) fn add(&mut self, group: Group, level: StatedLevel) {
        if !self.says_something(&level) || !self.has_room() {
            return;
        }
        let tool = &group.head.origin.tool;
        match self.seen.elsewhere(tool, &self.name, &level.stated) {
            Some(file) => self.repeated = Some((tool.clone(), file)),
            None => self.push(group, level),
        }
    }

    fn push(&mut self, group: Group, mut level: StatedLevel) {
        match self.groups.last_mut() {
            Some((last, levels)) if last.belongs_with(&group) => {
                let (own, file) = (&last.head.origin.file, &group.head.origin.file);
                if let Some(reported) = level.stated.reported.as_mut().filter(|_| own != file) {
                    reported.file = Some(file.clone());
                }
                levels.push(level);
            }
            _ => self.groups.push((group, vec![level])),
        }
    }

    /// Whether there is room for another level; if not, a problem says so once.
    fn has_room(&mut self) -> bool {
        let room = self.levels < MOST_LEVELS;
        self.levels += usize::from(room);
        if !room && !std::mem::replace(&mut self.full, true) {
            self.problems.push(Problem::TooManyLevels.with([MOST_LEVELS]));
        }
        room
    }

    /// Whether a level has any result; if not, a problem says so.
    fn says_something(&mut self, level: &StatedLevel) -> bool {
        let some = level.says_something();
        if !some {
            let line = level.stated.reported.as_ref().and_then(|reported| reported.line);
            self.problems.push(Problem::Empty.with([self.form, self.tool]).at(line));
        }
        some
    }

    /// Adds a run as a whole.
    pub(crate) fn add_run(&mut self, head: RunHead, mut levels: Vec<StatedLevel>) {
        levels.retain(|level| self.says_something(level) && self.has_room());
        if levels.is_empty() {
            return;
        }
        let key = format!("run {}", self.groups.len());
        self.groups.push((Group { key, head }, levels));
    }

    /// What there is so far.
    pub(crate) fn so_far(&self) -> SoFar {
        SoFar {
            grouped: self.groups.iter().map(|(_, levels)| levels.len()).sum(),
            exports: self.exports.len(),
            records: usize::from(!self.records.is_empty())
                + self.loose.len()
                + self.lifecycle.levels(),
        }
    }

    /// What became of a file before which there was that much.
    pub(crate) fn outcome(&self, before: SoFar) -> ImportOutcome {
        let now = self.so_far();
        let grouped = self.groups.last().filter(|_| now.grouped > before.grouped);
        let exported = self.exports.last().filter(|_| now.exports > before.exports);
        let head = grouped.map(|(group, _)| &group.head).or(exported.map(|(head, _)| head));
        let tool = head.map_or(self.tool, |head| &head.origin.tool).to_owned();
        let records = now.records - before.records;
        match now.grouped - before.grouped + now.exports - before.exports + records {
            0 => match &self.repeated {
                Some((tool, of)) => ImportOutcome::Copy { tool: tool.clone(), of: of.clone() },
                None => ImportOutcome::Empty { tool },
            },
            levels => {
                let sure = self.recognised.as_ref().map(|recognised| recognised.sure);
                ImportOutcome::Read { tool, sure, levels }
            }
        }
    }

    /// Finishes the only file. If nothing was read, the problems say so.
    pub(crate) fn alone(self) -> Imported {
        let (form, tool) = (self.form, self.tool);
        let file = FileOutcome { file: self.name.clone(), outcome: self.outcome(SoFar::default()) };
        let mut imported = Imported { files: vec![file], ..self.finish() };
        if imported.runs.is_empty() && imported.problems.is_empty() {
            imported.problems.push(Problem::Empty.with([form, tool]));
        }
        imported
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
            self.push(Group { key, head }, export);
        }
        for (head, requests) in std::mem::take(&mut self.loose) {
            let groups = self.groups.iter_mut();
            let same_tool = groups.filter(|(group, _)| group.head.origin.tool == head.origin.tool);
            let mut levels = same_tool.flat_map(|(_, levels)| levels);
            match levels.find(|level| level.has(&requests)) {
                Some(level) => level.samples = requests.samples,
                None => self.add_run(head, vec![requests]),
            }
        }
        let lifecycle = std::mem::take(&mut self.lifecycle).finish(&mut self.problems);
        let mut files = Vec::new();
        for run in lifecycle {
            let copy = |of| ImportOutcome::Copy { tool: Lifecycle::TOOL.to_owned(), of };
            let covered = run.covered.into_iter();
            files.extend(covered.map(|(file, of)| FileOutcome { file, outcome: copy(of) }));
            self.add_run(run.head, run.levels);
        }
        let mut runs = Vec::new();
        for (group, mut levels) in self.groups {
            number_duplicates(&mut levels);
            let head = RunHead { ordinal: runs.len() + 1, ..group.head };
            runs.push(rebuild::run(head, levels, &mut self.problems));
        }
        Imported { runs, problems: self.problems, files }
    }
}

/// Levels of the same name get a number.
fn number_duplicates(levels: &mut [StatedLevel]) {
    let names: Vec<String> = levels.iter().map(|level| level.stated.label.clone()).collect();
    for (i, level) in levels.iter_mut().enumerate() {
        let before = names[..i].iter().filter(|name| **name == names[i]).count();
        if before > 0 {
            level.stated.label = format!("{} ({})", names[i], before + 1);
        }
    }
}
