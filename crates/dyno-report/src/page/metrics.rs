//! The figures that charts can show, each over all levels: what they are called and where they come
//! from.

use super::words::Word;
pub(super) use crate::chart::{Value, statistic};
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::metric::{Column, Group, Metric as Registered, Place};
use dyno_model::summary::{LevelSummary, Summary, Throughput};

/// A figure of all levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// As an SLO would call it, where one could.
    pub(super) id: String,
    pub(super) group: Group,
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) values: Vec<Option<Value>>,
}

impl Metric {
    fn new(metric: Registered, id: String, name: String, values: Vec<Option<Value>>) -> Self {
        let (group, unit) = (metric.info().group, metric.unit().name());
        Self { id, group, name, unit, values }
    }
}

type Rate = fn(Throughput) -> Option<f64>;

/// Work, over the steady window or the whole level.
const RATES: [(Registered, Rate); 3] = [
    (Registered::RequestRate, |work| work.requests_per_s),
    (Registered::OutputRate, |work| work.output_tokens_per_s),
    (Registered::TotalRate, |work| work.total_tokens_per_s),
];

/// Every level that counts has a steady window, so that figures of such windows can be compared.
fn all_steady(summary: &Summary) -> bool {
    let counts = |level: &&LevelSummary| level.verdict != Verdict::Invalid;
    let mut counted = summary.levels.iter().filter(counts).peekable();
    counted.peek().is_some() && counted.all(|level| level.steady.is_some())
}

/// The work per second that charts and headlines compare.
fn work(level: &LevelSummary, steady: bool) -> Option<Throughput> {
    if steady { level.steady.map(|window| window.throughput) } else { Some(level.throughput) }
}

/// All figures of which some level has one.
pub(super) fn metrics(summary: &Summary, language: Language) -> Vec<Metric> {
    let levels = &summary.levels;
    let plain = |value: f64| Value { value, interval: None, few: false };
    let steady = all_steady(summary);
    let columns = Place::PageChart.metrics();
    let is_rate = |column: &&Column| RATES.iter().any(|(metric, _)| *metric == column.metric);
    let mut all: Vec<Metric> = Vec::new();
    // What can be compared over all levels comes first, and has the name that an SLO knows.
    for (steady, suffix) in [(steady, ""), (!steady, ".other")] {
        let over = if steady { Word::OverSteady } else { Word::OverWhole }.text(language);
        for (metric, which) in RATES {
            let of = |level: &LevelSummary| work(level, steady).and_then(which).map(plain);
            let id = format!("{}{suffix}", metric.name());
            let name = format!("{}{over}", metric.label(language));
            all.push(Metric::new(metric, id, name, levels.iter().map(of).collect()));
        }
    }
    for Column { metric, statistics } in columns.iter().filter(|column| !is_rate(column)) {
        let label = metric.label(language);
        for which in *statistics {
            let of = |level: &LevelSummary| statistic(metric.distribution(level)?, *which);
            let id = format!("{}.{}", metric.name(), which.name());
            let name = format!("{label} {}", which.name());
            all.push(Metric::new(*metric, id, name, levels.iter().map(of).collect()));
        }
        if statistics.is_empty() {
            let values = levels.iter().map(|level| metric.value(level).map(plain)).collect();
            all.push(Metric::new(*metric, metric.name().to_owned(), label.to_owned(), values));
        }
    }
    all.retain(|metric| metric.values.iter().any(Option::is_some));
    all
}
