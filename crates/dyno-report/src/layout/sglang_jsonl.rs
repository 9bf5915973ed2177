//! The result file of SGLang's serving benchmark, one object per level, with its field names. Dyno's
//! own fields start with `dyno_`.

use super::block::{max_concurrency, tokens};
use super::object::Object;
use super::sglang::{backend, concurrency, input_per_s};
use super::vllm_json::{put_own, request_rate};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::LevelExtras;
use dyno_model::summary::{LevelSummary, RunSummary};
use serde_json::Value;

/// The object of a level.
pub(super) fn object(run: &RunSummary, level: &LevelSummary, extras: &LevelExtras) -> Object {
    let [input, output] = tokens(level);
    let traffic =
        if level.load.kind == LoadKind::Trace { Value::from("trace") } else { request_rate(level) };
    let mut object = Object::default();
    object.put("tag", run.label.clone());
    object.put("backend", backend(run));
    object.put("dataset_name", Value::Null);
    object.put("request_rate", traffic);
    object.put("max_concurrency", max_concurrency(level));
    object.put("sharegpt_output_len", Value::Null);
    object.put("random_input_len", level.input_length);
    object.put("random_output_len", level.output_length);
    object.put("random_range_ratio", Value::Null);
    object.put("server_info", Value::Null);
    object.put("duration", level.duration_s);
    object.put("completed", level.requests.completed);
    object.put("total_input_tokens", input);
    object.put("total_input_text_tokens", input);
    object.put("total_input_vision_tokens", Value::Null);
    object.put("total_output_tokens", output);
    object.put("total_output_tokens_retokenized", Value::Null);
    object.put("request_throughput", level.throughput.requests_per_s);
    object.put("input_throughput", input_per_s(level));
    object.put("output_throughput", level.throughput.output_tokens_per_s);
    object.put("total_throughput", level.throughput.total_tokens_per_s);
    object.put_distribution("e2e_latency", &level.times[Time::Latency]);
    object.put_distribution("ttft", &level.times[Time::Ttft]);
    object.put_distribution("tpot", &level.times[Time::Tpot]);
    object.put_distribution("itl", &level.times[Time::ChunkGap]);
    object.put("max_itl_ms", level.times[Time::ChunkGap].as_ref().and_then(|d| d.max));
    object.put("concurrency", concurrency(level));
    object.put("accept_length", Value::Null);
    object.put("max_output_tokens_per_s", extras.peak_output_per_s);
    object.put("max_concurrent_requests", extras.peak_requests);
    put_own(&mut object, run, level);
    object
}
