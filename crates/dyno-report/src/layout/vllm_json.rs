//! The result file of vLLM's serving benchmark, one object per level, with its field names. Dyno's own
//! fields start with `dyno_`.

use super::block::{max_concurrency, rate, tokens};
use super::levels::uncertain;
use super::object::Object;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Burstiness, LevelExtras};
use dyno_model::summary::{LevelSummary, RunSummary};
use serde_json::Value;

/// The request rate as the tools write it: `inf` for a closed loop.
pub(super) fn request_rate(level: &LevelSummary) -> Value {
    match (rate(level), level.load.kind) {
        (Some(rate), _) => rate.into(),
        (None, LoadKind::Concurrency | LoadKind::Burst) => "inf".into(),
        (None, _) => Value::Null,
    }
}

/// The fields that carry the verdict.
pub(super) fn put_own(object: &mut Object, run: &RunSummary, level: &LevelSummary) {
    object.put("dyno_run", run.id.as_str());
    object.put("dyno_level", level.label.as_str());
    object.put("dyno_verdict", level.verdict.to_string());
    object.put("dyno_simulated", run.simulated);
    let uncertain = uncertain(level);
    if !uncertain.is_empty() {
        object.put("dyno_uncertain", uncertain);
    }
}

/// The object of a level.
pub(super) fn object(run: &RunSummary, level: &LevelSummary, extras: &LevelExtras) -> Object {
    let backend = match run.api.as_deref() {
        Some("openai-completions") => Some("openai"),
        other => other,
    };
    let [input, output] = tokens(level);
    let mut object = Object::default();
    object.put("date", run.started.as_deref().map(date));
    object.put("endpoint_type", backend);
    object.put("backend", backend);
    object.put("label", run.label.clone());
    object.put("model_id", run.model.clone());
    object.put("tokenizer_id", Value::Null);
    object.put("num_prompts", level.requests.planned);
    object.put("request_rate", request_rate(level));
    object.put(
        "burstiness",
        match extras.burstiness {
            Some(Burstiness::Shape(shape)) => Value::from(shape),
            Some(Burstiness::Even) => "inf".into(),
            None => Value::Null,
        },
    );
    object.put("max_concurrency", max_concurrency(level));
    object.put("duration", level.duration_s);
    object.put("completed", level.requests.completed);
    object.put("failed", level.requests.refused());
    object.put("total_input_tokens", input);
    object.put("total_output_tokens", output);
    object.put("request_throughput", level.throughput.requests_per_s);
    object.put("request_goodput", level.slo.as_ref().and_then(|slo| slo.goodput_per_s));
    object.put("output_throughput", level.throughput.output_tokens_per_s);
    object.put("total_token_throughput", level.throughput.total_tokens_per_s);
    object.put("max_output_tokens_per_s", extras.peak_output_per_s);
    object.put("max_concurrent_requests", extras.peak_requests);
    object.put_distribution("ttft", &level.times[Time::Ttft]);
    object.put_distribution("tpot", &level.times[Time::Tpot]);
    object.put_distribution("itl", &level.times[Time::ChunkGap]);
    object.put_distribution("e2el", &level.times[Time::Latency]);
    put_own(&mut object, run, level);
    object
}

/// `2026-03-01T00:00:00Z` as `20260301-000000`.
fn date(started: &str) -> String {
    let kept = started.chars().filter(|c| c.is_ascii_digit() || *c == 'T');
    kept.map(|c| if c == 'T' { '-' } else { c }).collect()
}
