//! EvalScope's summary of one level: lines of `name: value`, or a grid of names and values, and
//! percentiles of TTFT and latency.

use super::pivot::check_unit;
use crate::level::blank;
use crate::text::lines::{Kind, Line};
use crate::text::part::{Part, Stated, label, put, report, short};
use crate::text::quantity::{Cell, Measure, cell, name, neat};
use crate::text::table::table;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Tokens};
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::{Problem, values};

/// The start of a block.
const HEADING: &str = "Benchmarking summary:";

/// The metric of the percentiles that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Percentiles {
    Ttft,
    Latency,
}

/// Reads the block that starts with the first of these lines; returns how many lines it takes.
pub(crate) fn read(lines: &[Line]) -> Option<(Part, usize)> {
    let first = lines.first()?;
    let rest = first.text.strip_suffix(HEADING)?;
    // A logger may have put a time and its name before it; other text means it is not a block.
    if !rest.is_empty() && !rest.trim_end().ends_with(['-', ':', ']', '|']) {
        return None;
    }
    let mut reader = Reader::new(first.number);
    let mut taken = 1;
    while let Some(line) = lines.get(taken).filter(|line| line.kind == first.kind) {
        taken += match (line.text.as_str(), table(&lines[taken..])) {
            ("", _) => 1,
            (_, Some((grid, rows))) if reader.grid(&grid.rows) => rows,
            (text, _) if reader.line(line.number, text) => 1,
            _ => break,
        };
    }
    let closed = lines.get(taken).is_none_or(|line| line.kind == Kind::Close);
    (reader.figures > 0).then(|| (reader.finish(closed), taken))
}

struct Reader {
    line: u64,
    level: LevelSummary,
    findings: Vec<Diagnostic>,
    percentiles: Option<Percentiles>,
    /// Requests that ended, as stated.
    total: Option<u64>,
    figures: usize,
}

impl Reader {
    fn new(line: u64) -> Self {
        let level = blank::level("", blank::load(LoadKind::Unknown, None));
        Self { line, level, findings: Vec::new(), percentiles: None, total: None, figures: 0 }
    }

    /// A line of the block; false where it is not one.
    fn line(&mut self, line: u64, text: &str) -> bool {
        let Some((name, value)) = text.split_once([':', '：']) else { return false };
        let lower = name.trim().to_lowercase();
        if let Some(what) = lower.strip_prefix("percentile of ") {
            self.percentiles = match what {
                "time to first token" => Some(Percentiles::Ttft),
                "request latency" => Some(Percentiles::Latency),
                _ => None,
            };
            return true;
        }
        if lower == "percentile results" {
            return true;
        }
        if let (true, Some(of)) = (is_percentile(&lower), self.percentiles) {
            self.percentile(of, &lower, Stated { line, name, value });
            return true;
        }
        self.row(Stated { line, name, value })
    }

    fn percentile(&mut self, of: Percentiles, which: &str, stated: Stated<'_>) {
        let words = match of {
            Percentiles::Ttft => "time to first token",
            Percentiles::Latency => "request latency",
        };
        let Some(number) = stated.number(&mut self.findings) else { return };
        let full = format!("Percentile of {words} {which}");
        report(&mut self.level, stated.line, &full, number);
        let Some(millis) = stated.converted(Measure::Seconds, &mut self.findings) else { return };
        let place = match of {
            Percentiles::Ttft => &mut self.level.times[Time::Ttft],
            Percentiles::Latency => &mut self.level.times[Time::Latency],
        };
        put(place, which, millis);
    }

    /// A row of names and values; false where the name is unknown.
    fn row(&mut self, stated: Stated<'_>) -> bool {
        let (level, findings) = (&mut self.level, &mut self.findings);
        let (key, _) = name(stated.name);
        let known = match key.as_str() {
            "time taken for tests" => {
                level.duration_s =
                    stated.converted(Measure::Seconds, findings).map(|millis| neat(millis / 1e3));
                true
            }
            "expected number of requests" => count(&mut level.requests.planned, stated, findings),
            "total requests" => count(&mut self.total, stated, findings),
            "succeed requests" | "succeeded requests" => {
                count(&mut level.requests.completed, stated, findings)
            }
            "failed requests" => count(&mut level.requests.failed, stated, findings),
            "number of concurrency" => {
                let slots = stated.count(findings).map(|slots| slots as f64);
                if slots.is_some() {
                    level.load = blank::load(LoadKind::Concurrency, slots);
                }
                true
            }
            "average qps" | "request throughput" => {
                let place = &mut level.throughput.requests_per_s;
                rate(place, Measure::RequestRate, stated, findings)
            }
            "throughput(average output tokens per second)"
            | "throughput(average tokens/s)"
            | "output token throughput" => {
                let place = &mut level.throughput.output_tokens_per_s;
                rate(place, Measure::TokenRate, stated, findings)
            }
            "total token throughput" => {
                let place = &mut level.throughput.total_tokens_per_s;
                rate(place, Measure::TokenRate, stated, findings)
            }
            "average latency" => mean(&mut level.times[Time::Latency], stated, findings),
            "average time to first token" => mean(&mut level.times[Time::Ttft], stated, findings),
            "average package latency" | "average inter-token latency" => {
                mean(&mut level.times[Time::ChunkGap], stated, findings)
            }
            "average input tokens per request" => tokens(&mut level.input_tokens, stated, findings),
            "average output tokens per request" => {
                tokens(&mut level.output_tokens, stated, findings)
            }
            "average time per output token" | "average package per request" => true,
            "result db path" => true,
            other => other.starts_with("average ") || other.starts_with("throughput"),
        };
        if let (true, Cell::Number(number)) = (known, cell(stated.value)) {
            report(level, stated.line, stated.name, number);
            self.figures += 1;
        }
        known
    }

