//! The figures that charts can show, each over all levels: what they are called and where they come
//! from.

use super::words::Word;
pub(super) use crate::chart::{Value, statistic};
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::summary::{Distribution, LevelSummary, Summary, Throughput};

/// A figure of all levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// As an SLO would call it, where one could.
    pub(super) id: String,
    pub(super) group: Word,
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) values: Vec<Option<Value>>,
}

type Plain = fn(&LevelSummary) -> Option<f64>;
type Rate = fn(Throughput) -> Option<f64>;
type Which = fn(&LevelSummary) -> Option<&Distribution>;

/// Times: what an SLO calls them, and their name.
pub(super) const TIMES: [(&str, Word, Which); 7] = [
    ("ttft", Word::Ttft, |level| level.ttft_ms.as_ref()),
    ("itl", Word::Itl, |level| level.itl_ms.as_ref()),
    ("tpot", Word::Tpot, |level| level.tpot_ms.as_ref()),
    ("latency", Word::Latency, |level| level.latency_ms.as_ref()),
    ("scheduled.ttft", Word::ScheduledTtft, |level| level.ttft_scheduled_ms.as_ref()),
    ("scheduled.latency", Word::ScheduledLatency, |level| level.latency_scheduled_ms.as_ref()),
    ("chunk_gap", Word::ChunkGap, |level| level.chunk_gap_ms.as_ref()),
];

const STATISTICS: [&str; 5] = ["p50", "p90", "p99", "mean", "max"];

/// Figures that are not times.
const OTHERS: [(&str, Word, Word, &str, Plain); 12] = [
    ("goodput", Word::Work, Word::Goodput, "req/s", |level| level.slo.as_ref()?.goodput_per_s),
    ("per_user", Word::Work, Word::PerUser, "tok/s", per_user),
    ("offered", Word::Work, Word::Offered, "req/s", |level| level.offered_per_s),
    ("in_flight", Word::Requests, Word::InFlight, "", |level| Some(level.concurrency?.mean)),
    ("completed", Word::Requests, Word::Completed, "", |level| count(level.requests.completed)),
    ("failed", Word::Requests, Word::Failed, "", |level| count(level.requests.failed)),
    ("errors", Word::Requests, Word::FailedShare, "%", |level| {
        Some(level.requests.failure_share()? * 100.0)
    }),
    ("duration", Word::Requests, Word::Duration, "s", |level| level.duration_s),
    ("running", Word::Server, Word::Running, "", |level| {
        Some(level.server.as_ref()?.running?.mean)
    }),
    ("waiting", Word::Server, Word::Waiting, "", |level| {
        Some(level.server.as_ref()?.waiting?.mean)
    }),
    ("kv", Word::Server, Word::KvCache, "%", |level| {
        Some(level.server.as_ref()?.kv_use_max? * 100.0)
    }),
    ("cost", Word::Cost, Word::PerMillionOutput, "", |level| level.cost?.per_million_output_tokens),
];

fn count(of: Option<u64>) -> Option<f64> {
    of.map(|count| count as f64)
}

/// Output tokens per second that one user sees: the inverse of the median TPOT.
fn per_user(level: &LevelSummary) -> Option<f64> {
    let tpot = level.tpot_ms.as_ref()?.p50?;
    (tpot > 0.0).then_some(1e3 / tpot)
}

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
    let rates: [(&str, Word, &'static str, Rate); 3] = [
        ("throughput", Word::RequestRate, "req/s", |work| work.requests_per_s),
        ("tokens", Word::OutputRate, "tok/s", |work| work.output_tokens_per_s),
        ("total_tokens", Word::TotalRate, "tok/s", |work| work.total_tokens_per_s),
    ];
    let mut all: Vec<Metric> = Vec::new();
    // What can be compared over all levels comes first, and has the name that an SLO knows.
    for (steady, suffix) in [(steady, ""), (!steady, ".other")] {
        let over = if steady { Word::OverSteady } else { Word::OverWhole }.text(language);
        for (id, name, unit, which) in rates {
            let of = |level: &LevelSummary| work(level, steady).and_then(which).map(plain);
            let name = format!("{}{over}", name.text(language));
            let values = levels.iter().map(of).collect();
            all.push(Metric { id: format!("{id}{suffix}"), group: Word::Work, name, unit, values });
        }
    }
    for (id, name, which) in TIMES {
        for part in STATISTICS {
            let values = levels.iter().map(|level| statistic(which(level)?, part)).collect();
            let name = format!("{} {part}", name.text(language));
            let id = format!("{id}.{part}");
            all.push(Metric { id, group: Word::Times, name, unit: "ms", values });
        }
    }
    for (id, group, name, unit, which) in OTHERS {
        let values = levels.iter().map(|level| which(level).map(plain)).collect();
        let name = name.text(language).to_owned();
        all.push(Metric { id: id.to_owned(), group, name, unit, values });
    }
    all.retain(|metric| metric.values.iter().any(Option::is_some));
    all
}
