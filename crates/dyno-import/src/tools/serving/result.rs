//! The result files of vLLM's and SGLang's serving benchmarks, which share their field names: one
//! object per run of the tool, with or without its single requests. Objects of the same model, one
//! after the other, are the levels of one run.

use crate::form::json::{at, count, figures, list, number, text};
use crate::level::stated::{Found, Offered, distribution, present, rounded, tokens};
use crate::level::{Ended, Head, Sample};
use crate::reading::{Group, Reading};
use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::plan::Arrival;
use dyno_model::summary::Burstiness;
use dyno_model::summary::{Concurrency, Distribution, Origin, Recognised, Reported};
use dyno_words::{Problem, values};
use serde_json::Value;

/// It is a result of one of the two.
pub(super) fn recognise(value: &Value) -> Option<Recognised> {
    let has = |name: &str| value.get(name).is_some();
    let time = ["mean_ttft_ms", "median_ttft_ms", "output_throughput"].into_iter().find(|t| has(t));
    let by = ["request_throughput", "duration", "completed", time?];
    by.iter().all(|name| has(name)).then(|| Recognised::likely(by))
}

fn tool(value: &Value) -> &'static str {
    let own =
        ["mean_e2e_latency_ms", "total_throughput", "random_range_ratio", "sharegpt_output_len"];
    if own.iter().any(|name| value.get(name).is_some()) { "sglang" } else { "vllm" }
}

/// Reads one result.
pub(crate) fn read(reading: &mut Reading, line: u64, value: &Value) {
    let tool = tool(value);
    let model = text(value, &["model_id"]).or_else(|| text(value, &["server_info", "model_path"]));
    let (offered, remark) = offered(value);
    let mut found = Found::new(offered);
    let stated = &mut found.stated;
    stated.reported = Some(Reported { line: Some(line), figures: figures(value) });
    stated.input_length = length(value, "random_input_len");
    stated.output_length = length(value, "random_output_len");
    stated.requests.planned = count(value, &["num_prompts"]);
    stated.requests.completed = count(value, &["completed"]);
    stated.requests.failed = count(value, &["failed"]);
    stated.duration_s = present(number(value, &["duration"]));
    stated.throughput.requests_per_s = present(number(value, &["request_throughput"]));
    stated.throughput.output_tokens_per_s = present(number(value, &["output_throughput"]));
    let total = ["total_token_throughput", "total_throughput"];
    stated.throughput.total_tokens_per_s =
        total.iter().find_map(|name| present(number(value, &[name])));
    let done = stated.requests.completed;
    stated.input_tokens = tokens(count(value, &["total_input_tokens"]), None, done);
    stated.output_tokens = tokens(count(value, &["total_output_tokens"]), None, done);
    stated.times[Time::Ttft] = times(value, "ttft");
    stated.times[Time::Tpot] = times(value, "tpot");
    // Both measure between events, however many tokens one carries.
    stated.times[Time::ChunkGap] = times(value, "itl");
    stated.times[Time::Latency] = times(value, "e2el").or_else(|| times(value, "e2e_latency"));
    let mean = number(value, &["concurrency"]);
    let peak = count(value, &["max_concurrent_requests"]);
    stated.concurrency =
        mean.zip(peak).map(|(mean, peak)| Concurrency { mean: rounded(mean), peak, growth: None });
    found.extras.peak_output_per_s = number(value, &["max_output_tokens_per_s"]).map(|n| n as u64);
    found.extras.peak_requests = peak;
    found.extras.burstiness = number(value, &["burstiness"]).map(Burstiness::Shape);
    found.samples = samples(value, line, &found.stated.label, reading);
    if let Some(remark) = remark {
        found.note(&mut reading.problems, remark);
    }
    let head = Head {
        origin: origin(reading, tool, line, value),
        ordinal: 0,
        label: text(value, &["label"]).or_else(|| text(value, &["tag"])).or_else(|| model.clone()),
        model: model.clone(),
        target: text(value, &["base_url"]),
        // `date` is when the file was written, in an unknown time zone.
        started: None,
    };
    let backend = text(value, &["backend"]);
    let key = format!("{tool} {model:?} {backend:?} {:?}", head.label);
    reading.add(Group { key, head }, found);
}

fn origin(reading: &Reading, tool: &str, line: u64, value: &Value) -> Origin {
    Origin {
        version: text(value, &["vllm_version"])
            .or_else(|| text(value, &["server_info", "version"])),
        ..reading.origin(tool, line)
    }
}

