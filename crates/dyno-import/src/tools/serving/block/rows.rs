//! The rows of a block, and the fields they fill.

use super::TITLE;
use super::load::StatedLoad;
use crate::level::blank;
use crate::text::invocation::Invocation;
use crate::text::part::{Stated, TextPart, label, put, report, whole};
use crate::text::quantity::{Cell, Measure, cell, name, neat, quantity};
use crate::tools::serving::api;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Burstiness, LevelExtras, Recognised, Times};
use dyno_model::summary::{Distribution, RequestCounts, Tokens};
use dyno_words::Problem;

/// Takes a block row by row.
pub(crate) struct Reader {
    line: u64,
    level: LevelSummary,
    extras: LevelExtras,
    findings: Vec<Diagnostic>,
    stated_load: StatedLoad,
    totals: [Option<u64>; 2],
    backend: Option<String>,
    invocation: Invocation,
    /// The length of the progress bar: as many requests were sent.
    bar: Option<u64>,
}

impl Reader {
    pub(crate) fn new(line: u64) -> Self {
        Self {
            line,
            level: blank::level("", blank::load(LoadKind::Unknown, None)),
            extras: LevelExtras::default(),
            findings: Vec::new(),
            stated_load: StatedLoad::default(),
            totals: [None, None],
            backend: None,
            invocation: Invocation::default(),
            bar: None,
        }
    }

    /// The lines ahead of the block: the settings, and what the tool prints before it starts measuring.
    pub(crate) fn before(&mut self, lines: &[String]) {
        self.invocation = Invocation::by(lines.iter().map(String::as_str));
        lines.iter().for_each(|text| self.ahead(text));
    }

    fn ahead(&mut self, text: &str) {
        if text.contains("%|") {
            self.bar = bar_length(text).or(self.bar);
            return;
        }
        if let Some((_, ranges)) = text.split_once("Sampling input_len from ") {
            (self.level.input_length, self.level.output_length) = lengths(ranges);
            return;
        }
        let Some((key, value)) = text.split_once(':') else { return };
        let value = value.trim();
        match key.trim().to_lowercase().as_str() {
            "traffic request rate" | "maximum request concurrency" => {
                self.stated_load.row(Stated { line: self.line, name: key, value });
            }
            "traffic ramp-up strategy" => self.stated_load.ramp(),
            "burstiness factor" => {
                let shape = quantity(value).filter(|shape| shape.value > 0.0);
                self.extras.burstiness = shape.map(|shape| Burstiness::Shape(shape.value));
            }
            _ => {}
        }
    }

