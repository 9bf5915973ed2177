//! The table of guidellm 0.1: means, one row per level. Its inter token latency is the mean time
//! between two events of a stream: Dyno's chunk gap.

use super::cells::{markdown, mean, row, seconds, with_unit};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{LevelSummary, Summary};

const HEADINGS: [&str; 6] = [
    "Benchmark",
    "Requests per Second",
    "Request Latency",
    "Time to First Token",
    "Inter Token Latency",
    "Output Token Throughput",
];

/// The table.
pub(super) fn guidellm(summary: &Summary) -> String {
    let swept = summary.levels.iter().any(|level| level.load.kind == LoadKind::Rate);
    let mut out = row(&HEADINGS.map(str::to_owned)) + &row(&HEADINGS.map(|_| ":---:".to_owned()));
    let names: Vec<String> = summary.levels.iter().map(|level| benchmark(level, swept)).collect();
    for (level, name) in summary.levels.iter().zip(&names) {
        // A name that several rows share would not distinguish them.
        let alone = names.iter().filter(|other| *other == name).count() == 1;
        out.push_str(&row(&[
            if alone { name.clone() } else { markdown(&level.label) },
            with_unit(level.throughput.requests_per_s, 2, "req/sec"),
            with_unit(seconds(mean(&level.times[Time::Latency])), 2, "sec"),
            with_unit(mean(&level.times[Time::Ttft]), 2, "ms"),
            with_unit(mean(&level.times[Time::ChunkGap]), 2, "ms"),
            with_unit(level.throughput.output_tokens_per_s, 2, "tokens/sec"),
        ]));
    }
    out
}

/// guidellm's name for such a load. A closed loop next to rates is its throughput benchmark.
fn benchmark(level: &LevelSummary, swept: bool) -> String {
    match (level.load.kind, level.load.value) {
        (LoadKind::Concurrency, Some(1.0)) => "synchronous".to_owned(),
        (LoadKind::Concurrency, _) if swept => "throughput".to_owned(),
        (LoadKind::Concurrency, Some(value)) => format!("concurrent@{value}"),
        (LoadKind::Burst | LoadKind::Unlimited, _) => "throughput".to_owned(),
        (LoadKind::Rate, Some(value)) => format!("asynchronous@{value:.2} req/sec"),
        _ => markdown(&level.label),
    }
}
