//! The rows of EvalScope's summary, and the fields they fill.

use super::block::{HEADING, is_pairs};
use super::percentiles::{self, Percentiles as PercentileTable};
use super::pivot::check_unit;
use crate::level::blank;
use crate::text::part::{Stated, TextPart, label, put, report, short, unread};
use crate::text::quantity::{Cell, Measure, cell, name, neat};
use dyno_form::table::Table;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Tokens};
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::{Problem, values};

/// The metric of the percentiles that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Percentiles {
    Ttft,
    Latency,
}

/// Takes a summary row by row.
pub(super) struct Reader {
    line: u64,
    level: LevelSummary,
    findings: Vec<Diagnostic>,
    percentiles: Option<Percentiles>,
    /// Requests that ended, as stated.
    total: Option<u64>,
    /// Up to 0.8, the length of the test divided by all tokens; the mean over responses since.
    per_token: Option<f64>,
    slots: Option<f64>,
    rate: Option<f64>,
    figures: usize,
}

impl Reader {
    pub(super) fn new(line: u64) -> Self {
        let level = blank::level("", blank::load(LoadKind::Unknown, None));
        Self {
            line,
            level,
            findings: Vec::new(),
            percentiles: None,
            total: None,
            per_token: None,
            slots: None,
            rate: None,
            figures: 0,
        }
    }

    /// Nothing was read so far.
    pub(super) fn is_empty(&self) -> bool {
        self.figures == 0
    }

    /// A line of the block; false where it is not one.
    pub(super) fn line(&mut self, line: u64, text: &str) -> bool {
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
        if text.ends_with("Percentile results:") || is_logger(text) {
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
            "time taken for tests" | "test duration" => {
                level.duration_s =
                    stated.converted(Measure::Seconds, findings).map(|millis| neat(millis / 1e3));
                true
            }
            "total / success / failed" => return self.counts(stated),
            "expected number of requests" => count(&mut level.requests.planned, stated, findings),
            "total requests" => count(&mut self.total, stated, findings),
            "succeed requests" | "succeeded requests" | "success requests" => {
                count(&mut level.requests.completed, stated, findings)
            }
            "failed requests" => count(&mut level.requests.failed, stated, findings),
            "number of concurrency" | "concurrency" => limit(&mut self.slots, stated, findings),
            "request rate" => limit(&mut self.rate, stated, findings),
            "average qps" | "request throughput" | "req throughput" => {
                let place = &mut level.throughput.requests_per_s;
                rate(place, Measure::RequestRate, stated, findings)
            }
            "throughput(average output tokens per second)"
            | "throughput(average tokens/s)"
            | "output token throughput"
            | "output throughput" => {
                let place = &mut level.throughput.output_tokens_per_s;
                rate(place, Measure::TokenRate, stated, findings)
            }
            "total token throughput" | "total throughput" => {
                let place = &mut level.throughput.total_tokens_per_s;
                rate(place, Measure::TokenRate, stated, findings)
            }
            "average latency" | "avg latency" => {
                mean(&mut level.times[Time::Latency], stated, findings)
            }
            "average time to first token" | "avg ttft" | "ttft" => {
                mean(&mut level.times[Time::Ttft], stated, findings)
            }
            "average package latency" | "average inter-token latency" | "avg itl" | "itl" => {
                mean(&mut level.times[Time::ChunkGap], stated, findings)
            }
            "average time per output token" | "avg tpot" | "tpot" => {
                self.per_token = stated.converted(Measure::Seconds, findings);
                true
            }
            "average input tokens per request" | "avg input tokens" => {
                tokens(&mut level.input_tokens, stated, findings)
            }
            "average output tokens per request" | "avg output tokens" => {
                tokens(&mut level.output_tokens, stated, findings)
            }
            "average package per request" | "result db path" => true,
            other => {
                ["average ", "avg ", "throughput"].iter().any(|known| other.starts_with(known))
            }
        };
        if let (true, Cell::Number(number)) = (known, cell(stated.value)) {
            report(level, stated.line, stated.name, number);
            self.figures += 1;
        }
        known
    }

