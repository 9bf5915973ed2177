//! The metrics that charts can show, each over all levels: their names and where they come from.

use super::words::Word;
pub(super) use dyno_draw::{LevelValue, statistic};
use dyno_model::Language;
use dyno_model::metric::{Column, Metric as Registered, MetricGroup, Place};
use dyno_model::summary::{Basis, LevelSummary, Summary};

/// A metric of all levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// As in an SLO, where an SLO can have it.
    pub(super) id: String,
    pub(super) group: MetricGroup,
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) values: Vec<Option<LevelValue>>,
}

impl Metric {
    fn new(metric: Registered, id: String, name: String, values: Vec<Option<LevelValue>>) -> Self {
        let (group, unit) = (metric.info().group, metric.unit().name());
        Self { id, group, name, unit, values }
    }
}

/// Throughput, over the steady window or the whole level.
const RATES: [Registered; 6] = [
    Registered::RequestRate,
    Registered::OutputRate,
    Registered::TotalRate,
    Registered::InputRate,
    Registered::InputTokenRate,
    Registered::BodyRate,
];

/// What the total is the same as, where nothing is generated.
fn is_shown(metric: Registered, levels: &[LevelSummary]) -> bool {
    metric != Registered::TotalRate || !levels.iter().any(LevelSummary::has_inputs)
}

fn plain(value: f64) -> LevelValue {
    LevelValue { value, interval: None, few: false, rough: false }
}

/// All metrics that some level of the run has.
pub(super) fn metrics(summary: &Summary, language: Language) -> Vec<Metric> {
    let levels = &summary.levels;
    let basis = Basis::of(levels);
    let mut all: Vec<Metric> = Vec::new();
    // What can be compared over all levels comes first, under the name that SLOs use.
    for (basis, suffix) in [(basis, ""), (basis.other(), ".other")] {
        let over = if basis.is_steady() { Word::OverSteady } else { Word::OverWhole };
        let over = over.text(language);
        for metric in RATES.into_iter().filter(|metric| is_shown(*metric, levels)) {
            let of = |level: &LevelSummary| basis.rate(level, metric).map(plain);
            let id = format!("{}{suffix}", metric.name());
            let name = format!("{}{over}", metric.label(language));
            all.push(Metric::new(metric, id, name, levels.iter().map(of).collect()));
        }
    }
    all.extend(other_than_rates(summary, language));
    all.retain(|metric| metric.values.iter().any(Option::is_some));
    all
}

/// The same for runs that are compared; throughput is over the same for all of them.
pub(super) fn compared(summary: &Summary, basis: Basis, language: Language) -> Vec<Metric> {
    let levels = &summary.levels;
    let rate = |metric: Registered| {
        let of = |level: &LevelSummary| basis.rate(level, metric).map(plain);
        let (id, name) = (metric.name().to_owned(), metric.label(language).to_owned());
        Metric::new(metric, id, name, levels.iter().map(of).collect())
    };
    let mut all: Vec<Metric> =
        RATES.into_iter().filter(|metric| is_shown(*metric, levels)).map(rate).collect();
    all.extend(other_than_rates(summary, language));
    all.retain(|metric| metric.values.iter().any(Option::is_some));
    all
}

fn other_than_rates(summary: &Summary, language: Language) -> Vec<Metric> {
    let levels = &summary.levels;
    let mut all: Vec<Metric> = Vec::new();
    for Column { metric, statistics } in Place::PageChart.metrics() {
        if RATES.contains(&metric) {
            continue;
        }
        let label = metric.label(language);
        let all_of = |time| summary.charted(time, statistics);
        for which in metric.time().map(all_of).unwrap_or_default() {
            let of = |level: &LevelSummary| statistic(level, metric.time()?, which);
            let id = format!("{}.{}", metric.name(), which.name());
            let name = metric.label_with(which.label(language), language);
            all.push(Metric::new(metric, id, name, levels.iter().map(of).collect()));
        }
        if statistics.is_empty() {
            let values = levels.iter().map(|level| metric.value(level).map(plain)).collect();
            all.push(Metric::new(metric, metric.name().to_owned(), label.to_owned(), values));
        }
    }
    all
}
