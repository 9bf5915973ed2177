//! The table that AIPerf and GenAI-Perf print: a row for each metric, a column for each statistic. Long names
//! are wrapped, and AIPerf prints the command below it.

use super::export;
use crate::level::blank;
use crate::text::invocation::Invocation;
use crate::text::part::{TextPart, label, report, unread};
use crate::text::quantity::{Cell, Measure, cell, neat};
use dyno_form::csv::name_and_unit;
use dyno_form::lines::TextLine;
use dyno_form::table::{Table, table};
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelExtras, LoadSummary, Recognised};
use dyno_model::{Diagnostic, LevelSummary};
use std::collections::BTreeMap;

/// Lines between two tables, and from the last one to the command.
const BETWEEN: usize = 8;
const TO_COMMAND: usize = 40;

/// Metrics by which a table without its title is recognised.
const KNOWN: [&str; 4] =
    ["request_latency", "request_throughput", "output_token_throughput", "time_to_first_token"];

/// Reads the tables that start with the first of these lines; returns how many lines they take.
pub(crate) fn read(lines: &[TextLine], before: &[String]) -> Option<(TextPart, usize)> {
    let (first, mut taken) = statistics(lines)?;
    let mut reader = Reader::default();
    reader.add(&first);
    if KNOWN.iter().filter(|metric| reader.metrics.contains_key(**metric)).count() < 2 {
        return None;
    }
    while let Some(next) = next_table(&lines[taken..]) {
        let Some((table, rows)) = statistics(&lines[taken + next..]) else { break };
        reader.add(&table);
        taken += next + rows;
    }
    let line = first.rows.first()?.line;
    let titled = before.iter().rev().take(3).find_map(|line| tool(line));
    let by_name = if first.heads().first()? == "Statistic" { "genai-perf" } else { "aiperf" };
    let recognised = match titled {
        Some(_) => Recognised::certain(["LLM Metrics"]),
        None => Recognised::likely(["Metric", "avg"]),
    };
    let mut part = TextPart::new(titled.unwrap_or(by_name), "block", line, recognised);
    let below = below(&lines[taken..]);
    let invocation = settings(&below, before);
    part.model = invocation.model();
    let mut level = reader.level(line, &mut part.findings);
    level.duration_s = level.duration_s.or_else(|| duration(&below));
    level.load = load(&invocation);
    level.label = label(level.load.kind, level.load.value);
    part.levels.push((level, LevelExtras::default()));
    Some((part, taken))
}

/// The tool that a title names.
fn tool(line: &str) -> Option<&'static str> {
    let titled = |name: &str| line.contains(name) && line.contains("| ");
    if titled("NVIDIA GenAI-Perf") {
        Some("genai-perf")
    } else if titled("NVIDIA AIPerf") {
        Some("aiperf")
    } else {
        None
    }
}

/// A table of metrics and statistics.
fn statistics(lines: &[TextLine]) -> Option<(Table, usize)> {
    let (table, taken) = table(lines)?;
    let heads = table.heads();
    let (first, others) = heads.split_first()?;
    let statistic = |head: &String| {
        ["avg", "min", "max", "std", "sum"].contains(&head.as_str())
            || head.strip_prefix('p').is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let known = ["Metric", "Statistic"].contains(&first.as_str())
        && others.first().is_some_and(|head| head == "avg")
        && others.len() > 1
        && others.iter().all(statistic);
    known.then_some((table, taken))
}

/// How many lines there are before a further table of the same level.
fn next_table(lines: &[TextLine]) -> Option<usize> {
    let near = || lines.iter().take(BETWEEN);
    let title = near().position(|line| !line.text.is_empty())?;
    // Metrics of GPUs and of the client are not those of a level.
    lines[title].text.contains("NVIDIA AIPerf | LLM Metrics").then_some(())?;
    near().skip(title + 1).position(|line| !line.text.is_empty()).map(|more| title + 1 + more)
}

/// The lines below the tables that may belong to them.
fn below(lines: &[TextLine]) -> Vec<&str> {
    let own = |line: &&TextLine| tool(&line.text).is_none();
    lines.iter().take(TO_COMMAND).take_while(own).map(|line| line.text.as_str()).collect()
}

/// The command: below the table where the tool printed it, else above.
fn settings(below: &[&str], before: &[String]) -> Invocation {
    match below.iter().position(|line| line.starts_with("CLI Command:")) {
        Some(at) => {
            let command = below[at..].iter().take_while(|line| !line.is_empty());
            let joined = command.copied().collect::<Vec<_>>().join(" ");
            Invocation::by([joined.as_str()])
        }
        None => Invocation::by(before.iter().map(String::as_str)),
    }
}

/// `Benchmark Duration: 12.34 sec`, below the table.
fn duration(below: &[&str]) -> Option<f64> {
    let stated = below.iter().find_map(|line| line.strip_prefix("Benchmark Duration:"))?;
    match cell(stated) {
        Cell::Number(number) => Measure::Seconds.of(number, None).map(|millis| neat(millis / 1e3)),
        _ => None,
    }
}

fn load(invocation: &Invocation) -> LoadSummary {
    let given = |name: &str| invocation.number(&[name]).filter(|value| *value > 0.0);
    match (given("request_rate").filter(|rate| rate.is_finite()), given("concurrency")) {
        (Some(rate), _) => blank::load(LoadKind::Rate, Some(rate)),
        (None, Some(slots)) => blank::load(LoadKind::Concurrency, Some(slots)),
        (None, None) => blank::load(LoadKind::Unknown, None),
    }
}

#[derive(Debug, Default)]
struct Metric {
    unit: Option<String>,
    stats: BTreeMap<String, f64>,
}

#[derive(Debug, Default)]
struct Reader {
    metrics: BTreeMap<String, Metric>,
    /// Line, name as printed, statistic, cell.
    cells: Vec<(u64, String, String, String)>,
}

impl Reader {
    fn add(&mut self, table: &Table) {
        let heads = table.heads();
        for row in table.unwrapped() {
            let (name, unit) = name_and_unit(row.name());
            let key = name.to_lowercase().replace(' ', "_");
            let mut metric = Metric { unit: unit.map(str::to_owned), ..Metric::default() };
            for (statistic, value) in heads.iter().zip(&row.cells).skip(1) {
                // A narrow terminal cuts numbers off.
                if let Cell::Number(number) = cell(value)
                    && number.unit.is_empty()
                {
                    metric.stats.insert(statistic.clone(), number.value);
                }
                let named = (row.line, row.name().to_owned(), statistic.clone(), value.clone());
                self.cells.push(named);
            }
            self.metrics.entry(key).or_insert(metric);
        }
    }

    fn level(&self, line: u64, findings: &mut Vec<Diagnostic>) -> LevelSummary {
        let mut level = LevelSummary::default();
        for (line, name, statistic, value) in &self.cells {
            match cell(value) {
                Cell::Number(number) if number.unit.is_empty() => {
                    report(&mut level, *line, &format!("{name} {statistic}"), number);
                }
                Cell::Absent => {}
                _ => findings.push(unread(*line, &format!("{name} {statistic}"), value)),
            }
        }
        let stat = |metric: &str, stat: &str| self.metrics.get(metric)?.stats.get(stat).copied();
        let unit = |metric: &str| self.metrics.get(metric)?.unit.clone();
        export::fill_metrics(&mut level, findings, line, &stat, &unit);
        level
    }
}
