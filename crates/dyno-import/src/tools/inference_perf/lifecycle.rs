//! `stage_N_lifecycle_metrics.json` and `summary_lifecycle_metrics.json`: times in seconds, percentiles by
//! their names. A stage states its rate; the summary of all stages states none.

use super::NAME;
use super::run::Part;
use crate::level::stated::{Offered, StatedLevel, distribution, present, tokens};
use crate::reading::Reading;
use dyno_form::json::{at, count, figures, number, whole};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Recognised, Reported, Tokens};
use serde_json::Value;

const SECOND_MS: f64 = 1e3;
/// The counts of two tokenizers differ by more than this.
const SAME_TOKENS: f64 = 0.005;

/// It is a report of requests if it has their latencies or failures.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    count(value, &["load_summary", "count"])?;
    at(value, &["successes", "count"]).or_else(|| at(value, &["successes", "latency"]))?;
    Some(Recognised::certain(["load_summary", "successes"]))
}

/// The server's metrics have the same outline, and no load.
pub(super) fn recognise_server(value: &Value) -> Option<Recognised> {
    let empty = at(value, &["load_summary"])?.as_object()?.is_empty();
    at(value, &["successes", "queue_len"])?;
    empty.then(|| Recognised::certain(["load_summary", "queue_len"]))
}

/// Reads the server's metrics: there are none of requests among them.
pub(super) fn read_server(reading: &mut Reading, line: u64, _: &Value) {
    reading.lifecycle.server(line);
}

/// Reads a report.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let found = level(value);
    let part = Part {
        origin: reading.origin(NAME, line),
        stage: found.stated.load.kind != LoadKind::Unknown,
        found,
    };
    reading.lifecycle.add(part);
}

fn level(value: &Value) -> StatedLevel {
    let mut found = StatedLevel::new(offered(value));
    let successes = &value["successes"];
    let stated = &mut found.stated;
    stated.reported = Some(Reported { file: None, line: None, figures: figures(value) });
    stated.requests.planned = count(value, &["load_summary", "count"]);
    stated.requests.completed = count(successes, &["count"]);
    stated.requests.failed = count(value, &["failures", "count"]);
    stated.duration_s =
        present(number(value, &["benchmark_time_seconds"])).filter(|seconds| *seconds > 0.0);
    let completed = stated.requests.completed.filter(|count| *count > 0);
    let none = stated.requests.completed == Some(0);
    let rate = |name: &str| present(number(successes, &["throughput", name])).filter(|_| !none);
    stated.throughput.requests_per_s = rate("requests_per_sec");
    stated.throughput.output_tokens_per_s = rate("output_tokens_per_sec");
    stated.throughput.total_tokens_per_s = rate("total_tokens_per_sec");
    stated.times[Time::Ttft] = times(successes, "time_to_first_token", None);
    stated.times[Time::Latency] = times(successes, "request_latency", completed);
    // Before it counted tokens, it divided by the pieces in which a response was received, of which there
    // may be two to a token. Its inter-token latency is that between pieces, or 0 within one.
    let by_tokens = at(successes, &["token_count_mismatches"]).is_some();
    stated.times[Time::Tpot] =
        times(successes, "time_per_output_token", None).filter(|_| by_tokens);
    stated.input_tokens = of(successes, "prompt_tokens", completed)
        .or_else(|| of(successes, "prompt_len", completed));
    stated.output_tokens = output_tokens(successes, completed);
    found
}

fn offered(value: &Value) -> Offered {
    let load = |name: &str| number(value, &["load_summary", name]).filter(|value| *value > 0.0);
    match (load("concurrency"), load("requested_rate")) {
        // The rate that it states as well is that at which requests entered its own queue.
        (Some(slots), _) => Offered::concurrency(slots),
        (None, Some(rate)) => Offered::rate(rate, None),
        (None, None) => Offered::plain(LoadKind::Unknown),
    }
}

fn times(successes: &Value, name: &str, counted: Option<u64>) -> Option<Distribution> {
    let one = at(successes, &["latency", name])?;
    distribution(counted, SECOND_MS, |stat| match stat {
        "p50" => number(one, &["median"]).or_else(|| number(one, &[stat])),
        other => number(one, &[other]),
    })
}

fn of(successes: &Value, name: &str, completed: Option<u64>) -> Option<Tokens> {
    let stat = |stat: &str| number(successes, &[name, stat]);
    tokens(stat("total").and_then(whole), stat("mean"), completed)
}

/// The server's count and that of its own tokenizer are both there; its rates are of one of them.
fn output_tokens(successes: &Value, completed: Option<u64>) -> Option<Tokens> {
    let both = ["output_tokens", "output_len"].map(|name| of(successes, name, completed));
    let rate = |name: &str| number(successes, &["throughput", name]).filter(|rate| *rate > 0.0);
    let a_request = rate("output_tokens_per_sec").zip(rate("requests_per_sec")).map(|(a, b)| a / b);
    let agrees =
        |one: &Tokens| a_request.is_some_and(|mean| (one.mean - mean).abs() <= SAME_TOKENS * mean);
    both.into_iter().flatten().find(agrees).or_else(|| both.into_iter().flatten().next())
}
