//! The summary of MLPerf's LoadGen, `mlperf_log_summary.txt`: names and values, times in nanoseconds. A
//! sample is a request. Latencies count from the time at which a sample was due.

use super::{Printed, Tool};
use crate::level::blank;
use crate::level::stated::{Offered, distribution, present, rounded};
use crate::text::part::{TextPart, label, report, whole};
use crate::text::plain::plain;
use crate::text::quantity::{Cell, cell};
use dyno_form::lines::TextLine;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Burstiness, Distribution, LevelExtras, Recognised};
use dyno_words::{Problem, values};
use std::collections::BTreeMap;

const TITLE: &str = "MLPerf Results Summary";
const NANOSECOND_MS: f64 = 1e-6;

pub(super) const TOOL: Tool = Tool {
    name: "mlperf",
    kinds: &[[
        "summaries of MLPerf's LoadGen (`mlperf_log_summary.txt`)",
        "MLPerf LoadGen 的汇总（`mlperf_log_summary.txt`）",
    ]],
    printed: &[Printed::Block(read)],
    ..super::NOTHING
};

/// Reads the summary that starts with the first of these lines; returns how many lines it takes.
fn read(lines: &[TextLine], _: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first().filter(|line| line.text == TITLE)?;
    let mut part = TextPart::new("mlperf", "block", first.number, Recognised::certain([TITLE]));
    let mut summary = Printout::default();
    let mut level = blank::level("", blank::load(LoadKind::Unknown, None));
    let mut taken = 1;
    let mut remarks = None;
    for line in lines.iter().skip(1) {
        let text = line.text.as_str();
        if line.kind != first.kind || !belongs(text, &mut remarks) {
            break;
        }
        taken += 1;
        if let Some((name, value)) = text.split_once(':') {
            let name = plain(name).trim_start_matches("* ").trim().to_owned();
            let name = name.as_str();
            // People comment on values that they paste.
            let value = plain(value.split(" #").next().unwrap_or_default());
            let value = value.as_str();
            if let Cell::Number(number) = cell(value) {
                report(&mut level, line.number, name, number);
            }
            summary.rows.entry(name.to_lowercase()).or_insert(value.trim().to_owned());
        }
        // The last line of a summary.
        if text.to_lowercase().contains("errors encountered") {
            break;
        }
    }
    let extras = summary.fill(&mut level, &mut part);
    if level.throughput != Default::default() || level.times[Time::Latency].is_some() {
        part.levels.push((level, extras));
    }
    Some((part, taken))
}

/// Whether a line belongs to a summary: a row, a rule, a title, or one of a few lines of remarks, of
/// which so many more may follow.
fn belongs(text: &str, remarks: &mut Option<usize>) -> bool {
    const TITLES: [&str; 2] = ["Additional Stats", "Test Parameters Used"];
    if text == TITLE || text.starts_with('#') {
        return false;
    }
    if text.is_empty() || text.starts_with("===") || TITLES.contains(&text) {
        return true;
    }
    if text.ends_with("Early Stopping Result:") || text == "Recommendations:" {
        *remarks = Some(12);
        return true;
    }
    let row = text.split_once(':').is_some_and(|(name, value)| {
        name.len() <= 60 && (!value.is_empty() || name.starts_with("SUT name"))
    });
    if row || text.contains(" encountered") {
        return true;
    }
    let left = remarks.unwrap_or(0);
    *remarks = left.checked_sub(1);
    left > 0
}

/// The rows of a summary. Where a name stands twice, the first value counts: parameters come last.
#[derive(Debug, Default)]
struct Printout {
    rows: BTreeMap<String, String>,
}

impl Printout {
    fn text(&self, name: &str) -> Option<&str> {
        self.rows.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str) -> Option<f64> {
        present(self.text(name)?.parse().ok())
    }