    /// A row; false where the line is not one.
    pub(crate) fn row(&mut self, line: u64, text: &str) -> bool {
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
            self.stated_load.row(stated);
        } else if !self.store(&key, stated) && !matches!(cell(value), Cell::Number(_)) {
            // A row of another kind of value belongs to the block; prose does not.
            return value.trim().is_empty() || value.split_whitespace().count() <= 2;
        }
        if let Cell::Number(number) = cell(value) {
            report(&mut self.level, line, label, number);
        }
        true
    }

    /// Stores a value; false where there is no field for it.
    fn store(&mut self, key: &str, stated: Stated<'_>) -> bool {
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
                let peak = stated.converted(Measure::TokenRate, findings);
                self.extras.peak_output_per_s = peak.and_then(whole);
                return true;
            }
            "benchmark duration" => (&mut level.duration_s, (Some(Measure::Seconds), 1e3)),
            "request throughput" => {
                (&mut level.throughput.requests_per_s, per_second(Measure::RequestRate))
            }
            "output token throughput" => {
                (&mut level.throughput.output_tokens_per_s, per_second(Measure::TokenRate))
            }
            "total token throughput" => {
                (&mut level.throughput.total_tokens_per_s, per_second(Measure::TokenRate))
            }
            _ => return self.statistic(key, stated),
        };
        if let Some(measure) = measure {
            *place = stated.converted(measure, findings).map(|figure| neat(figure / size));
        }
        true
    }

    /// `Mean TTFT`, `P99 E2E Latency`, ...
    fn statistic(&mut self, key: &str, stated: Stated<'_>) -> bool {
        let Some((statistic, figure)) = key.split_once(' ') else { return false };
        let place: &mut Option<Distribution> = match figure {
            "ttft" => &mut self.level.times[Time::Ttft],
            "tpot" => &mut self.level.times[Time::Tpot],
            "itl" => &mut self.level.times[Time::ChunkGap],
            "e2el" | "e2e latency" => &mut self.level.times[Time::Latency],
            _ => return false,
        };
        if let Some(millis) = stated.converted(Measure::Millis, &mut self.findings) {
            put(place, statistic, millis);
        }
        true
    }

    pub(crate) fn finish(mut self, titled: bool, closed: bool) -> TextPart {
        self.stated_load.complete(&self.invocation);
        let level = &mut self.level;
        let ended = level.requests.completed.map(|n| n + level.requests.failed.unwrap_or_default());
        let prompts = self.invocation.number(&["num_prompts"]).and_then(whole);
        let recorded = prompts.filter(|_| self.invocation.is_recorded());
        level.requests.planned = self.bar.or(recorded).filter(|planned| Some(*planned) >= ended);
        let (load, assumed) = self.stated_load.load(&level.requests, self.line);
        level.label = label(load.kind, load.value);
        level.load = load;
        self.findings.extend(assumed);
        if level.requests == RequestCounts::default() && level.duration_s.is_none() {
            self.findings.push(Diagnostic::from(Problem::CutWithoutRequests).at(self.line));
        }
        let completed = level.requests.completed;
        if completed == Some(0) {
            level.times = Times::default();
            self.findings.push(Diagnostic::from(Problem::NoneSucceeded).at(self.line));
        }
        for time in [Time::Ttft, Time::Tpot, Time::ChunkGap, Time::Latency] {
            // A tool writes 0 where it has nothing to measure.
            level.times[time] = level.times[time].take().filter(|times| !is_nothing(times));
        }
        let tokens = |total: Option<u64>| {
            let done = completed.filter(|done| *done > 0)?;
            Some(Tokens { total, mean: neat(total? as f64 / done as f64) })
        };
        [level.input_tokens, level.output_tokens] = self.totals.map(tokens);
        if let Some(latency) = level.times[Time::Latency].as_mut() {
            latency.count = completed;
        }
        if !titled {
            self.findings.push(Problem::Untitled.with([TITLE]).at(self.line));
        }
        if !closed && (level.times[Time::Ttft].is_none() || level.reported.is_none()) {
            self.findings.push(Diagnostic::from(Problem::CutWithoutTimes).at(self.line));
        }
        let tool = if self.backend.is_some() { "sglang" } else { "vllm" };
        // Other tools print the same title.
        let recognised = match (titled, self.backend.is_some() || self.invocation.is_recorded()) {
            (true, true) => Recognised::certain([TITLE]),
            (true, false) => Recognised::likely([TITLE]),
            (false, _) => Recognised::likely(["rows"]),
        };
        let mut part = TextPart::new(tool, "block", self.line, recognised);
        part.api = self.backend.as_deref().and_then(api);
        part.model = self.invocation.model();
        part.levels.push((self.level, self.extras));
        part.findings = self.findings;
        part
    }
}

/// The total of `100%|####| 50/50 [00:10<00:00, 5.0it/s]`, or of the last of several.
fn bar_length(text: &str) -> Option<u64> {
    let (counts, _) = text.rsplit_once(" [")?;
    let (done, total) = counts.rsplit_once(' ')?.1.split_once('/')?;
    done.parse::<u64>().ok().and_then(|_| total.parse().ok()).filter(|total| *total > 0)
}

/// All of its values are 0.
fn is_nothing(times: &Distribution) -> bool {
    let values = [times.mean, times.p50, times.p90, times.p95, times.p99, times.max];
    values.iter().flatten().all(|value| *value == 0.0)
}

/// The lengths of `[512, 512] and output_len from [128, 128]`; absent where they vary.
fn lengths(ranges: &str) -> (Option<u32>, Option<u32>) {
    let fixed = |range: &str| {
        let (low, high) = range.split_once(']')?.0.strip_prefix('[')?.split_once(", ")?;
        let length: u32 = low.parse().ok()?;
        (low == high && length > 0).then_some(length)
    };
    let output = ranges.split_once("output_len from ").and_then(|(_, range)| fixed(range));
    (fixed(ranges), output)
}
