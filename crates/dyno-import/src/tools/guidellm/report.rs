//! Reports of guidellm from 0.2 on: one object with a list of benchmarks, each a level. What it
//! calls inter-token latency is the mean over a response, which is Dyno's TPOT; its own time per output
//! token is defined differently from version to version and only kept as a reported value.

use super::lengths::Lengths;
use super::requests;
use crate::level::RunHead;
use crate::level::stated::{
    Offered, StatedLevel, distribution, present, rounded, started_at, tokens,
};
use crate::reading::{MOST_LEVELS, Reading};
use dyno_form::json::{at, count, figures, list, number, text, whole};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::Arrival;
use dyno_model::summary::{Concurrency, Distribution, Origin, Recognised, Reported};
use dyno_words::Problem;
use serde_json::Value;

const SECOND_MS: f64 = 1e3;

/// It is a report if its benchmarks have metrics.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let benchmarks = list(value, &["benchmarks"])?;
    let stated = |one: &Value| one.get("metrics").is_some() && one.get("results").is_none();
    let kinds = ["args", "config", "run_stats", "scheduler_metrics", "requests"];
    let own = |one: &Value| stated(one) && kinds.iter().any(|name| one.get(name).is_some());
    if at(value, &["metadata", "guidellm_version"]).is_some() {
        return Some(Recognised::certain(["benchmarks", "guidellm_version"]));
    }
    benchmarks.iter().any(own).then(|| Recognised::certain(["benchmarks", "metrics"]))
}

/// Reads a report.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let Some(benchmarks) = list(value, &["benchmarks"]) else { return };
    let version = text(value, &["metadata", "guidellm_version"]);
    let form = match benchmarks.first() {
        Some(first) if first.get("config").is_some() => reading.form().to_owned(),
        // Up to 0.3 a report does not state its version.
        _ => format!("{} 0.2", reading.form()),
    };
    let of_first = |paths: &[&[&str]]| {
        paths.iter().find_map(|path| benchmarks.iter().find_map(|one| text(one, path)))
    };
    let head = RunHead {
        model: of_first(&[&["config", "backend", "model"], &["worker", "backend_model"]]),
        target: of_first(&[&["config", "backend", "target"], &["worker", "backend_target"]]),
        started: started(benchmarks),
        ..RunHead::new(Origin { form, version, ..reading.origin("guidellm", line) })
    };
    let mut levels = Vec::new();
    for (i, benchmark) in benchmarks.iter().take(MOST_LEVELS + 1).enumerate() {
        if at(benchmark, &["metrics"]).is_none() {
            reading.problems.push(Problem::NoMetrics.with([i + 1]).at(line));
            continue;
        }
        let lengths = Lengths::of(value, benchmark);
        levels.push(level(benchmark, lengths, &mut reading.problems));
    }
    if levels.is_empty() {
        reading.problems.push(Problem::ReportEmpty.with(["guidellm"]).at(line));
    } else {
        reading.add_run(RunHead { label: head.model.clone(), ..head }, levels);
    }
}

/// When the first benchmark began.
fn started(benchmarks: &[Value]) -> Option<String> {
    let first = benchmarks.first()?;
    let times: [&[&str]; 3] =
        [&["scheduler_metrics", "start_time"], &["run_stats", "start_time"], &["start_time"]];
    started_at(times.iter().find_map(|path| number(first, path))?)
}