    /// `50.00 percentile first token latency (ns)`, `Mean latency (ns)`.
    fn times(&self, what: &str) -> Option<Distribution> {
        distribution(None, NANOSECOND_MS, |stat| match stat.strip_prefix('p') {
            Some(percent) => {
                let percent: f64 = percent.parse().ok()?;
                // The percentile that a scenario is judged by stands alone, before the others.
                let judged = || self.number(&format!("{percent:.1}th percentile {what} (ns)"));
                let judged =
                    || judged().or(self.number(&format!("{percent}th percentile {what} (ns)")));
                self.number(&format!("{percent:.2} percentile {what} (ns)")).or_else(judged)
            }
            None => self.number(&format!("{stat} {what} (ns)")),
        })
    }

    /// Fills a level, and remarks on it.
    fn fill(&self, level: &mut LevelSummary, part: &mut TextPart) -> LevelExtras {
        // Early versions write it as two words.
        let scenario = self.text("scenario").unwrap_or_default().replace(' ', "");
        let scenario = scenario.as_str();
        let mut extras = LevelExtras::default();
        let rates = &mut level.throughput;
        let offered = match scenario {
            "Server" | "Interactive" => {
                rates.requests_per_s = self.number("completed samples per second");
                rates.output_tokens_per_s = self.number("completed tokens per second");
                level.offered_per_s = self.number("scheduled samples per second");
                extras.burstiness = Some(Burstiness::Shape(1.0));
                match self.number("target_qps") {
                    Some(rate) => Offered::rate(rate, None),
                    None => Offered::plain(LoadKind::Unknown),
                }
            }
            "Offline" => {
                rates.requests_per_s = self.number("samples per second");
                rates.output_tokens_per_s = self.number("tokens per second");
                self.offline(level)
            }
            "SingleStream" => {
                rates.requests_per_s = self.number("qps w/ loadgen overhead");
                rates.output_tokens_per_s = self.number("tps w/ loadgen overhead");
                Offered::concurrency(1.0)
            }
            _ => Offered::plain(LoadKind::Unknown),
        };
        level.load = offered.load;
        level.label = label(level.load.kind, level.load.value);
        if scenario == "MultiStream" {
            // A query is done when all of its samples are, and only its time is stated.
            part.findings.push(Problem::QueryTimes.with(["MultiStream"]).at(part.line));
        } else {
            level.times[Time::Latency] = self.times("latency");
            level.times[Time::Ttft] = self.times("first token latency");
            level.times[Time::Tpot] = self.times("time to output token");
        }
        if level.load.kind == LoadKind::Rate {
            level.times[Time::TtftScheduled] = level.times[Time::Ttft].clone();
            level.times[Time::LatencyScheduled] = level.times[Time::Latency].clone();
            part.findings.push(Problem::FromSchedule.with(["LoadGen"]).at(part.line));
        }
        self.verdict(part);
        extras
    }

    /// All samples are one query, so the time of the last one is the duration.
    fn offline(&self, level: &mut LevelSummary) -> Offered {
        let longest_s = self.number("max latency (ns)").map(|longest| longest / 1e9);
        level.duration_s = longest_s.map(rounded);
        let sent = self.number("samples per second").zip(longest_s).map(|(rate, time)| rate * time);
        // The rate has six digits; where they do not determine the count, it is not stated.
        let sent = sent.filter(|sent| *sent < 1e5 && (sent - sent.round()).abs() < 0.2);
        let sent = sent.map(f64::round).and_then(whole).filter(|sent| *sent > 0);
        level.requests.planned = sent;
        level.requests.completed = sent;
        match sent.map(|sent| sent as f64).or_else(|| self.number("samples_per_query")) {
            Some(requests) => Offered::burst(requests),
            None => Offered::plain(LoadKind::Unlimited),
        }
    }

    /// LoadGen's own verdict, with the constraints that were not met.
    fn verdict(&self, part: &mut TextPart) {
        let Some(verdict) = self.text("result is") else { return };
        let unmet = self.rows.iter().filter(|(name, value)| {
            name.ends_with("satisfied") && !value.eq_ignore_ascii_case("yes")
        });
        let unmet: Vec<String> = unmet.map(|(name, value)| format!("{name}: {value}")).collect();
        let verdict: String = verdict.chars().take(20).collect();
        let shown =
            if unmet.is_empty() { verdict } else { format!("{verdict} ({})", unmet.join(", ")) };
        part.findings.push(Problem::OwnVerdict.with(values!["LoadGen", shown]).at(part.line));
    }
}
