//! The block that the serving benchmarks of vLLM (0.4 to today) and SGLang print: names and values
//! between two rules.

use super::lines::Line;
use super::part::{Finding, Part, Stated, label, put, report, short};
use super::quantity::{Cell, Measure, cell, name, neat, quantity};
use crate::blank;
use dyno_report::LevelSummary;
use dyno_report::layout::{Burstiness, LevelExtras};
use dyno_report::summary::{Distribution, SloSummary, SloVerdict, Tokens};

const TITLE: &str = "Serving Benchmark Result";

/// Rows by which a block without its first line is known.
const FIRST_ROWS: [&str; 3] = ["successful requests", "backend", "benchmark duration"];

/// Reads the block that begins with the first of these lines, and how many lines it takes.
/// `before` are the lines that the tool may have printed ahead of it.
pub(super) fn read(lines: &[Line], before: &[String]) -> Option<(Part, usize)> {
    let first = lines.first()?;
    let titled = is_title(&first.text);
    if !titled && !begins_bare(lines) {
        return None;
    }
    let mut reader = Reader::new(first.number);
    before.iter().for_each(|text| reader.ahead(text));
    let mut taken = usize::from(titled);
    let mut closed = false;
    let mut gap = false;
    while let Some(line) = lines.get(taken).filter(|line| line.kind == first.kind) {
        let text = line.text.as_str();
        // After an empty line, what is not known may belong to what follows.
        let strange = gap && !is_rule(text) && !is_known(&key(line).unwrap_or_default());
        let mut row = || reader.row(line.number, text);
        if is_title(text) || (!text.is_empty() && (strange || !(is_rule(text) || row()))) {
            break;
        }
        gap = text.is_empty();
        taken += 1;
        closed = !text.is_empty() && text.chars().all(|c| c == '=');
        if closed {
            break;
        }
    }
    Some((reader.finish(titled, closed), taken))
}

fn is_title(text: &str) -> bool {
    text.starts_with('=') && text.ends_with('=') && text.trim_matches('=').trim() == TITLE
}

/// A line between the parts of a block, with or without a heading in it.
fn is_rule(text: &str) -> bool {
    ["---", "==="].iter().any(|rule| text.starts_with(rule) && text.ends_with(rule))
}

/// Rows that have lost the line above them.
fn begins_bare(lines: &[Line]) -> bool {
    let first = lines.first().and_then(key);
    first.is_some_and(|key| FIRST_ROWS.contains(&key.as_str()))
        && lines.iter().take(4).filter_map(key).filter(|key| is_known(key)).count() >= 3
}

/// The name in a row, as it is compared.
fn key(line: &Line) -> Option<String> {
    line.text.split_once([':', '：']).map(|(key, _)| name(key).0)
}

fn is_known(key: &str) -> bool {
    let statistic = key.split_once(' ').is_some_and(|(_, figure)| {
        ["ttft", "tpot", "itl", "e2el", "e2e latency"].contains(&figure)
    });
    statistic
        || FIRST_ROWS.contains(&key)
        || key.contains("request concurrency")
        || key.contains("request rate")
        || ["failed requests", "total input tokens", "total generated tokens"].contains(&key)
        || key.ends_with("token throughput")
        || key == "request throughput"
}

/// How often requests were sent, as far as it is told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rate {
    Untold,
    Unlimited,
    Fixed(f64),
}

struct Reader {
    line: u64,
    level: LevelSummary,
    extras: LevelExtras,
    findings: Vec<Finding>,
    rate: Rate,
    slots: Option<f64>,
    totals: [Option<u64>; 2],
    goodput: Option<f64>,
    backend: Option<String>,
}

impl Reader {
    fn new(line: u64) -> Self {
        Self {
            line,
            level: blank::level("", blank::load("unknown", None)),
            extras: LevelExtras::default(),
            findings: Vec::new(),
            rate: Rate::Untold,
            slots: None,
            totals: [None, None],
            goodput: None,
            backend: None,
        }
    }

