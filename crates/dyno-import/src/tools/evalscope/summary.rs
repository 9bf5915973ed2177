//! What EvalScope's `perf` saves as JSON: `benchmark_summary.json` and `benchmark_percentile.json`. The
//! names of its metrics changed over time, and with them their units.

use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution, present, rounded, tokens, unit_ms};
use crate::reading::{Group, Reading};
use dyno_form::csv::name_and_unit;
use dyno_form::json::{figures, text, whole};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Recognised, Reported};
use dyno_words::Problem;
use serde_json::Value;
use std::collections::BTreeMap;

/// It is a summary.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let stated = Values::of(value);
    stated.count(REQUESTS)?;
    stated.plain(SLOTS)?;
    stated.time(LATENCY)?;
    Some(Recognised::certain([SLOTS[0], REQUESTS[0], LATENCY[0]]))
}

/// It is a list of percentiles.
pub(super) fn recognise_percentiles(value: &Value) -> Option<Recognised> {
    let timed = |row: &Value| row.as_object().is_some_and(|row| row.keys().any(|key| is_time(key)));
    let own = |row: &Value| percentile(row).is_some() && timed(row);
    value.as_array()?.iter().any(own).then(|| Recognised::likely(["Percentiles"]))
}

fn is_time(key: &str) -> bool {
    TIMES.iter().any(|names| names.contains(&name_and_unit(key).0.to_ascii_lowercase().as_str()))
}

const SLOTS: &[&str] = &["number of concurrency", "concurrency"];
const RATE: &[&str] = &["request rate"];
const REQUESTS: &[&str] = &["total requests"];
const SUCCEEDED: &[&str] = &["succeed requests", "success requests"];
const FAILED: &[&str] = &["failed requests"];
const DURATION: &[&str] = &["time taken for tests", "test duration"];
const LATENCY: &[&str] = &["average latency", "avg latency", "latency"];
const TTFT: &[&str] = &["average time to first token", "avg ttft", "ttft", "first chunk latency"];
const TPOT: &[&str] = &["average time per output token", "avg tpot", "tpot"];
/// Between events, however many tokens one carries.
const GAP: &[&str] = &["average inter-token latency", "avg itl", "itl"];
const TIMES: [&[&str]; 4] = [LATENCY, TTFT, TPOT, GAP];
const PER_S: &[&str] = &["request throughput", "req throughput", "average qps"];
const OUTPUT_PER_S: &[&str] = &["output token throughput", "output throughput", "throughput"];
const TOTAL_PER_S: &[&str] = &["total token throughput", "total throughput"];
const INPUT: &[&str] = &["average input tokens per request", "avg input tokens"];
const OUTPUT: &[&str] = &["average output tokens per request", "avg output tokens"];
/// Up to 0.8 the time per output token is that of the whole test, whatever the concurrency.
const OLD: &[&str] = &["average package per request"];

/// Values by their names in lower case, each with its unit.
#[derive(Debug)]
struct Values(BTreeMap<String, (Option<String>, f64)>);

impl Values {
    fn of(value: &Value) -> Self {
        let Some(fields) = value.as_object() else { return Self(BTreeMap::new()) };
        let figures = fields.iter().filter_map(|(key, value)| {
            let (name, unit) = name_and_unit(key);
            let number = value.as_f64().filter(|number| number.is_finite())?;
            Some((name.to_ascii_lowercase(), (unit.map(str::to_owned), number)))
        });
        Self(figures.collect())
    }

    fn entry(&self, names: &[&str]) -> Option<&(Option<String>, f64)> {
        names.iter().find_map(|name| self.0.get(*name))
    }

    fn plain(&self, names: &[&str]) -> Option<f64> {
        self.entry(names).map(|(_, value)| *value).filter(|value| *value >= 0.0)
    }

    fn count(&self, names: &[&str]) -> Option<u64> {
        self.plain(names).and_then(whole)
    }

    /// A time in milliseconds, by its own unit.
    fn time(&self, names: &[&str]) -> Option<f64> {
        let (unit, value) = self.entry(names)?;
        Some(value * unit_ms(unit.as_deref()?)?).filter(|value| *value >= 0.0)
    }
}

