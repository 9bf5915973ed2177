//! Files in JSON.

use super::super::simulated::Load;
use super::super::stated::{Stated, Stats};
use super::options;
use serde_json::{Map, Value, json};

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn with_stats(into: &mut Map<String, Value>, name: &str, stats: &Stats, percents: &[u32]) {
    let mut put = |stat: &str, value: f64| into.insert(format!("{stat}_{name}_ms"), json!(value));
    put("mean", stats.mean);
    put("median", stats.percentile(50.0));
    put("std", stats.std);
    for percent in percents {
        put(&format!("p{percent}"), stats.percentile(f64::from(*percent)));
    }
}

fn serving(level: &Stated, latency: &str) -> Map<String, Value> {
    let (rate, slots) = options(level.load);
    let rate = rate.map_or(json!("inf"), |rate| json!(rate));
    let mut all = fields(json!({
        "date": "20260102-030405", "backend": "openai-chat", "model_id": "made/up-8B",
        "tokenizer_id": "made/up-8B", "num_prompts": level.planned, "request_rate": rate,
        "burstiness": level.burstiness, "max_concurrency": slots, "duration": level.duration_s,
        "completed": level.completed, "total_input_tokens": level.input_tokens,
        "total_output_tokens": level.output_tokens, "request_throughput": level.per_s,
        "output_throughput": level.output_per_s, "total_token_throughput": level.total_per_s,
    }));
    for (name, stats) in [("ttft", &level.ttft), ("tpot", &level.tpot), ("itl", &level.itl)] {
        with_stats(&mut all, name, stats, &[99]);
    }
    with_stats(&mut all, latency, &level.latency, &[90, 99]);
    all
}

pub(super) fn vllm(levels: &[Stated]) -> String {
    let mut all = serving(&levels[0], "e2el");
    all.extend(levels[0].failed.map(|failed| ("failed".to_owned(), json!(failed))));
    Value::Object(all).to_string()
}

/// As before version 0.10, without failures; and without latency, unless it was asked for.
pub(super) fn vllm_old(levels: &[Stated]) -> String {
    let mut all = serving(&levels[0], "e2el");
    all.retain(|name, _| !name.contains("e2el"));
    Value::Object(all).to_string()
}

pub(super) fn sglang(levels: &[Stated]) -> String {
    let line = |level: &Stated| {
        let mut all = serving(level, "e2e_latency");
        all.remove("burstiness");
        all.extend(fields(json!({
            "backend": "sglang-oai", "dataset_name": "random", "random_range_ratio": 0.0,
            "concurrency": level.in_flight, "accept_length": null,
        })));
        Value::Object(all).to_string() + "\n"
    };
    levels.iter().map(line).collect()
}

fn guided(stats: &Stats, unit: f64) -> Value {
    let percent = |percent: f64| stats.percentile(percent) * unit;
    json!({ "successful": {
        "mean": stats.mean * unit, "median": percent(50.0), "std_dev": stats.std * unit,
        "min": stats.min * unit, "max": stats.max * unit, "count": stats.count(),
        "percentiles": {
            "p50": percent(50.0), "p75": percent(75.0), "p90": percent(90.0),
            "p95": percent(95.0), "p99": percent(99.0), "p999": percent(99.9),
        },
    }})
}

pub(super) fn guidellm(levels: &[Stated]) -> String {
    let benchmark = |level: &Stated| {
        let strategy = match level.load {
            Load::Rate(rate) => json!({ "type_": "poisson", "rate": rate }),
            Load::Concurrency(1) => json!({ "type_": "synchronous" }),
            Load::Concurrency(slots) => json!({ "type_": "concurrent", "streams": slots }),
            Load::Burst => json!({ "type_": "throughput" }),
        };
        let rate = |mean: f64| json!({ "successful": { "mean": mean } });
        let tokens = |mean: f64, total: u64| json!({ "successful": { "mean": mean, "count": level.completed, "total_sum": total } });
        let totals = json!({
            "successful": level.completed, "errored": level.failed,
            "incomplete": level.incomplete, "total": level.planned,
        });
        let itl = level.tpot.scaled(level.by_token / level.tpot.mean.max(1e-9));
        json!({
            "type_": "generative_benchmark",
            "config": { "strategy": strategy,
                "backend": { "target": "http://localhost:8000", "model": "made/up-8B" } },
            "scheduler_metrics": { "requests_made": totals },
            "duration": level.duration_s,
            "metrics": {
                "request_totals": totals,
                "requests_per_second": rate(level.per_s),
                "request_concurrency": { "successful": { "mean": level.in_flight } },
                "output_tokens_per_second": rate(level.output_per_s),
                "request_latency": guided(&level.latency, 1e-3),
                "time_to_first_token_ms": guided(&level.ttft, 1.0),
                "inter_token_latency_ms": guided(&itl, 1.0),
                "prompt_token_count": tokens(level.mean_input(), level.input_tokens),
                "output_token_count": tokens(level.mean_output(), level.output_tokens),
            },
        })
    };
    let benchmarks: Vec<Value> = levels.iter().map(benchmark).collect();
    json!({ "metadata": { "version": 1, "guidellm_version": "0.6.0" }, "benchmarks": benchmarks })
        .to_string()
}