    /// A line that the tool prints before it begins to measure.
    fn ahead(&mut self, text: &str) {
        let Some((key, value)) = text.split_once(':') else { return };
        let value = value.trim();
        match key.trim().to_lowercase().as_str() {
            "traffic request rate" | "maximum request concurrency" => {
                self.load(Stated { line: self.line, name: key, value });
            }
            "burstiness factor" => {
                let shape = quantity(value).filter(|shape| shape.value > 0.0);
                self.extras.burstiness = shape.map(|shape| Burstiness::Shape(shape.value));
            }
            _ => {}
        }
    }

    /// Rate or slots; both may be said not to be limited.
    fn load(&mut self, stated: Stated<'_>) {
        let value = stated.value.trim();
        let number = match cell(value) {
            Cell::Number(number) => Some(number.value),
            Cell::Absent => return,
            Cell::Other if ["inf", "infinity"].contains(&value.to_lowercase().as_str()) => None,
            Cell::Other => {
                // `trace`, a ramp: a load that is told in words.
                return;
            }
        };
        let (key, _) = name(stated.name);
        match number {
            Some(number) if key.contains("concurrency") => self.slots = Some(number),
            Some(number) => self.rate = Rate::Fixed(number),
            None if key.contains("rate") => self.rate = Rate::Unlimited,
            None => {}
        }
    }

    /// A row; false where the line is not one.
    fn row(&mut self, line: u64, text: &str) -> bool {
        let Some((label, value)) = text.split_once([':', '：']) else { return false };
        let stated = Stated { line, name: label, value: value.trim() };
        let (key, _) = name(label);
        if key.is_empty() || key.len() > 60 {
            return false;
        }
        if key == "backend" {
            self.backend = Some(stated.value.to_owned());
            return true;
        }
        if key.contains("request rate") || key.starts_with("max") && key.contains("concurrency") {
            self.load(stated);
        } else if !self.figure(&key, stated) && !matches!(cell(value), Cell::Number(_)) {
            // A row of another kind of value belongs to the block; prose does not.
            return value.trim().is_empty() || value.split_whitespace().count() <= 2;
        }
        if let Cell::Number(number) = cell(value) {
            report(&mut self.level, line, label, number.value);
        }
        true
    }

    /// Puts a figure in its place; false where it has none.
    fn figure(&mut self, key: &str, stated: Stated<'_>) -> bool {
        let (level, findings) = (&mut self.level, &mut self.findings);
        let per_second = |measure| (Some(measure), 1.0);
        let (place, (measure, size)) = match key {
            "successful requests" => {
                level.requests.completed = stated.count(findings);
                return true;
            }
            "failed requests" => {
                level.requests.failed = stated.count(findings);
                return true;
            }
            "total input tokens" => {
                self.totals[0] = stated.count(findings);
                return true;
            }
            "total generated tokens" => {
                self.totals[1] = stated.count(findings);
                return true;
            }
            "peak concurrent requests" => {
                self.extras.peak_requests = stated.count(findings);
                return true;
            }
            "peak output token throughput" => {
                let peak = stated.figure(Measure::TokenRate, findings);
                self.extras.peak_output_per_s = peak.and_then(super::part::whole);
                return true;
            }
            "benchmark duration" => (&mut level.duration_s, (Some(Measure::Seconds), 1e3)),
            "request throughput" => {
                (&mut level.throughput.requests_per_s, per_second(Measure::RequestRate))
            }
            "request goodput" => (&mut self.goodput, per_second(Measure::RequestRate)),
            "output token throughput" => {
                (&mut level.throughput.output_tokens_per_s, per_second(Measure::TokenRate))
            }
            "total token throughput" => {
                (&mut level.throughput.total_tokens_per_s, per_second(Measure::TokenRate))
            }
            _ => return self.statistic(key, stated),
        };
        if let Some(measure) = measure {
            *place = stated.figure(measure, findings).map(|figure| neat(figure / size));
        }
        true
    }

    /// `Mean TTFT`, `P99 E2E Latency`, ...
    fn statistic(&mut self, key: &str, stated: Stated<'_>) -> bool {
        let Some((statistic, figure)) = key.split_once(' ') else { return false };
        let place: &mut Option<Distribution> = match figure {
            "ttft" => &mut self.level.ttft_ms,
            "tpot" => &mut self.level.tpot_ms,
            "itl" => &mut self.level.chunk_gap_ms,
            "e2el" | "e2e latency" => &mut self.level.latency_ms,
            _ => return false,
        };
        if let Some(millis) = stated.figure(Measure::Millis, &mut self.findings) {
            put(place, statistic, millis);
        }
        true
    }

