//! What vLLM and SGLang measure without a server between the client and the engine: all requests given
//! to the engine at once (`bench throughput`, `bench_offline_throughput`), or one batch of equal
//! requests (`bench_one_batch`, and with a server `bench_one_batch_server`). There is throughput, and no
//! latency of single requests.

use crate::level::RunHead;
use crate::level::stated::{Offered, StatedLevel, present, rounded, tokens};
use crate::reading::{Group, Reading};
use dyno_form::json::{count, figures, number, text};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::{Recognised, Reported, Tokens};
use dyno_words::Problem;
use serde_json::Value;

fn with_all<'a>(
    value: &Value,
    by: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<Recognised> {
    let all = by.clone().into_iter().all(|name| value.get(name).is_some());
    all.then(|| Recognised::certain(by))
}

/// It is a result of vLLM's `bench throughput`.
pub(super) fn is_throughput(value: &Value) -> Option<Recognised> {
    let by = [
        "elapsed_time",
        "num_requests",
        "total_num_tokens",
        "requests_per_second",
        "tokens_per_second",
    ];
    with_all(value, by)
}

/// Reads a result of vLLM's `bench throughput`.
pub(super) fn read_throughput(reading: &mut Reading, line: u64, value: &Value) {
    let mut found = burst(value, line, count(value, &["num_requests"]));
    let stated = &mut found.stated;
    stated.requests.completed = count(value, &["num_requests"]);
    stated.duration_s = present(number(value, &["elapsed_time"]));
    stated.throughput.requests_per_s = present(number(value, &["requests_per_second"]));
    // Of input and output together.
    stated.throughput.total_tokens_per_s = present(number(value, &["tokens_per_second"]));
    found.note(&mut reading.problems, Problem::WithoutServer.into());
    add(reading, "vllm", line, value, found);
}

/// It is a result of vLLM's `bench latency`.
pub(super) fn is_latency(value: &Value) -> Option<Recognised> {
    let listed = value.get("latencies").is_some_and(Value::is_array);
    with_all(value, ["avg_latency", "latencies", "percentiles"]).filter(|_| listed)
}

/// The time of a batch says nothing without the number of its requests.
pub(super) fn refuse_latency(reading: &mut Reading, line: u64, _: &Value) {
    reading.problems.push(Diagnostic::from(Problem::BatchUnknown).at(line));
}

/// It is a result of SGLang's `bench_offline_throughput`.
pub(super) fn is_engine(value: &Value) -> Option<Recognised> {
    let by = ["successful_requests", "total_latency", "total_output_tokens", "request_throughput"];
    with_all(value, by)
}

/// Reads a result of SGLang's `bench_offline_throughput`.
pub(super) fn read_engine(reading: &mut Reading, line: u64, value: &Value) {
    let done = count(value, &["successful_requests"]);
    let mut found = burst(value, line, done);
    let stated = &mut found.stated;
    stated.requests.completed = done;
    stated.duration_s = present(number(value, &["total_latency"]));
    stated.throughput.requests_per_s = present(number(value, &["request_throughput"]));
    stated.throughput.output_tokens_per_s = present(number(value, &["output_throughput"]));
    stated.throughput.total_tokens_per_s = present(number(value, &["total_throughput"]));
    stated.input_tokens = tokens(count(value, &["total_input_tokens"]), None, done);
    stated.output_tokens = tokens(count(value, &["total_output_tokens"]), None, done);
    found.note(&mut reading.problems, Problem::WithoutServer.into());
    add(reading, "sglang", line, value, found);
}

/// It is a result of SGLang's `bench_one_batch`, or of that with a server.
pub(super) fn is_batch(value: &Value) -> Option<Recognised> {
    let of = |own: [&'static str; 2]| {
        let [time, other] = own;
        let by = ["batch_size", "input_len", "output_len", "overall_throughput", time, other];
        with_all(value, by)
    };
    of(["total_latency", "prefill_latency"]).or_else(|| of(["latency", "last_gen_throughput"]))
}

/// Reads one batch. The times of its prefill and of its decoding steps are not those of a request, and
/// `output_throughput` leaves the time of the prefill out; they are kept as reported.
pub(super) fn read_batch(reading: &mut Reading, line: u64, value: &Value) {
    let requests = count(value, &["batch_size"]);
    let mut found = burst(value, line, requests);
    let stated = &mut found.stated;
    let duration = number(value, &["total_latency"])
        .or_else(|| number(value, &["latency"]))
        .filter(|s| *s > 0.0);
    let [input, output] = ["input_len", "output_len"].map(|name| count(value, &[name]));
    let length = |tokens: Option<u64>| u32::try_from(tokens?).ok();
    stated.requests.completed = requests;
    stated.duration_s = present(duration);
    stated.input_length = length(input);
    stated.output_length = length(output);
    // Every request of a batch has these lengths.
    let each = |tokens: Option<u64>| {
        Some(Tokens { total: Some(tokens?.checked_mul(requests?)?), mean: tokens? as f64 })
    };
    stated.input_tokens = each(input);
    stated.output_tokens = each(output);
    let per_s = |amount: Option<u64>| Some(rounded(amount? as f64 / duration?));
    stated.throughput.requests_per_s = per_s(requests);
    stated.throughput.output_tokens_per_s = per_s(stated.output_tokens.and_then(|all| all.total));
    stated.throughput.total_tokens_per_s = present(number(value, &["overall_throughput"]));
    found.note(&mut reading.problems, Problem::OneBatch.into());
    add(reading, "sglang", line, value, found);
}

/// Requests that were all there at the start.
fn burst(value: &Value, line: u64, requests: Option<u64>) -> StatedLevel {
    let mut found = StatedLevel::new(match requests.filter(|requests| *requests > 0) {
        Some(requests) => Offered::burst(requests as f64),
        None => Offered::plain(LoadKind::Unlimited),
    });
    found.stated.requests.planned = requests;
    found.stated.reported =
        Some(Reported { file: None, line: Some(line), figures: figures(value) });
    found
}

fn add(reading: &mut Reading, tool: &str, line: u64, value: &Value, found: StatedLevel) {
    let label = text(value, &["run_name"]).filter(|name| name != "default");
    let origin = reading.origin(tool, line);
    let head =
        RunHead { label: label.clone(), model: text(value, &["model"]), ..RunHead::new(origin) };
    let key = format!("{tool} without a server {label:?} {:?}", head.model);
    reading.add(Group { key, head }, found);
}
