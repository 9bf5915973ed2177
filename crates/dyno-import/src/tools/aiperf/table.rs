//! The CSV exports of AIPerf and GenAI-Perf: a table of metrics with statistics, and one of metrics
//! with a value. They do not state the load or the model.

use super::export;
use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel};
use crate::reading::Reading;
use dyno_form::csv::{self, CsvRow, name_and_unit};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::{Recognised, Reported};
use dyno_words::{Problem, values};
use std::collections::BTreeMap;

/// The metrics that Dyno's summary has, by their displayed names and those that [`export::fill_metrics`] uses.
const NAMES: [(&str, &str); 17] = [
    ("time to first token", "time_to_first_token"),
    ("request latency", "request_latency"),
    ("inter token latency", "inter_token_latency"),
    ("inter chunk latency", "inter_chunk_latency"),
    ("request throughput", "request_throughput"),
    ("output token throughput", "output_token_throughput"),
    ("total token throughput", "total_token_throughput"),
    ("request count", "request_count"),
    ("error request count", "error_request_count"),
    ("request error rate", "request_error_rate"),
    ("benchmark duration", "benchmark_duration"),
    ("input sequence length", "input_sequence_length"),
    ("output sequence length", "output_sequence_length"),
    ("total input sequence length", "total_isl"),
    ("total output sequence length", "total_osl"),
    ("total output tokens", "total_output_tokens"),
    ("effective concurrency", "effective_concurrency"),
];

#[derive(Debug, Default)]
struct Metric {
    unit: Option<String>,
    stats: BTreeMap<String, f64>,
}

/// It is an export if its first column has names of metrics.
pub(super) fn recognise(rows: &[CsvRow]) -> Option<Recognised> {
    let first = rows.iter().find(|row| row.cells.iter().any(|cell| !cell.trim().is_empty()))?;
    let known = first.cells[0].trim() == "Metric" && first.cells.len() > 1;
    let names = rows.iter().filter_map(|row| metric(name_and_unit(row.cells.first()?).0)).count();
    known.then(|| match names {
        0 => Recognised::possible(["Metric"]),
        _ => Recognised::likely(["Metric"]),
    })
}

/// A metric by its displayed name.
fn metric(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(words, _)| name.eq_ignore_ascii_case(words)).map(|(_, metric)| *metric)
}

/// Only AIPerf writes the standard deviation or the sum, and the duration.
fn is_aiperf(metrics: &BTreeMap<String, Metric>) -> bool {
    let own = |metric: &Metric| ["std", "sum"].iter().any(|stat| metric.stats.contains_key(*stat));
    metrics.contains_key("benchmark_duration") || metrics.values().any(own)
}

/// Reads an export.
pub(super) fn read(reading: &mut Reading, rows: &[CsvRow]) {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    let mut figures = BTreeMap::new();
    let mut heading: Vec<String> = Vec::new();
    let mut began = None;
    for row in rows {
        let cells: Vec<&str> = row.cells.iter().map(|cell| cell.trim()).collect();
        if cells.iter().all(|cell| cell.is_empty()) {
            continue;
        }
        if cells[0] == "Metric" || cells[0] == "Endpoint" {
            heading = cells.iter().map(|cell| (*cell).to_owned()).collect();
            began.get_or_insert(row.line);
            continue;
        }
        if heading.first().map(String::as_str) != Some("Metric") {
            // GPU metrics are not metrics of a level.
            continue;
        }
        if cells.len() != heading.len() {
            let values = values![cells[0], cells.len(), heading.len()];
            reading.problems.push(Problem::CellsUnderHeading.with(values).at(row.line));
            continue;
        }
        let (name, unit) = name_and_unit(cells[0]);
        let mut metric = Metric { unit: unit.map(str::to_owned), ..Metric::default() };
        for (stat, cell) in heading.iter().zip(&cells).skip(1) {
            let Some(value) = csv::number(cell) else { continue };
            figures.insert(format!("{}.{stat}", cells[0]), value);
            let stat = if stat == "Value" { "avg" } else { stat };
            metric.stats.insert(stat.to_owned(), value);
        }
        if let Some(name) = self::metric(name) {
            metrics.insert(name.to_owned(), metric);
        }
    }
    finish(reading, &metrics, figures, began);
}

fn finish(
    reading: &mut Reading,
    metrics: &BTreeMap<String, Metric>,
    figures: BTreeMap<String, f64>,
    line: Option<u64>,
) {
    if metrics.is_empty() {
        reading.problems.push(Diagnostic::from(Problem::NoKnownMetric).at(line));
        return;
    }
    let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
    found.stated.reported = Some(Reported { file: None, line, figures });
    let stat = |metric: &str, stat: &str| metrics.get(metric)?.stats.get(stat).copied();
    let unit = |metric: &str| metrics.get(metric)?.unit.clone();
    export::fill_metrics(&mut found.stated, &mut reading.problems, line.unwrap_or(1), &stat, &unit);
    export::without_false_ttft(&mut found, None, &mut reading.problems);
    let tool = if is_aiperf(metrics) { "aiperf" } else { "genai-perf" };
    let origin = reading.origin(tool, line);
    reading.add_run(RunHead::new(origin), vec![found]);
}
