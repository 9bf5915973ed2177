//! The JSON exports of AIPerf and GenAI-Perf: one level each, every metric by its name with its unit
//! and statistics. What they call inter-token latency is the mean over a response, Dyno's TPOT. The
//! first versions of AIPerf have the metrics in `records`, with other names for some.

use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, distribution, present, rounded, tokens, unit_ms};
use crate::reading::Reading;
use dyno_form::json::{at, figures, list, number, text, whole};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::{Arrival, LoadKind};
use dyno_model::metric::Time;
use dyno_model::summary::{Concurrency, Distribution, Origin, Recognised, Reported};
use dyno_model::when::utc;
use dyno_words::Problem;
use serde_json::Value;

/// It is an export if its metrics have units.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let by = ["request_latency", "request_throughput"];
    let metrics = metrics_of(value);
    let known = by.iter().all(|name| at(metrics, &[name, "unit"]).is_some());
    known.then(|| Recognised::certain(by))
}

/// The object with the metrics.
fn metrics_of(value: &Value) -> &Value {
    at(value, &["records"]).filter(|records| records.is_object()).unwrap_or(value)
}

/// The name of a metric in the first versions, where it was another.
pub(super) fn first_name(metric: &str) -> &str {
    match metric {
        "time_to_first_token" => "ttft",
        other => other,
    }
}

/// Reads an export.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let version = text(value, &["aiperf_version"]);
    let own = ["schema_version", "run_info", "records"];
    let ours = version.is_some() || own.iter().any(|name| value.get(name).is_some());
    let tool = if ours { "aiperf" } else { "genai-perf" };
    let metrics = metrics_of(value);
    let of = |metric: &str| at(metrics, &[metric]).or_else(|| at(metrics, &[first_name(metric)]));
    let (offered, remark) = offered(value);
    let mut found = StatedLevel::new(offered);
    found.extras.burstiness = found.arrival.map(Arrival::burstiness);
    found.stated.input_length = length(config(value), "input_tokens", "synthetic_tokens");
    found.stated.output_length = length(config(value), "output_tokens", "output_tokens");
    found.stated.reported =
        Some(Reported { file: None, line: Some(line), figures: figures_of(metrics) });
    let cut_short = at(value, &["was_cancelled"]).and_then(Value::as_bool) == Some(true)
        || at(value, &["is_complete"]).and_then(Value::as_bool) == Some(false);
    found.stated.partial = cut_short;
    let planned = number(config(value), &["loadgen", "request_count"]).and_then(whole);
    found.stated.requests.planned = planned.filter(|_| !cut_short);
    fill_metrics(
        &mut found.stated,
        &mut reading.problems,
        line,
        &|metric, stat| number(of(metric)?, &[stat]),
        &|metric| text(of(metric)?, &["unit"]),
    );
    if let Some(remark) = remark {
        found.note(&mut reading.problems, remark);
    }
    let streaming = at(config(value), &["endpoint", "streaming"]).and_then(Value::as_bool);
    without_false_ttft(&mut found, streaming, &mut reading.problems);
    let model = model(value);
    let origin = Origin { version, ..reading.origin(tool, line) };
    let first = number(metrics, &["min_request_timestamp", "avg"]).filter(|first| *first > 0.0);
    let head = RunHead {
        label: model.clone(),
        model,
        target: target(value),
        started: first.map(|first| utc(first as u64)),
        ..RunHead::new(origin)
    };
    reading.exports.push((head, found));
}

/// Removes the TTFT of responses that were not streamed. GenAI-Perf has one in any case, which is the
/// latency of the whole response.
pub(super) fn without_false_ttft(
    found: &mut StatedLevel,
    streaming: Option<bool>,
    problems: &mut Vec<Diagnostic>,
) {
    let [ttft, latency] = [Time::Ttft, Time::Latency].map(|time| {
        let times = found.stated.times[time].as_ref();
        times.map(|times| (times.mean, times.min, times.max))
    });
    let whole = ttft.is_some() && ttft == latency;
    if (whole || streaming == Some(false)) && found.stated.times[Time::Ttft].take().is_some() {
        found.note(problems, Problem::NotStreamed.into());
    }
}

/// All values except the settings.
fn figures_of(value: &Value) -> std::collections::BTreeMap<String, f64> {
    let mut all = figures(value);
    all.retain(|name, _| !name.starts_with("input_config.") && !name.starts_with("run_info."));
    all
}