/// Reads a summary or a list of percentiles by itself.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let mut found = if value.is_array() {
        let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
        found.stated.reported = Some(Reported { line: Some(line), ..Reported::default() });
        add_percentiles(&mut found.stated, value);
        found
    } else {
        summary(line, value)
    };
    settle(&mut found, &mut reading.problems);
    let key = format!("evalscope {}", value.is_array());
    reading.add(Group { key, head: RunHead::new(reading.origin("evalscope", line)) }, found);
}

/// The level of a summary.
pub(crate) fn summary(line: u64, value: &Value) -> StatedLevel {
    let all = Values::of(value);
    let slots = all.plain(SLOTS).filter(|slots| *slots > 0.0);
    let rate = all.plain(RATE).filter(|rate| *rate > 0.0);
    let mut found = StatedLevel::new(match (rate, slots) {
        (Some(rate), _) => Offered::rate(rate, None),
        (None, Some(slots)) => Offered::concurrency(slots),
        (None, None) => Offered::plain(LoadKind::Unknown),
    });
    let stated = &mut found.stated;
    stated.reported = Some(Reported { file: None, line: Some(line), figures: figures(value) });
    stated.requests.planned = all.count(REQUESTS);
    stated.requests.completed = all.count(SUCCEEDED);
    stated.requests.failed = all.count(FAILED);
    stated.duration_s = present(all.time(DURATION).map(|ms| ms / 1e3));
    stated.throughput.requests_per_s = present(all.plain(PER_S));
    stated.throughput.output_tokens_per_s = present(all.plain(OUTPUT_PER_S));
    stated.throughput.total_tokens_per_s = present(all.plain(TOTAL_PER_S));
    stated.input_tokens = tokens(None, all.plain(INPUT), None);
    stated.output_tokens = tokens(None, all.plain(OUTPUT), None);
    let done = stated.requests.completed;
    let mean = |names: &[&str], count| {
        let value = all.time(names);
        distribution(count, 1.0, |stat| value.filter(|_| stat == "mean"))
    };
    stated.times[Time::Latency] = mean(LATENCY, done);
    stated.times[Time::Ttft] = mean(TTFT, done);
    stated.times[Time::Tpot] = mean(TPOT, None).filter(|_| all.entry(OLD).is_none());
    stated.times[Time::ChunkGap] = mean(GAP, None);
    found
}

/// Leaves out TTFT where it repeats the latency: responses were not streamed.
pub(crate) fn settle(found: &mut StatedLevel, problems: &mut Vec<Diagnostic>) {
    if !found.stated.is_whole() {
        return;
    }
    let stated = &mut found.stated;
    (stated.times[Time::Ttft], stated.times[Time::Tpot], stated.times[Time::ChunkGap]) =
        (None, None, None);
    found.note(problems, Problem::NotStreamed.into());
}

/// `99%` as `p99`, and the ends as they are.
fn percentile(row: &Value) -> Option<String> {
    let name = text(row, &["Percentiles"]).or_else(|| text(row, &["Percentile"]))?;
    match name.strip_suffix('%') {
        Some(percent) => Some(format!("p{percent}")),
        None => matches!(name.as_str(), "min" | "max").then_some(name),
    }
}

/// Adds percentiles to a level.
pub(crate) fn add_percentiles(level: &mut LevelSummary, rows: &Value) {
    let rows: Vec<(String, Values)> = rows
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| Some((percentile(row)?, Values::of(row))))
        .collect();
    let figures = rows.iter().flat_map(|(stat, stated)| {
        stated.0.iter().map(move |(name, (unit, value))| match unit {
            Some(unit) => (format!("{name} ({unit}).{stat}"), *value),
            None => (format!("{name}.{stat}"), *value),
        })
    });
    level.reported.get_or_insert_default().figures.extend(figures);
    let merged = |before: Option<Distribution>, names: &[&str]| {
        let stat = |stat: &str| {
            let (_, stated) = rows.iter().find(|(name, _)| name == stat)?;
            stated.time(names)
        };
        let Some(found) = distribution(None, 1.0, stat) else { return before };
        let before = before.unwrap_or_default();
        Some(Distribution { count: before.count, mean: before.mean.map(rounded), ..found })
    };
    level.times[Time::Latency] = merged(level.times[Time::Latency].take(), LATENCY);
    level.times[Time::Ttft] = merged(level.times[Time::Ttft].take(), TTFT);
    level.times[Time::Tpot] = merged(level.times[Time::Tpot].take(), TPOT);
    level.times[Time::ChunkGap] = merged(level.times[Time::ChunkGap].take(), GAP);
}
