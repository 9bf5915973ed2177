//! The report that `trtllm-bench` prints: sections of names and values between rules. Up to 0.16 the
//! sections with results have other titles, and `Total Token Throughput` is of output tokens.

use super::fill;
use crate::level::blank;
use crate::text::part::{TextPart, report, whole};
use crate::text::quantity::{Cell, Measure, cell, name};
use dyno_form::lines::TextLine;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::Problem;
use std::collections::BTreeMap;

const PERFORMANCE: &str = "PERFORMANCE OVERVIEW";
const DATA: &str = "DATASET DETAILS";
/// The sections with which a report begins, after it was cut from a log or a page. The one on the data
/// is also printed by itself, before the test.
const FIRST: [&str; 5] = [
    "ENGINE DETAILS",
    "PYTORCH BACKEND",
    "REQUEST DETAILS",
    "WORLD + RUNTIME INFORMATION",
    PERFORMANCE,
];

/// Sections with results; those of the first versions are too general to recognise a report by.
const RESULTS: [&str; 6] = [
    PERFORMANCE,
    "STATISTICS",
    "STREAMING STATISTICS",
    "GENERAL OVERVIEW",
    "THROUGHPUT OVERVIEW",
    "LATENCY OVERVIEW",
];

/// The names of printed values in the saved report.
const NAMES: [(&str, &str); 13] = [
    ("number of requests", "num_requests"),
    ("average input length", "avg_input_length"),
    ("average output length", "avg_output_length"),
    ("request throughput", "request_throughput_req_s"),
    ("total output throughput", OUTPUT),
    ("token throughput", OUTPUT),
    ("total token throughput", TOTAL),
    ("total latency", "total_latency_ms"),
    ("average request latency", "avg_request_latency_ms"),
    ("average time-to-first-token [ttft]", "avg_ttft_ms"),
    ("average time-to-first-token", "avg_ttft_ms"),
    ("average time-per-output-token [tpot]", "avg_tpot_ms"),
    ("average inter-token latency", "avg_tpot_ms"),
];
const TOTAL: &str = "system_total_throughput_tok_s";
const OUTPUT: &str = "system_output_throughput_tok_s";

/// Reads the report that starts with the first of these lines; returns how many lines it takes.
pub(super) fn read(lines: &[TextLine], _: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first()?;
    title(&first.text).filter(|title| FIRST.contains(title))?;
    let mut reader = Reader::new(first.number);
    let mut taken = 0;
    for line in lines.iter().take_while(|line| line.kind == first.kind) {
        if !reader.line(line) {
            break;
        }
        taken += 1;
    }
    // Other sections alone are settings that someone quotes.
    let whole = title(&first.text).is_some_and(|title| FIRST[..2].contains(&title));
    (reader.measured || whole).then(|| (reader.finish(), taken.max(1)))
}

/// `= PERFORMANCE OVERVIEW`.
fn title(text: &str) -> Option<&str> {
    let title = text.strip_prefix("= ")?.trim();
    let shouted = !title.is_empty() && !title.chars().any(|c| c.is_ascii_lowercase());
    // A section on speculation names its method: `DECODING STATISTICS (Eagle)`.
    (shouted || title.starts_with("DECODING")).then_some(title)
}

struct Reader {
    part: TextPart,
    section: String,
    /// Values by the names of the saved report.
    values: BTreeMap<&'static str, f64>,
    /// Percentiles, by the group and the statistic: `latency p99`.
    stats: BTreeMap<String, f64>,
    /// The shortest and the longest input and output of the data.
    lengths: [[Option<f64>; 2]; 2],
    level: dyno_model::LevelSummary,
    /// There was a section on performance.
    measured: bool,
    done: bool,
}

impl Reader {
    fn new(line: u64) -> Self {
        Self {
            part: TextPart::new("trtllm-bench", "block", line, Recognised::certain([PERFORMANCE])),
            section: String::new(),
            values: BTreeMap::new(),
            stats: BTreeMap::new(),
            lengths: [[None; 2]; 2],
            level: blank::level("", blank::load(LoadKind::Unknown, None)),
            measured: false,
            done: false,
        }
    }

    /// Takes a line; false where it is not part of the report.
    fn line(&mut self, line: &TextLine) -> bool {
        let text = line.text.as_str();
        if let Some(title) = title(text) {
            let next = self.measured && (FIRST[..2].contains(&title) || title == PERFORMANCE);
            self.section = title.to_owned();
            self.measured |= RESULTS.contains(&title);
            return !next;
        }
        let rule = text.starts_with("===") || text.starts_with("--");
        if rule && self.section == DATA && self.lengths != [[None; 2]; 2] {
            self.done = true;
        }
        if rule || text.is_empty() {
            return true;
        }
        if self.done {
            return false;
        }
        self.row(line.number, text) || ["MACHINE DETAILS", DATA].contains(&self.section.as_str())
    }

    fn row(&mut self, line: u64, text: &str) -> bool {
        let Some((label, value)) = text.split_once(':') else { return false };
        let value = value.trim();
        // A line of a log begins with its time.
        let timed = label.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit());
        if timed || label.len() > 80 {
            return false;
        }
        if self.section == DATA {
            self.data(label, value);
            return true;
        }
        let (key, unit) = name(label);
        match key.as_str() {
            "model" => self.part.model = Some(value.to_owned()).filter(|model| !model.is_empty()),
            "tensorrt-llm version" | "tensorrt llm version" => {
                self.part.version = Some(value.to_owned());
            }
            _ => {}
        }
        let Cell::Number(number) = cell(value) else { return true };
        if let Some((_, known)) = NAMES.iter().find(|(printed, _)| *printed == key) {
            let millis = Measure::Millis.of(number, unit).filter(|_| known.ends_with("_ms"));
            self.values.insert(known, millis.unwrap_or(number.value));
        }
        if let Some((group, stat)) = label.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let stat = format!("{} {}", group.trim(), stat.trim()).to_lowercase();
            self.stats.insert(stat, number.value);
        }
        report(&mut self.level, line, label, number);
        true
    }

    /// `MIN:   128.0000           256.0000           384.0000`.
    fn data(&mut self, label: &str, value: &str) {
        let Some(at) = ["MIN", "MAX"].iter().position(|stat| *stat == label.trim()) else { return };
        let numbers = value.split_whitespace().map(|number| number.parse().ok());
        for (length, number) in self.lengths.iter_mut().zip(numbers) {
            length[at] = number;
        }
    }

    fn finish(mut self) -> TextPart {
        if !self.values.contains_key(OUTPUT) {
            let output = self.values.remove(TOTAL);
            self.values.extend(output.map(|output| (OUTPUT, output)));
        }
        let (values, stats) = (&self.values, &self.stats);
        fill(&mut self.level, &|name| values.get(name).copied(), &|group, stat| {
            stats.get(&format!("{group} {stat}")).copied()
        });
        let length = |[shortest, longest]: [Option<f64>; 2]| {
            let length = shortest.filter(|_| shortest == longest)?;
            u32::try_from(whole(length)?).ok().filter(|length| *length > 0)
        };
        [self.level.input_length, self.level.output_length] = self.lengths.map(length);
        self.part.label.clone_from(&self.part.model);
        if self.measured && !self.values.is_empty() {
            if self.level.load.kind == LoadKind::Unknown {
                let unstated = Problem::LoadNotStated.with(["trtllm-bench"]);
                self.part.findings.push(unstated.at(self.part.line));
            }
            self.part.levels.push((self.level, LevelExtras::default()));
        }
        self.part
    }
}