    /// A grid of names and values, or of percentiles; false where it is neither.
    fn grid(&mut self, rows: &[crate::text::table::Row]) -> bool {
        let Some(header) = rows.first() else { return false };
        let lower: Vec<String> = header.cells.iter().map(|cell| name(cell).0).collect();
        match lower.first().map(String::as_str) {
            Some("key") if lower.len() == 2 => {
                for row in rows.iter().skip(1) {
                    if let [name, value] = &row.cells[..] {
                        self.row(Stated { line: row.line, name, value });
                    }
                }
                true
            }
            Some("percentile" | "percentiles") => {
                for row in rows.iter().skip(1) {
                    self.percentile_row(&header.cells, row);
                }
                true
            }
            _ => false,
        }
    }

    fn percentile_row(&mut self, header: &[String], row: &crate::text::table::Row) {
        let which = row.name().to_owned();
        for (head, value) in header.iter().zip(&row.cells).skip(1) {
            let stated = Stated { line: row.line, name: head, value };
            let Some(number) = stated.number(&mut self.findings) else { continue };
            report(&mut self.level, row.line, &format!("{head} {which}"), number);
            let place = match name(head).0.as_str() {
                "ttft" | "first chunk latency" => &mut self.level.times[Time::Ttft],
                "latency" => &mut self.level.times[Time::Latency],
                "tpot" => &mut self.level.times[Time::Tpot],
                "itl" => &mut self.level.times[Time::ChunkGap],
                _ => continue,
            };
            if let Some(millis) = stated.converted(Measure::Seconds, &mut self.findings) {
                put(place, &which, millis);
            }
        }
    }

    fn finish(mut self, closed: bool) -> Part {
        let level = &mut self.level;
        level.label = label(level.load.kind, level.load.value);
        let counts = &level.requests;
        let ended = counts.completed.zip(counts.failed).map(|(done, failed)| done + failed);
        if let (Some(total), Some(ended)) = (self.total, ended)
            && total != ended
        {
            let values = values![short(&level.label), total, ended];
            self.findings.push(Problem::Counts.with(values).at(self.line));
        }
        if level.times[Time::Latency].is_none() && !closed {
            self.findings.push(Diagnostic::from(Problem::CutBeforeLatencies).at(self.line));
        }
        let mean = |figure: &Option<Distribution>| figure.as_ref().and_then(|figure| figure.mean);
        let (whole, first) = (mean(&level.times[Time::Latency]), mean(&level.times[Time::Ttft]));
        let one_package = level.stated("Average package per request") == Some(1.0);
        if one_package && whole.is_some() && whole == first {
            self.findings.push(Diagnostic::from(Problem::OnePackage).at(self.line));
        }
        check_unit(level, self.line, &mut self.findings);
        let mut part = Part::new("evalscope", "block", self.line, Recognised::certain([HEADING]));
        part.levels.push((self.level, LevelExtras::default()));
        part.findings = self.findings;
        part
    }
}

fn is_percentile(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|digits| digits.parse::<f64>().is_ok())
}

fn count(place: &mut Option<u64>, stated: Stated<'_>, findings: &mut Vec<Diagnostic>) -> bool {
    *place = stated.count(findings);
    true
}

fn rate(
    place: &mut Option<f64>,
    measure: Measure,
    stated: Stated<'_>,
    findings: &mut Vec<Diagnostic>,
) -> bool {
    *place = stated.converted(measure, findings);
    true
}

fn mean(
    place: &mut Option<Distribution>,
    stated: Stated<'_>,
    findings: &mut Vec<Diagnostic>,
) -> bool {
    if let Some(millis) = stated.converted(Measure::Seconds, findings) {
        put(place, "mean", millis);
    }
    true
}

fn tokens(place: &mut Option<Tokens>, stated: Stated<'_>, findings: &mut Vec<Diagnostic>) -> bool {
    *place = stated.converted(Measure::Plain, findings).map(|mean| Tokens { total: None, mean });
    true
}