fn level(benchmark: &Value, lengths: Lengths, problems: &mut Vec<Diagnostic>) -> StatedLevel {
    let mut found = StatedLevel::new(offered(benchmark));
    let stated = &mut found.stated;
    let metrics = &benchmark["metrics"];
    let mut all = figures(metrics);
    for name in ["duration", "start_time", "end_time", "warmup_duration", "cooldown_duration"] {
        all.extend(number(benchmark, &[name]).map(|number| (name.to_owned(), number)));
    }
    stated.reported = Some(Reported { file: None, line: None, figures: all });
    let totals = at(benchmark, &["request_totals"]).or_else(|| at(metrics, &["request_totals"]));
    let total = |name: &str| totals.and_then(|totals| count(totals, &[name]));
    stated.requests.planned = total("total");
    stated.requests.completed = total("successful");
    stated.requests.failed = total("errored");
    stated.requests.censored = total("incomplete");
    stated.duration_s = present(number(benchmark, &["duration"]));
    let mean = |name: &str| present(number(metrics, &[name, "successful", "mean"]));
    stated.throughput.requests_per_s = mean("requests_per_second");
    stated.throughput.output_tokens_per_s = mean("output_tokens_per_second");
    stated.throughput.total_tokens_per_s = mean("tokens_per_second");
    let in_flight = |stat: &str| number(metrics, &["request_concurrency", "successful", stat]);
    stated.concurrency = in_flight("mean")
        .zip(in_flight("max").map(f64::round).and_then(whole))
        .map(|(mean, peak)| Concurrency { mean: rounded(mean), peak, growth: None });
    stated.times[Time::Ttft] = times(metrics, "time_to_first_token_ms", 1.0);
    // Its samples are tokens: a response of a hundred tokens counts a hundred times.
    stated.times[Time::Tpot] = times(metrics, "inter_token_latency_ms", 1.0)
        .map(|weighted| Distribution { count: None, ..weighted });
    stated.times[Time::Latency] = times(metrics, "request_latency", SECOND_MS);
    stated.times[Time::LatencyScheduled] = times(metrics, "request_scheduled_latency", SECOND_MS)
        .filter(|_| stated.load.kind == LoadKind::Rate);
    let token = |name: &str| {
        let stat = |stat: &str| number(metrics, &[name, "successful", stat]);
        let counted = count(metrics, &[name, "successful", "count"]);
        let requests = counted.or(stated.requests.completed).filter(|count| *count > 0)?;
        tokens(stat("total_sum").and_then(whole), stat("mean"), Some(requests))
    };
    stated.input_tokens = token("prompt_token_count");
    stated.output_tokens = token("output_token_count");
    (stated.input_length, stated.output_length) = (lengths.input, lengths.output);
    requests::add(&mut found, benchmark, problems);
    found
}

fn times(metrics: &Value, name: &str, unit_ms: f64) -> Option<Distribution> {
    let one = at(metrics, &[name, "successful"])?;
    distribution(count(one, &["count"]), unit_ms, |stat| match stat {
        "mean" | "min" | "max" => number(one, &[stat]),
        "std" => number(one, &["std_dev"]),
        "p99.9" => number(one, &["percentiles", "p999"]),
        // Up to 0.3 the median is not among the percentiles.
        "p50" => number(one, &["percentiles", stat]).or_else(|| number(one, &["median"])),
        other => number(one, &["percentiles", other]),
    })
}

fn offered(benchmark: &Value) -> Offered {
    let strategy = at(benchmark, &["config", "strategy"]);
    let strategy =
        strategy.or_else(|| at(benchmark, &["args", "strategy"])).unwrap_or(&Value::Null);
    let rate = number(strategy, &["rate"]);
    let streams = number(strategy, &["streams"]);
    let kind = text(strategy, &["type_"]);
    match (kind.as_deref(), rate, streams) {
        (Some("synchronous"), ..) => Offered::concurrency(1.0),
        (Some("concurrent"), _, Some(streams)) => Offered::concurrency(streams),
        (Some("concurrent"), ..) => Offered::plain(LoadKind::Concurrency),
        (Some("constant"), Some(rate), _) => Offered::rate(rate, Some(Arrival::Constant)),
        (Some("poisson"), Some(rate), _) => Offered::rate(rate, Some(Arrival::Poisson)),
        (Some("constant" | "poisson"), ..) => Offered::plain(LoadKind::Rate),
        (Some("throughput"), ..) => Offered::plain(LoadKind::Unlimited),
        (Some("trace"), ..) => Offered::plain(LoadKind::Trace),
        _ => Offered::plain(LoadKind::Unknown),
    }
}
