//! How requests were offered, as a result states it: a rate, a limit of requests in flight, or both.

use crate::level::Offered;
use dyno_form::json::{amount, at, number, text};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::plan::Arrival;
use dyno_words::{Problem, values};
use serde_json::Value;

/// No client sends as many in a second: such a rate means "at once".
const NO_RATE: f64 = 1e6;
/// If all requests are due within this share of the run, only the limit decides when they are sent.
const AT_THE_START: f64 = 0.01;

/// How requests were offered, and a note on it.
pub(super) fn offered(value: &Value, tool: &str) -> (Offered, Option<Diagnostic>) {
    if text(value, &["ramp_up_strategy"]).is_some() {
        return (Offered::plain(LoadKind::Ramp), None);
    }
    let traffic = at(value, &["request_rate"]).or_else(|| at(value, &["request-rate"]));
    if traffic.and_then(Value::as_str) == Some("trace") {
        return (Offered::plain(LoadKind::Trace), None);
    }
    let rate = traffic.and_then(amount).filter(|rate| *rate > 0.0 && *rate < NO_RATE);
    let (most, named) = limit(value, tool).unzip();
    let limit_named = || {
        let name = named.filter(|name| *name != LIMIT)?;
        Some(Problem::LimitNamed.with(values![most?, name]))
    };
    match (rate, most) {
        (Some(rate), Some(most)) if all_due_at_the_start(value, rate) => {
            (Offered::concurrency(most), Some(Problem::RateWithoutEffect.with([rate, most])))
        }
        (Some(rate), Some(most)) => {
            (Offered::rate(rate, arrival(value)), Some(Problem::RateAndPlaces.with([rate, most])))
        }
        (Some(rate), None) => (Offered::rate(rate, arrival(value)), None),
        (None, Some(most)) => (Offered::concurrency(most), limit_named()),
        (None, None) if traffic.is_some_and(|rate| !rate.is_null()) => (all_at_once(value), None),
        (None, None) => (Offered::plain(LoadKind::Unknown), None),
    }
}

const LIMIT: &str = "max_concurrency";
/// Where tools and people put the options of a benchmark.
const INSIDE: [&str; 5] = ["args", "benchmark_args", "bench_args", "config", "metadata"];

/// The limit of requests in flight, and its name.
fn limit(value: &Value, tool: &str) -> Option<(f64, &'static str)> {
    // SGLang's `concurrency` is measured; in vLLM's files it is added with `--metadata`.
    let names: &[&str] = match tool {
        "vllm" => &[LIMIT, "max-concurrency", "concurrency"],
        _ => &[LIMIT, "max-concurrency"],
    };
    let places = std::iter::once(value).chain(INSIDE.iter().filter_map(|name| value.get(name)));
    places.into_iter().find_map(|place| {
        names.iter().find_map(|name| {
            let most = amount(at(place, &[name])?).filter(|most| *most >= 1.0)?;
            (most.fract() == 0.0).then_some((most, *name))
        })
    })
}

fn arrival(value: &Value) -> Option<Arrival> {
    let shape = number(value, &["burstiness"]).filter(|shape| *shape > 0.0)?;
    Some(if shape == 1.0 { Arrival::Poisson } else { Arrival::Gamma { shape } })
}

fn all_due_at_the_start(value: &Value, rate: f64) -> bool {
    let sending = sent(value).map(|sent| sent / rate);
    let duration = number(value, &["duration"]);
    sending.zip(duration).is_some_and(|(sending, duration)| sending <= AT_THE_START * duration)
}

fn sent(value: &Value) -> Option<f64> {
    let get = |name: &str| number(value, &[name]);
    let ended = get("completed").map(|completed| completed + get("failed").unwrap_or(0.0));
    get("num_prompts").or(ended).filter(|sent| *sent >= 1.0)
}

/// Without a rate and a limit every request is sent at the start.
fn all_at_once(value: &Value) -> Offered {
    match sent(value) {
        Some(sent) => Offered::burst(sent),
        None => Offered::plain(LoadKind::Unlimited),
    }
}