fn rounded(value: f64) -> Value {
    json!((value * 1e4).round() / 1e4)
}

pub(super) fn evalscope(levels: &[Stated]) -> String {
    let level = &levels[0];
    let (rate, slots) = options(level.load);
    let mut all = fields(json!({
        "Time taken for tests (s)": rounded(level.duration_s),
        "Number of concurrency": slots.unwrap_or(level.planned as u32),
        "Total requests": level.planned,
        "Succeed requests": level.completed,
        "Failed requests": level.failed,
        "Output token throughput (tok/s)": rounded(level.output_per_s),
        "Total token throughput (tok/s)": rounded(level.total_per_s),
        "Request throughput (req/s)": rounded(level.per_s),
        "Average latency (s)": rounded(level.latency.mean / 1e3),
        "Average time to first token (s)": rounded(level.ttft.mean / 1e3),
        "Average time per output token (s)": rounded(level.tpot.mean / 1e3),
        "Average inter-token latency (s)": rounded(level.itl.mean / 1e3),
        "Average input tokens per request": rounded(level.mean_input()),
        "Average output tokens per request": rounded(level.mean_output()),
    }));
    all.extend(rate.map(|rate| ("Request rate (req/s)".to_owned(), json!(rate))));
    Value::Object(all).to_string()
}

/// The metrics that AIPerf and GenAI-Perf have in common.
fn exported(level: &Stated) -> Map<String, Value> {
    let one = |unit: &str, avg: f64| json!({ "unit": unit, "avg": avg });
    let many = |stats: &Stats| {
        let percent = |percent: f64| stats.percentile(percent);
        json!({
            "unit": "ms", "avg": stats.mean, "p50": percent(50.0), "p75": percent(75.0),
            "p90": percent(90.0), "p95": percent(95.0), "p99": percent(99.0), "min": stats.min,
            "max": stats.max, "std": stats.std,
        })
    };
    let mut all = fields(json!({
        "request_throughput": one("requests/sec", level.per_s),
        "request_latency": many(&level.latency),
        "request_count": one("requests", level.completed as f64),
        "time_to_first_token": many(&level.ttft),
        "output_token_throughput": one("tokens/sec", level.output_per_s),
        "output_sequence_length": one("tokens", level.mean_output()),
        "input_sequence_length": one("tokens", level.mean_input()),
    }));
    if !level.tpot.is_empty() {
        all.insert("inter_token_latency".to_owned(), many(&level.tpot));
    }
    all
}

pub(super) fn aiperf(levels: &[Stated]) -> String {
    let level = &levels[0];
    let (rate, slots) = options(level.load);
    let one = |unit: &str, avg: f64| json!({ "unit": unit, "avg": avg });
    let mut all = exported(level);
    all.extend(fields(json!({
        "schema_version": "1.4", "aiperf_version": "0.13.0",
        "total_token_throughput": one("tokens/sec", level.total_per_s),
        "total_osl": one("tokens", level.output_tokens as f64),
        "benchmark_duration": one("sec", level.duration_s),
        "input_config": {
            "endpoint": { "model_names": ["made/up-8B"] },
            "loadgen": { "concurrency": slots, "request_rate": rate },
        },
    })));
    // Without errors it writes none.
    let failed = level.failed.filter(|failed| *failed > 0);
    all.extend(failed.map(|n| ("error_request_count".to_owned(), one("requests", n as f64))));
    Value::Object(all).to_string()
}

pub(super) fn genai_perf(levels: &[Stated]) -> String {
    let (rate, slots) = options(levels[0].load);
    let mut all = exported(&levels[0]);
    all.extend(fields(json!({ "input_config": {
        "model_names": ["made/up-8B"],
        "endpoint": { "streaming": true, "service_kind": "openai" },
        "perf_analyzer": { "stimulus": { "concurrency": slots, "request_rate": rate } },
    }})));
    Value::Object(all).to_string()
}

/// A stage of inference-perf's: times in seconds.
pub(super) fn inference_perf(levels: &[Stated]) -> String {
    let level = &levels[0];
    let (rate, _) = options(level.load);
    let seconds = |stats: &Stats| {
        let percent = |percent: f64| stats.percentile(percent) / 1e3;
        json!({
            "mean": stats.mean / 1e3, "min": stats.min / 1e3, "median": percent(50.0),
            "p75": percent(75.0), "p90": percent(90.0), "p95": percent(95.0),
            "p99": percent(99.0), "p99.9": percent(99.9), "max": stats.max / 1e3,
        })
    };
    json!({
        "load_summary": { "count": level.planned, "requested_rate": rate },
        "successes": {
            "count": level.completed,
            "latency": {
                "request_latency": seconds(&level.latency),
                "time_to_first_token": seconds(&level.ttft),
                "time_per_output_token": seconds(&level.tpot),
                "inter_token_latency": seconds(&level.itl),
            },
            "throughput": {
                "output_tokens_per_sec": level.output_per_s,
                "total_tokens_per_sec": level.total_per_s,
                "requests_per_sec": level.per_s,
            },
            "prompt_len": { "mean": level.mean_input() },
            "output_len": { "mean": level.mean_output() },
        },
        "failures": { "count": level.failed },
    })
    .to_string()
}