fn length(value: &Value, name: &str) -> Option<u32> {
    // Lengths vary unless the range is 1; if it is not stated, they may vary.
    let fixed = number(value, &["random_range_ratio"]) == Some(1.0);
    let random = text(value, &["dataset_name"]).is_some_and(|name| name.starts_with("random"));
    let tokens = count(value, &[name]).filter(|_| fixed && random)?;
    u32::try_from(tokens).ok()
}

/// How requests were offered, and a note on it.
fn offered(value: &Value) -> (Offered, Option<Diagnostic>) {
    let most = number(value, &["max_concurrency"]).filter(|most| *most >= 1.0);
    let arrival = number(value, &["burstiness"])
        .filter(|shape| *shape > 0.0)
        .map(|shape| if shape == 1.0 { Arrival::Poisson } else { Arrival::Gamma { shape } });
    let traffic = at(value, &["request_rate"]);
    let rate = traffic.and_then(Value::as_f64).filter(|rate| rate.is_finite() && *rate > 0.0);
    match (traffic.and_then(Value::as_str), rate, most) {
        (_, Some(rate), None) => (Offered::rate(rate, arrival), None),
        (_, Some(rate), Some(most)) => {
            let remark = Problem::RateAndPlaces.with([rate, most]);
            (Offered::rate(rate, arrival), Some(remark))
        }
        (Some("trace"), ..) => (Offered::plain(LoadKind::Trace), None),
        (_, None, Some(most)) => (Offered::concurrency(most), None),
        (Some(_), None, None) => (all_at_once(value), None),
        (None, None, None) => (Offered::plain(LoadKind::Unknown), None),
    }
}

/// Without a rate and a limit every request is sent at the start.
fn all_at_once(value: &Value) -> Offered {
    let get = |name: &str| number(value, &[name]);
    let ended = get("completed").map(|completed| completed + get("failed").unwrap_or(0.0));
    match get("num_prompts").or(ended).filter(|sent| *sent >= 1.0) {
        Some(sent) => Offered::burst(sent),
        None => Offered::plain(LoadKind::Unlimited),
    }
}

/// Statistics by names such as `p99_ttft_ms`.
fn times(value: &Value, name: &str) -> Option<Distribution> {
    distribution(None, 1.0, |stat| {
        let stat = if stat == "p50" { "median" } else { stat };
        let given = number(value, &[&format!("{stat}_{name}_ms")]);
        given.or_else(|| number(value, &[&format!("p50_{name}_ms")]).filter(|_| stat == "median"))
    })
}

/// The single requests, where the file has them.
fn samples(value: &Value, line: u64, label: &str, reading: &mut Reading) -> Option<Vec<Sample>> {
    let ttfts = list(value, &["ttfts"])?;
    let outputs = list(value, &["output_lens"])?;
    let lists = ["input_lens", "output_lens", "itls", "errors", "start_times"];
    let uneven = lists.iter().find_map(|name| {
        let length = list(value, &[name])?.len();
        (length != ttfts.len()).then_some((*name, length))
    });
    if let Some((name, length)) = uneven {
        let values = values![label, ttfts.len(), name, length];
        reading.problems.push(Problem::Uneven.with(values).at(line));
        return None;
    }
    let item = |name: &str, i: usize| list(value, &[name]).and_then(|list| list.get(i));
    let all = (0..ttfts.len()).map(|i| {
        let output = outputs[i].as_u64();
        let ttft = ttfts[i].as_f64().filter(|ttft| *ttft > 0.0);
        let gaps = item("itls", i).and_then(Value::as_array);
        let gaps: Vec<f64> = gaps.into_iter().flatten().filter_map(Value::as_f64).collect();
        let words = item("errors", i).and_then(Value::as_str).unwrap_or_default().trim();
        let failed = !words.is_empty() || (output.unwrap_or(0) == 0 && ttft.is_none());
        Sample {
            sent: item("start_times", i).and_then(Value::as_f64).filter(|sent| *sent > 0.0),
            ttft,
            latency: ttft.map(|ttft| ttft + gaps.iter().sum::<f64>()),
            gaps,
            input: item("input_lens", i).and_then(Value::as_u64),
            output,
            ended: if failed { Ended::Failed(words.to_owned()) } else { Ended::Completed },
            ..Sample::default()
        }
    });
    Some(all.collect())
}
