//! The result files of vLLM's and SGLang's serving benchmarks, which share their field names, and of
//! LMDeploy's copy of the latter: one object per run of the tool, with or without its single requests.
//! Objects of the same model, one after the other, are the levels of one run.

use super::{api, offered, samples, sweep};
use crate::level::RunHead;
use crate::level::stated::{StatedLevel, distribution_of, present, tokens};
use crate::reading::{Group, Reading};
use crate::text::part::short;
use dyno_form::json::{amount, at, count, figures, number, text, whole};
use dyno_model::metric::Time;
use dyno_model::summary::{Burstiness, Distribution, Origin, Recognised, Reported, Throughput};
use dyno_model::when;
use dyno_words::Problem;
use serde_json::Value;

const SECOND_MS: f64 = 1e3;
const FIRST: &str = "request_inthroughput";

/// It is a result of one of them.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let has = |name: &&str| value.get(name).is_some();
    // Excerpts that people make of results, without duration and rates.
    let excerpt = ["mean_ttft_ms", "mean_tpot_ms", "num_prompts"];
    if excerpt.iter().all(has) && !has(&"duration") {
        return Some(Recognised::likely(excerpt));
    }
    // Early versions of SGLang do not write the first.
    let rate = ["request_throughput", "output_throughput"].into_iter().find(has)?;
    // Of embeddings only the latency is measured.
    let other = [
        "mean_ttft_ms",
        "median_ttft_ms",
        "median_ttft",
        "mean_e2el_ms",
        "mean_e2e_latency_ms",
        "output_throughput",
    ];
    let other = other.into_iter().find(|name| *name != rate && has(name))?;
    let by = [rate, "duration", "completed", other];
    by.iter().all(has).then(|| Recognised::likely(by))
}

fn tool(value: &Value) -> &'static str {
    let has = |names: &[&str]| names.iter().any(|name| value.get(name).is_some());
    // A sweep of vLLM adds the names of its options, of which some are SGLang's, too.
    let of_vllm = has(&["model_id", "tokenizer_id", "total_token_throughput"]);
    let of_sglang =
        ["mean_e2e_latency_ms", "total_throughput", "random_range_ratio", "sharegpt_output_len"];
    if of_vllm || !has(&of_sglang) {
        return "vllm";
    }
    // LMDeploy copied SGLang's benchmark before it had a limit of concurrency.
    let backend = text(value, &["backend"]).unwrap_or_default();
    let of_lmdeploy = backend.starts_with("lmdeploy") && !has(&["max_concurrency"]);
    if of_lmdeploy { "lmdeploy" } else { "sglang" }
}

/// Reads one result.
pub(super) fn read(reading: &mut Reading, line: u64, value: &Value) {
    if sweep::is_warmup(value) {
        reading.problems.push(Problem::SweepWarmup.with([&reading.name]).at(line));
        return;
    }
    let tool = tool(value);
    let unread = invalid(value).map(|(name, shown)| Problem::Unread.with([name, shown]).at(line));
    reading.problems.extend(unread);
    let (offered, remark) = offered::offered(value, tool);
    let mut found = StatedLevel::new(offered);
    state(&mut found, value, line);
    let single = samples::samples(value, line, &found.stated.label, &mut reading.problems);
    if let Some(remark) = remark {
        found.note(&mut reading.problems, remark);
    }
    if is_first(value) {
        found.note(&mut reading.problems, Problem::WholePerToken.into());
    }
    let empty = single.as_deref().unwrap_or_default().iter().filter(|one| one.is_empty()).count();
    if empty > 0 {
        found.note(&mut reading.problems, Problem::EmptyResponses.with([empty]));
    }
    found.samples = single;
    let model = text(value, &["model_id"]).or_else(|| text(value, &["server_info", "model_path"]));
    let backend = text(value, &["backend"]);
    let head = RunHead {
        label: text(value, &["label"]).or_else(|| text(value, &["tag"])).or_else(|| model.clone()),
        model: model.clone(),
        target: text(value, &["base_url"]),
        // `date` is when the file was written, in an unknown time zone.
        started: number(value, &["benchmark_start_time_unix"]).and_then(clock),
        api: backend.as_deref().and_then(api),
        gpus: gpus(value),
        ..RunHead::new(origin(reading, tool, line, value))
    };
    let key = format!("{tool} {model:?} {backend:?} {:?}", head.label);
    reading.add(Group { key, head }, found);
}

/// Results that are not what they should be: a number that is not negative.
fn invalid(value: &Value) -> impl Iterator<Item = (String, String)> {
    let is_result = |name: &str| {
        let unit = ["_ms", "_throughput", "_tokens"].iter().any(|end| name.ends_with(end));
        unit || ["duration", "completed", "failed"].contains(&name)
    };
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(move |(name, value)| {
        let right = match value {
            Value::Null | Value::Array(_) | Value::Object(_) => true,
            Value::Number(number) => number.as_f64().is_some_and(|number| number >= 0.0),
            _ => false,
        };
        (is_result(name) && !right).then(|| (short(name), short(&value.to_string())))
    })
}

