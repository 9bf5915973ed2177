//! The pivot table of the evalscope-perf wrapper, metrics by concurrency, and EvalScope's summary of
//! each level. Times are in seconds.

use super::cells::{fixed, markdown, mean, row, seconds, whole};
use crate::messages::Label;
use crate::text::ABSENT;
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary, Summary};

/// A percentile with its name.
type Percentile = (&'static str, fn(&Distribution) -> Option<f64>);

const PERCENTILES: [Percentile; 8] = [
    ("p50", |d| d.p50),
    ("p66", |d| d.p66),
    ("p75", |d| d.p75),
    ("p80", |d| d.p80),
    ("p90", |d| d.p90),
    ("p95", |d| d.p95),
    ("p98", |d| d.p98),
    ("p99", |d| d.p99),
];

/// The pivot table, then the blocks.
pub(super) fn evalscope(summary: &Summary, language: Language) -> String {
    let names = names(&summary.levels);
    let mut out = pivot(&summary.levels, &names, language);
    for (level, name) in summary.levels.iter().zip(&names) {
        let parallel =
            if parallel(level).is_some_and(|n| n.to_string() == *name) { "parallel " } else { "" };
        out.push_str(&format!("\n- {parallel}{name}\n```\n{}```\n", block(level)));
    }
    out
}

/// The names of levels: their concurrency, where that distinguishes them, else their labels.
fn names(levels: &[LevelSummary]) -> Vec<String> {
    let alone = |level: &LevelSummary| {
        let parallel = parallel(level);
        parallel.filter(|_| levels.iter().filter(|l| self::parallel(l) == parallel).count() == 1)
    };
    let name = |level: &LevelSummary| {
        alone(level).map_or_else(|| markdown(&level.label), |parallel| parallel.to_string())
    };
    levels.iter().map(name).collect()
}

/// The concurrency: the slots of a closed loop, or all requests of a burst.
fn parallel(level: &LevelSummary) -> Option<u64> {
    let at_once = matches!(level.load.kind, LoadKind::Concurrency | LoadKind::Burst);
    level.load.value.filter(|_| at_once).map(|value| value as u64)
}

fn pivot(levels: &[LevelSummary], names: &[String], language: Language) -> String {
    let named = |name: &str, cell: &dyn Fn(&LevelSummary) -> String| {
        let cells = levels.iter().map(cell);
        row(&std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>())
    };
    let text = |message: Label| message.text(language);
    let latency = |level: &LevelSummary, percentile: fn(&Distribution) -> Option<f64>| {
        fixed(seconds(level.times[Time::Latency].as_ref().and_then(percentile)), 4)
    };
    let first = std::iter::once(text(Label::Metric).to_owned());
    let mut out = row(&first.chain(names.iter().cloned()).collect::<Vec<_>>());
    out.push_str(&named("---", &|_| "---".to_owned()));
    out.push_str(&named(text(Label::TimeTaken), &|level| fixed(level.duration_s, 3)));
    out.push_str(&named(text(Label::Qps), &|level| fixed(level.throughput.requests_per_s, 3)));
    out.push_str(&named(text(Label::MeanLatency), &|level| {
        fixed(seconds(mean(&level.times[Time::Latency])), 3)
    }));
    out.push_str(&named(text(Label::Throughput), &|level| {
        fixed(level.throughput.output_tokens_per_s, 3)
    }));
    out.push_str(&named("p50", &|level| latency(level, |d| d.p50)));
    out.push_str(&named("p90", &|level| latency(level, |d| d.p90)));
    if levels.iter().any(|level| level.requests.refused() > Some(0)) {
        let failed = |level: &LevelSummary| whole(level.requests.refused());
        out.push_str(&named(text(Label::Failed), &failed));
    }
    out
}

fn block(level: &LevelSummary) -> String {
    let requests = &level.requests;
    let done = &level.throughput;
    let gaps = level.times[Time::ChunkGap].as_ref();
    let completed = requests.completed.filter(|completed| *completed > 0);
    let packages = gaps.and_then(|gaps| gaps.count).zip(completed);
    let packages = packages.map(|(gaps, completed)| gaps as f64 / completed as f64);
    let per_token = done.output_tokens_per_s.filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate);
    let taken = level.duration_s.map_or_else(|| ABSENT.to_owned(), |s| format!("{s:.3} seconds"));
    // EvalScope's own values take precedence over those that Dyno computes.
    let stated = |name: &'static str, value: Option<f64>, decimals: usize| {
        (name, fixed(level.stated(name).or(value), decimals))
    };
    let lines = [
        ("Time taken for tests", taken),
        ("Expected number of requests", whole(requests.planned)),
        ("Number of concurrency", whole(parallel(level))),
        (
            "Total requests",
            whole(requests.completed.zip(requests.refused()).map(|(done, failed)| done + failed)),
        ),
        ("Succeed requests", whole(requests.completed)),
        ("Failed requests", whole(requests.refused())),
        ("Average QPS", fixed(done.requests_per_s, 3)),
        ("Average latency", fixed(seconds(mean(&level.times[Time::Latency])), 3)),
        ("Throughput(average output tokens per second)", fixed(done.output_tokens_per_s, 3)),
        ("Average time to first token", fixed(seconds(mean(&level.times[Time::Ttft])), 3)),
        ("Average input tokens per request", fixed(level.input_tokens.map(|t| t.mean), 3)),
        ("Average output tokens per request", fixed(level.output_tokens.map(|t| t.mean), 3)),
        stated("Average time per output token", per_token, 5),
        stated("Average package per request", packages, 3),
        ("Average package latency", fixed(seconds(mean(&level.times[Time::ChunkGap])), 3)),
    ];
    let mut out = "Benchmarking summary: \n".to_owned();
    for (name, value) in lines {
        out.push_str(&format!(" {name}: {value}\n"));
    }
    out.push_str(&percentiles("time to first token", &level.times[Time::Ttft]));
    out.push_str(&percentiles("request latency", &level.times[Time::Latency]));
    out
}

fn percentiles(name: &str, of: &Option<Distribution>) -> String {
    let mut out = format!(" Percentile of {name}: \n");
    for (percentile, value) in PERCENTILES {
        let value = fixed(seconds(of.as_ref().and_then(value)), 4);
        out.push_str(&format!("     {percentile}: {value}\n"));
    }
    out
}