/// Converts metrics to Dyno's terms, by functions that return a statistic and a unit.
pub(crate) fn fill_metrics(
    stated: &mut LevelSummary,
    problems: &mut Vec<Diagnostic>,
    line: u64,
    stat: &dyn Fn(&str, &str) -> Option<f64>,
    unit: &dyn Fn(&str) -> Option<String>,
) {
    let avg = |metric: &str| present(stat(metric, "avg"));
    let mut times = |metric: &str| -> Option<Distribution> {
        let unit = unit(metric)?;
        let Some(in_ms) = unit_ms(&unit) else {
            problems.push(Problem::TimeUnit.with([metric, &unit]).at(line));
            return None;
        };
        distribution(stat(metric, "count").and_then(whole), in_ms, |name| match name {
            "mean" => stat(metric, "avg"),
            other => stat(metric, other),
        })
    };
    stated.times[Time::Ttft] = times("time_to_first_token");
    stated.times[Time::Latency] = times("request_latency");
    stated.times[Time::Tpot] = times("inter_token_latency");
    stated.times[Time::ChunkGap] = times("inter_chunk_latency");
    stated.throughput.requests_per_s = avg("request_throughput");
    stated.throughput.output_tokens_per_s = avg("output_token_throughput");
    stated.throughput.total_tokens_per_s = avg("total_token_throughput");
    let count = |metric: &str| avg(metric).and_then(whole);
    stated.requests.completed = count("request_count");
    stated.requests.failed = count("error_request_count").or_else(|| {
        // Without errors the metric is left out; the rate of errors is not.
        avg("request_error_rate").filter(|rate| *rate == 0.0).map(|_| 0)
    });
    let seconds = unit("benchmark_duration").and_then(|unit| unit_ms(&unit)).unwrap_or(1e3) / 1e3;
    stated.duration_s = avg("benchmark_duration").map(|duration| rounded(duration * seconds));
    let done = stated.requests.completed;
    let total = |one: &str, other: &str| count(one).or_else(|| count(other));
    stated.input_tokens = tokens(total("total_isl", "-"), avg("input_sequence_length"), done);
    stated.output_tokens =
        tokens(total("total_osl", "total_output_tokens"), avg("output_sequence_length"), done);
    let peak = present(stat("effective_concurrency", "max")).and_then(whole);
    stated.concurrency = avg("effective_concurrency").zip(peak).map(|(mean, peak)| Concurrency {
        mean,
        peak,
        growth: None,
    });
}

fn config(value: &Value) -> &Value {
    at(value, &["input_config"]).unwrap_or(&Value::Null)
}

/// How requests were offered: by the last phase, or by the settings of older versions; and a note on it.
fn offered(value: &Value) -> (Offered, Option<Diagnostic>) {
    let config = config(value);
    let phases = list(config, &["phases"]).map_or(&[][..], Vec::as_slice);
    let measured = |phase: &&Value| text(phase, &["kind"]).as_deref() != Some("warmup");
    let phase = phases.iter().rev().find(measured).unwrap_or(&Value::Null);
    let settings = [
        phase,
        at(config, &["loadgen"]).unwrap_or(&Value::Null),
        at(config, &["perf_analyzer", "stimulus"]).unwrap_or(&Value::Null),
        config,
    ];
    let given = |name: &str| {
        settings.iter().find_map(|one| number(one, &[name]).filter(|value| *value > 0.0))
    };
    let named = |name: &str| settings.iter().find_map(|one| text(one, &[name]));
    let pattern = named("arrival_pattern").or_else(|| named("request_rate_mode"));
    let arrival = match pattern.as_deref() {
        Some("poisson") => Some(Arrival::Poisson),
        Some("constant") => Some(Arrival::Constant),
        _ => None,
    };
    let rate = given("request_rate").or_else(|| given("rate"));
    match (rate, given("concurrency")) {
        (Some(rate), slots) => {
            let remark = slots.map(|slots| Problem::RateAndLimit.with([rate, slots]));
            (Offered::rate(rate, arrival), remark)
        }
        (None, Some(slots)) => (Offered::concurrency(slots), None),
        (None, None) => (Offered::plain(LoadKind::Unknown), None),
    }
}

/// The length that was asked for, of generated prompts and if it does not vary. `name` is AIPerf's,
/// `older` GenAI-Perf's.
fn length(config: &Value, name: &str, older: &str) -> Option<u32> {
    let input = at(config, &["input"])?;
    let from_file = ["file", "public_dataset", "custom_dataset_type"];
    if from_file.iter().any(|name| text(input, &[name]).is_some()) {
        return None;
    }
    let length = at(input, &["prompt", name]).or_else(|| at(input, &[older]))?;
    let fixed = number(length, &["stddev"]) == Some(0.0);
    let tokens = number(length, &["mean"]).filter(|_| fixed).and_then(whole)?;
    u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)
}

fn model(value: &Value) -> Option<String> {
    let config = config(value);
    let first = |path: &[&str]| list(config, path)?.first()?.as_str().map(str::to_owned);
    let item = || text(list(config, &["models", "items"])?.first()?, &["name"]);
    item()
        .or_else(|| first(&["endpoint", "model_names"]))
        .or_else(|| first(&["model_names"]))
        .or_else(|| first(&["model"]))
        .or_else(|| text(config, &["formatted_model_name"]))
}

fn target(value: &Value) -> Option<String> {
    let endpoint = at(config(value), &["endpoint"])?;
    let listed = || list(endpoint, &["urls"])?.first()?.as_str().map(str::to_owned);
    listed().or_else(|| text(endpoint, &["url"]))
}