/// The tool's values.
fn state(found: &mut StatedLevel, value: &Value, line: u64) {
    let stated = &mut found.stated;
    stated.reported = Some(Reported { file: None, line: Some(line), figures: figures(value) });
    stated.input_length = length(value, "random_input_len");
    stated.output_length = length(value, "random_output_len");
    stated.requests.planned = count(value, &["num_prompts"]);
    stated.requests.completed = count(value, &["completed"]);
    stated.requests.failed = count(value, &["failed"]);
    stated.duration_s = present(number(value, &["duration"]));
    stated.throughput = throughput(value);
    let done = stated.requests.completed;
    stated.input_tokens = tokens(count(value, &["total_input_tokens"]), None, done);
    stated.output_tokens = tokens(count(value, &["total_output_tokens"]), None, done);
    stated.times[Time::Ttft] = times(value, "ttft");
    stated.times[Time::Tpot] = times(value, "tpot").filter(|_| !is_first(value));
    let gaps = times(value, "itl");
    let unit = gap_unit(value);
    if unit.counts_tokens() {
        stated.times[Time::Itl].clone_from(&gaps);
    }
    if unit.counts_events() {
        stated.times[Time::ChunkGap] = gaps;
    }
    stated.times[Time::Latency] = times(value, "e2el").or_else(|| times(value, "e2e_latency"));
    // Their peak counts requests that were in flight within the same second, not at the same time.
    found.extras.peak_requests = count(value, &["max_concurrent_requests"]);
    found.extras.peak_output_per_s = number(value, &["max_output_tokens_per_s"]).map(|n| n as u64);
    found.extras.burstiness = number(value, &["burstiness"]).map(Burstiness::Shape);
}

/// What `itl` is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GapUnit {
    /// An event, however many tokens it carries.
    Event,
    /// A token: the time of an event is divided by its tokens.
    Token,
    /// Both, where every event carries one token.
    Either,
    /// An event, divided by how many tokens they carry on average.
    Estimate,
}

impl GapUnit {
    fn counts_tokens(self) -> bool {
        matches!(self, Self::Token | Self::Either)
    }

    fn counts_events(self) -> bool {
        matches!(self, Self::Event | Self::Either)
    }
}

/// SGLang's own API states how many tokens there are so far, which its benchmark takes into account
/// since it writes the 95th percentile.
fn gap_unit(value: &Value) -> GapUnit {
    let own =
        matches!(value.get("backend").and_then(Value::as_str), Some("sglang" | "sglang-native"));
    let counted = own && value.get("p95_itl_ms").is_some();
    let several = number(value, &["accept_length"]).is_some_and(|tokens| tokens > 1.0);
    match (counted, several) {
        (true, true) => GapUnit::Token,
        (true, false) => GapUnit::Either,
        (false, true) => GapUnit::Estimate,
        (false, false) => GapUnit::Event,
    }
}

/// The first version of vLLM's, by a name that was soon corrected. It divides the whole latency by the
/// output tokens.
fn is_first(value: &Value) -> bool {
    value.get(FIRST).is_some()
}

/// Rates over the whole run. Versions without one of them state what it is computed from.
fn throughput(value: &Value) -> Throughput {
    let get = |name: &str| number(value, &[name]);
    let duration = get("duration").filter(|duration| *duration > 0.0);
    let per_s = |name: &str| Some(get(name)? / duration?);
    let output = get("output_throughput");
    let total = get("total_token_throughput").or_else(|| get("total_throughput"));
    let input = || get("input_throughput").or_else(|| per_s("total_input_tokens"));
    Throughput {
        requests_per_s: present(
            get("request_throughput").or_else(|| get(FIRST)).or_else(|| per_s("completed")),
        ),
        output_tokens_per_s: present(output),
        total_tokens_per_s: present(total.or_else(|| Some(output? + input()?))),
        ..Throughput::default()
    }
}

fn origin(reading: &Reading, tool: &str, line: u64, value: &Value) -> Origin {
    Origin {
        version: text(value, &["vllm_version"])
            .or_else(|| text(value, &["server_info", "version"])),
        ..reading.origin(tool, line)
    }
}

/// The number of GPUs, where it was added to the result.
fn gpus(value: &Value) -> Option<u32> {
    let names = ["gpu_count", "num_gpus"];
    let stated = names.iter().find_map(|name| amount(at(value, &[name])?))?;
    u32::try_from(whole(stated)?).ok().filter(|gpus| *gpus > 0)
}

/// A time by a clock that counts seconds from 1970.
fn clock(seconds: f64) -> Option<String> {
    (1e9..1e10).contains(&seconds).then(|| when::utc((seconds * 1e9) as u64))
}

fn length(value: &Value, name: &str) -> Option<u32> {
    // Lengths vary unless the range is 1; if it is not stated, they may vary.
    let fixed = number(value, &["random_range_ratio"]) == Some(1.0);
    let random = text(value, &["dataset_name"]).is_some_and(|name| name.starts_with("random"));
    let tokens = count(value, &[name]).filter(|_| fixed && random)?;
    u32::try_from(tokens).ok()
}

/// Statistics by names such as `p99_ttft_ms`; without a unit they are in seconds.
fn times(value: &Value, name: &str) -> Option<Distribution> {
    let milliseconds = distribution_of(1.0, |stat| number(value, &[&format!("{stat}_{name}_ms")]));
    milliseconds
        .or_else(|| distribution_of(SECOND_MS, |stat| number(value, &[&format!("{stat}_{name}")])))
}