    /// `20 / 19 / 1`: requests in total, and how they ended.
    fn counts(&mut self, stated: Stated<'_>) -> bool {
        let names = ["Total requests", "Success requests", "Failed requests"];
        let values: Vec<&str> = stated.value.split('/').map(str::trim).collect();
        if values.len() != names.len() {
            self.findings.push(unread(stated.line, stated.name, stated.value));
            return true;
        }
        names.iter().zip(values).for_each(|(name, value)| {
            self.row(Stated { name, value, ..stated });
        });
        true
    }

    /// A table of names and values, or of percentiles; false where it is neither.
    pub(super) fn table(&mut self, table: &Table) -> bool {
        if let Some(percentiles) = PercentileTable::of(table) {
            percentiles.add(&mut self.level, &mut self.findings);
            return true;
        }
        if !is_pairs(table) {
            return false;
        }
        for row in table.rows.iter().skip(table.header.max(1)) {
            if let [name, value] = &row.cells[..]
                && !name.starts_with('─')
            {
                self.other(Stated { line: row.line, name, value });
            }
        }
        true
    }

    /// A row that this version may have and others not: its value is kept.
    fn other(&mut self, stated: Stated<'_>) {
        if !self.row(stated)
            && let Cell::Number(number) = cell(stated.value)
        {
            report(&mut self.level, stated.line, stated.name, number);
        }
    }

    /// A rate with a limit of what is in flight is a rate: requests are made at it and wait for a slot.
    fn load(&mut self) {
        let load = match (self.rate, self.slots) {
            (Some(rate), slots) => {
                if let Some(slots) = slots {
                    let said = Problem::RateAndPlaces.with([rate, slots]);
                    self.findings.push(said.at(self.line));
                }
                blank::load(LoadKind::Rate, Some(rate))
            }
            (None, Some(slots)) => blank::load(LoadKind::Concurrency, Some(slots)),
            (None, None) => blank::load(LoadKind::Unknown, None),
        };
        self.level.label = label(load.kind, load.value);
        self.level.load = load;
    }

    pub(super) fn finish(mut self, closed: bool) -> TextPart {
        self.load();
        let level = &mut self.level;
        level.requests.planned = level.requests.planned.or(self.total);
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
        let old = level.stated("Average package per request").is_some();
        if let Some(millis) = self.per_token.filter(|millis| !old && *millis > 0.0) {
            put(&mut level.times[Time::Tpot], "mean", millis);
        }
        if !old {
            percentiles::settle(level, self.line, &mut self.findings);
        }
        check_unit(level, self.line, &mut self.findings);
        let mut part =
            TextPart::new("evalscope", "block", self.line, Recognised::certain([HEADING]));
        part.levels.push((self.level, LevelExtras::default()));
        part.findings = self.findings;
        part
    }
}

/// What a logger writes before a message that begins with an empty line.
fn is_logger(text: &str) -> bool {
    let levels = ["INFO:", "INFO -", "INFO"];
    text.contains("evalscope") && levels.iter().any(|level| text.ends_with(level))
}

fn is_percentile(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|digits| digits.parse::<f64>().is_ok())
}

fn count(place: &mut Option<u64>, stated: Stated<'_>, findings: &mut Vec<Diagnostic>) -> bool {
    *place = stated.count(findings);
    true
}

/// A limit or a rate, where −1 and `INF` stand for none.
fn limit(place: &mut Option<f64>, stated: Stated<'_>, findings: &mut Vec<Diagnostic>) -> bool {
    let value = stated.value.trim();
    if !value.starts_with('-') && !value.eq_ignore_ascii_case("inf") {
        let number = stated.number(findings).map(|number| number.value);
        *place = number.filter(|number| *number > 0.0);
    }
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