    fn finish(mut self, titled: bool, closed: bool) -> Part {
        self.settle_load();
        let level = &mut self.level;
        let completed = level.requests.completed;
        if completed == Some(0) {
            let times = [
                &mut level.ttft_ms,
                &mut level.tpot_ms,
                &mut level.chunk_gap_ms,
                &mut level.latency_ms,
            ];
            times.into_iter().for_each(|figure| *figure = None);
            self.findings.push(Finding::note(
                "import_nothing_completed",
                self.line,
                "no request succeeded",
                "its times are taken to be absent, not 0",
            ));
        }
        let tokens = |total: Option<u64>| {
            let done = completed.filter(|done| *done > 0)?;
            Some(Tokens { total, mean: neat(total? as f64 / done as f64) })
        };
        [level.input_tokens, level.output_tokens] = self.totals.map(tokens);
        level.slo = self.goodput.map(|goodput| SloSummary {
            verdict: SloVerdict { passed: None, terms: Vec::new() },
            goodput_per_s: Some(goodput),
            met_share: None,
        });
        if let Some(latency) = level.latency_ms.as_mut() {
            latency.count = completed;
        }
        if !titled {
            self.findings.push(Finding::note(
                "import_title",
                self.line,
                format!("rows of a serving benchmark without the line `{TITLE}` above them"),
                "they were read by their names",
            ));
        }
        if !closed && (level.ttft_ms.is_none() || level.reported.is_none()) {
            self.findings.push(Finding::error(
                "import_cut",
                self.line,
                "the block has no closing line and no times",
                "it may be cut short; what is there was read",
            ));
        }
        let tool = if self.backend.is_some() { "sglang" } else { "vllm" };
        let mut part = Part::new(tool, "block", self.line);
        part.api = match self.backend.as_deref() {
            Some("sglang-oai" | "vllm" | "lmdeploy" | "sglang-oai-completions") => {
                Some("openai-completions")
            }
            Some("sglang-oai-chat" | "vllm-chat" | "lmdeploy-chat") => Some("openai-chat"),
            _ => None,
        };
        part.levels.push((self.level, self.extras));
        part.findings = self.findings;
        part
    }

    /// What is known of the load: slots before rates, and without both the tools' default, which
    /// sends everything at once.
    fn settle_load(&mut self) {
        let counts = &self.level.requests;
        let sent = counts.completed.map(|done| done + counts.failed.unwrap_or_default());
        let load = match (self.slots, self.rate) {
            (Some(slots), Rate::Fixed(rate)) => {
                self.findings.push(Finding::note(
                    "import_load_two",
                    self.line,
                    format!("a rate of {rate} requests/s and at most {slots} at once"),
                    "it is kept as a rate; the limit is among the reported figures",
                ));
                blank::load("rate", Some(rate))
            }
            (Some(slots), _) => blank::load("concurrency", Some(slots)),
            (None, Rate::Fixed(rate)) => blank::load("rate", Some(rate)),
            (None, Rate::Unlimited) => match sent {
                Some(sent) => blank::load("burst", Some(sent as f64)),
                None => blank::load("unlimited", None),
            },
            (None, Rate::Untold) => match sent {
                Some(sent) => {
                    self.findings.push(Finding::note(
                        "import_load_assumed",
                        self.line,
                        "no request rate and no concurrency are told: taken as a burst of all \
                         requests, which is the tool's default",
                        "if a rate or a limit was set, the load of this run is another",
                    ));
                    blank::load("burst", Some(sent as f64))
                }
                None => blank::load("unknown", None),
            },
        };
        self.level.label = label(&load.kind, load.value);
        self.level.load = load;
        let known = self.level.requests != Default::default() || self.level.duration_s.is_some();
        if !known {
            self.findings.push(Finding::error(
                "import_cut",
                self.line,
                format!("{} has neither requests nor a duration", short(TITLE)),
                "it may be cut short; what is there was read",
            ));
        }
    }
}
