//! The load of a Benchmark Report: 0.2 states a rate and a concurrency; 0.1 keeps the arguments of the
//! tool, each in its own way.

use super::report::Generator;
use crate::level::stated::Offered;
use dyno_form::json::{at, count, list, number, text};
use dyno_model::load::LoadKind;
use dyno_model::plan::Arrival;
use serde_json::Value;

/// How requests were offered.
pub(super) fn offered(value: &Value, generator: Generator) -> (Offered, Option<(f64, f64)>) {
    match at(value, &["scenario", "load", "standardized"]) {
        Some(load) => {
            decided(number(load, &["rate_qps"]), number(load, &["concurrency"]), generator)
        }
        None => by_arguments(value, generator),
    }
}

/// From the arguments of the tool.
fn by_arguments(value: &Value, generator: Generator) -> (Offered, Option<(f64, f64)>) {
    let load = at(value, &["scenario", "load"]).unwrap_or(&Value::Null);
    let args = at(load, &["args"]).unwrap_or(&Value::Null);
    let stage = count(load, &["metadata", "stage"]).unwrap_or(0) as usize;
    match generator {
        Generator::Vllm => {
            decided(number(args, &["request_rate"]), number(args, &["max_concurrency"]), generator)
        }
        Generator::InferencePerf => {
            let stages = list(args, &["load", "stages"]).map_or(&[][..], Vec::as_slice);
            let stage = stages.get(stage).unwrap_or(&Value::Null);
            decided(number(stage, &["rate"]), number(stage, &["concurrency_level"]), generator)
        }
        Generator::Guidellm => {
            let rates = list(args, &["rate"]).map_or(&[][..], Vec::as_slice);
            let rate = rates.get(stage).and_then(Value::as_f64);
            let offered = match (text(args, &["profile"]).as_deref(), rate) {
                (Some("synchronous"), _) => Offered::concurrency(1.0),
                (Some("concurrent"), Some(streams)) => Offered::concurrency(streams),
                (Some("constant"), Some(rate)) => Offered::rate(rate, Some(Arrival::Constant)),
                (Some("poisson"), Some(rate)) => Offered::rate(rate, Some(Arrival::Poisson)),
                (Some("throughput"), _) => Offered::plain(LoadKind::Unlimited),
                _ => Offered::plain(LoadKind::Unknown),
            };
            (offered, None)
        }
        Generator::Aiperf | Generator::Other => (Offered::plain(LoadKind::Unknown), None),
    }
}

/// A rate without end, which JSON and YAML have as text, is no number.
fn decided(
    rate: Option<f64>,
    slots: Option<f64>,
    generator: Generator,
) -> (Offered, Option<(f64, f64)>) {
    let rate = rate.filter(|rate| *rate > 0.0);
    let slots = slots.filter(|slots| *slots >= 1.0);
    match (rate, slots) {
        // inference-perf states both for a closed loop, of which only the concurrency is a load.
        (_, Some(slots)) if generator == Generator::InferencePerf => {
            (Offered::concurrency(slots), None)
        }
        (Some(rate), slots) => (Offered::rate(rate, None), slots.map(|slots| (rate, slots))),
        (None, Some(slots)) => (Offered::concurrency(slots), None),
        (None, None) => (Offered::plain(LoadKind::Unknown), None),
    }
}
