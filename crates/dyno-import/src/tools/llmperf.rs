//! LLMPerf's `token_benchmark_ray.py`: a summary a test, with the settings in it, and the requests in a
//! second file. Several summaries may be in one file, in a list or by any name. Its inter-token latency
//! is the whole latency divided by the tokens, so it is neither TPOT nor ITL.

use super::{Document, Tool};
use crate::level::stated::{Offered, StatedLevel, distribution, present, tokens};
use crate::level::{Ended, RunHead, Sample};
use crate::reading::{Group, Reading};
use dyno_form::json::{at, count, figures, number, text};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, Recognised, Reported};
use dyno_words::Problem;
use serde_json::Value;

const SECOND_MS: f64 = 1e3;
const SUMMARY: [&str; 2] = ["results_num_completed_requests", "results_ttft_s_mean"];
const REQUEST: [&str; 3] = ["ttft_s", "end_to_end_latency_s", "inter_token_latency_s"];

pub(super) const TOOL: Tool = Tool {
    name: "llmperf",
    kinds: &[[
        "LLMPerf's summaries and individual responses (JSON)",
        "LLMPerf 的汇总和逐个响应（JSON）",
    ]],
    documents: &[
        Document { recognise, read },
        Document { recognise: recognise_requests, read: read_requests },
    ],
    signs: &["\"results_ttft_s_mean\"", "\"end_to_end_latency_s\""],
    ..super::NOTHING
};

fn has(value: &Value, names: &[&str]) -> bool {
    names.iter().all(|name| value.get(name).is_some())
}

/// The summaries of a document.
fn summaries(value: &Value) -> Vec<&Value> {
    let inside: Vec<&Value> = match value {
        _ if has(value, &SUMMARY) => return vec![value],
        Value::Array(all) => all.iter().collect(),
        Value::Object(all) => all.values().collect(),
        _ => return Vec::new(),
    };
    if inside.iter().all(|one| has(one, &SUMMARY)) { inside } else { Vec::new() }
}

/// It is a summary, or several.
fn recognise(value: &Value) -> Option<Recognised> {
    let all = summaries(value);
    // Others took these names over, but not all of them.
    let whole = all.iter().all(|one| has(one, &["results_num_requests_started"]));
    let recognised = if whole { Recognised::certain(SUMMARY) } else { Recognised::likely(SUMMARY) };
    (!all.is_empty()).then_some(recognised)
}

/// Reads summaries, in the order of their concurrency where they are in one document.
fn read(reading: &mut Reading, line: u64, value: &Value) {
    let mut all = summaries(value);
    all.sort_by(|a, b| slots(a).unwrap_or(0.0).total_cmp(&slots(b).unwrap_or(0.0)));
    for one in all {
        let model = text(one, &["model"]);
        let origin = reading.origin("llmperf", line);
        let head = RunHead { label: model.clone(), model, ..RunHead::new(origin) };
        let key = format!("llmperf {:?}", head.model);
        reading.add(Group { key, head }, level(line, one));
    }
}

fn slots(value: &Value) -> Option<f64> {
    number(value, &["num_concurrent_requests"]).filter(|slots| *slots >= 1.0)
}

/// A number, also where it was saved as text.
fn given(value: &Value, name: &str) -> Option<f64> {
    number(value, &[name]).or_else(|| text(value, &[name])?.parse().ok())
}

fn level(line: u64, value: &Value) -> StatedLevel {
    let mut found = StatedLevel::new(match slots(value) {
        Some(slots) => Offered::concurrency(slots),
        None => Offered::plain(LoadKind::Unknown),
    });
    let stated = &mut found.stated;
    let completed = count(value, &["results_num_completed_requests"]);
    stated.requests.completed = completed;
    stated.requests.failed = count(value, &["results_number_errors"]);
    let per_minute = given(value, "results_num_completed_requests_per_min");
    stated.throughput.requests_per_s = present(per_minute.map(|rate| rate / 60.0));
    stated.throughput.output_tokens_per_s =
        present(given(value, "results_mean_output_throughput_token_per_s"));
    let times = |name: &str| times(value, name, completed);
    stated.times[Time::Ttft] = times("ttft_s");
    stated.times[Time::Latency] = times("end_to_end_latency_s");
    let mean = |name: &str| present(given(value, &format!("results_number_{name}_tokens_mean")));
    stated.input_tokens = tokens(None, mean("input"), completed);
    stated.output_tokens = tokens(None, mean("output"), completed);
    stated.input_length = length(value, "input");
    stated.output_length = length(value, "output");
    let per_token = given(value, "results_inter_token_latency_s_mean");
    found.extras.latency_per_output_token_ms = present(per_token.map(|mean| mean * SECOND_MS));
    found.stated.reported =
        Some(Reported { file: None, line: Some(line), figures: figures(value) });
    found
}

/// The tokens that were asked for, if they are the same for all requests.
fn length(value: &Value, of: &str) -> Option<u32> {
    let spread = number(value, &[&format!("stddev_{of}_tokens")]);
    let tokens = count(value, &[&format!("mean_{of}_tokens")]).filter(|_| spread == Some(0.0))?;
    u32::try_from(tokens).ok().filter(|tokens| *tokens > 0)
}

/// Statistics by names such as `results_ttft_s_quantiles_p99`.
fn times(value: &Value, name: &str, completed: Option<u64>) -> Option<Distribution> {
    distribution(completed, SECOND_MS, |stat| {
        let stat = match stat {
            "std" => "stddev".to_owned(),
            stat if stat.starts_with('p') => format!("quantiles_{stat}"),
            stat => stat.to_owned(),
        };
        given(value, &format!("results_{name}_{stat}"))
    })
}

/// It is a list of requests.
fn recognise_requests(value: &Value) -> Option<Recognised> {
    let all = value.as_array().filter(|all| !all.is_empty())?;
    all.iter().all(|one| has(one, &REQUEST)).then(|| Recognised::certain(REQUEST))
}

/// Reads a list of requests. It has no send times and no settings; the summary of the same test has.
fn read_requests(reading: &mut Reading, line: u64, value: &Value) {
    let samples: Vec<Sample> = value.as_array().into_iter().flatten().map(sample).collect();
    let mut found = StatedLevel::new(Offered::plain(LoadKind::Unknown));
    found.note(&mut reading.problems, Problem::Untimed.with([samples.len()]));
    found.samples = Some(samples);
    let head = RunHead::new(reading.origin("llmperf", line));
    reading.loose.push((head, found));
}

fn sample(value: &Value) -> Sample {
    let time = |name: &str| number(value, &[name]).filter(|time| *time > 0.0);
    let code = at(value, &["error_code"]).filter(|code| !code.is_null());
    let words = text(value, &["error_msg"]).unwrap_or_default();
    Sample {
        ttft: time("ttft_s"),
        latency: time("end_to_end_latency_s"),
        input: count(value, &["number_input_tokens"]),
        output: count(value, &["number_output_tokens"]),
        ended: if code.is_some() { Ended::Failed(words) } else { Ended::Completed },
        status: code.and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()),
        ..Sample::default()
    }
}
