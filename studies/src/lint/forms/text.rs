//! Files as tools print them: tables, blocks and CSV.

use super::super::simulated::Load;
use super::super::stated::{Stated, Stats};
use super::options;
use std::fmt::Write as _;

fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{:<40} {value:<10}", format!("{name}:"));
}

fn number(out: &mut String, name: &str, value: f64) {
    line(out, name, format!("{value:.2}"));
}

fn section(out: &mut String, title: &str, name: &str, stats: &Stats, percents: &[u32]) {
    let _ = writeln!(out, "{title:-^50}");
    number(out, &format!("Mean {name} (ms)"), stats.mean);
    number(out, &format!("Median {name} (ms)"), stats.percentile(50.0));
    for percent in percents {
        number(out, &format!("P{percent} {name} (ms)"), stats.percentile(f64::from(*percent)));
    }
}

const TITLE: &str = "============ Serving Benchmark Result ============\n";

fn rule(out: &mut String) {
    let _ = writeln!(out, "{:=^50}", "");
}

fn token_times(out: &mut String, level: &Stated) {
    section(out, "Time to First Token", "TTFT", &level.ttft, &[99]);
    section(out, "Time per Output Token (excl. 1st token)", "TPOT", &level.tpot, &[99]);
}

pub(super) fn vllm(levels: &[Stated]) -> String {
    let level = &levels[0];
    let (rate, slots) = options(level.load);
    let mut out = TITLE.to_owned();
    line(&mut out, "Successful requests", level.completed);
    if let Some(failed) = level.failed {
        line(&mut out, "Failed requests", failed);
    }
    if let Some(slots) = slots {
        line(&mut out, "Maximum request concurrency", slots);
    }
    if let Some(rate) = rate {
        number(&mut out, "Request rate configured (RPS)", rate);
    }
    number(&mut out, "Benchmark duration (s)", level.duration_s);
    line(&mut out, "Total input tokens", level.input_tokens);
    line(&mut out, "Total generated tokens", level.output_tokens);
    number(&mut out, "Request throughput (req/s)", level.per_s);
    number(&mut out, "Output token throughput (tok/s)", level.output_per_s);
    number(&mut out, "Total token throughput (tok/s)", level.total_per_s);
    token_times(&mut out, level);
    section(&mut out, "Inter-token Latency", "ITL", &level.itl, &[99]);
    section(&mut out, "End-to-end Latency", "E2EL", &level.latency, &[90, 99]);
    rule(&mut out);
    out
}

pub(super) fn sglang(levels: &[Stated]) -> String {
    let level = &levels[0];
    let (rate, slots) = options(level.load);
    let mut out = TITLE.to_owned();
    line(&mut out, "Backend", "sglang-oai-chat");
    line(&mut out, "Traffic request rate", rate.map_or("inf".to_owned(), |rate| rate.to_string()));
    let slots = slots.map_or("not set".to_owned(), |slots| slots.to_string());
    line(&mut out, "Max request concurrency", slots);
    line(&mut out, "Successful requests", level.completed);
    number(&mut out, "Benchmark duration (s)", level.duration_s);
    line(&mut out, "Total input tokens", level.input_tokens);
    line(&mut out, "Total generated tokens", level.output_tokens);
    number(&mut out, "Request throughput (req/s)", level.per_s);
    number(&mut out, "Output token throughput (tok/s)", level.output_per_s);
    number(&mut out, "Total token throughput (tok/s)", level.total_per_s);
    number(&mut out, "Concurrency", level.in_flight);
    section(&mut out, "End-to-End Latency", "E2E Latency", &level.latency, &[90, 99]);
    token_times(&mut out, level);
    section(&mut out, "Inter-Token Latency", "ITL", &level.itl, &[95, 99]);
    rule(&mut out);
    out
}

pub(super) fn guidellm(levels: &[Stated]) -> String {
    let length = levels[0].output_length.unwrap_or(128);
    let mut out = format!("### made/up-8B, prompt_tokens=512, generated_tokens={length}\n\n");
    out.push_str(
        "| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token \
         Latency | Output Token Throughput |\n| :---: | :---: | :---: | :---: | :---: | :---: |\n",
    );
    for level in levels {
        let name = match level.load {
            Load::Rate(rate) => format!("asynchronous@{rate:.2} req/sec"),
            Load::Concurrency(_) => "synchronous".to_owned(),
            Load::Burst => "throughput".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {name} | {:.2} req/sec | {:.2} sec | {:.2} ms | {:.2} ms | {:.2} tokens/sec |",
            level.per_s,
            level.latency.mean / 1e3,
            level.ttft.mean,
            level.itl.mean,
            level.output_per_s
        );
    }
    out
}

const PERCENTS: [u32; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

fn percentiles(out: &mut String, name: &str, stats: &Stats) {
    let _ = writeln!(out, " Percentile of {name}: ");
    for percent in PERCENTS {
        let _ = writeln!(out, "     p{percent}: {:.4}", stats.percentile(f64::from(percent)) / 1e3);
    }
}

/// A table of all levels, and a block of each below it.
pub(super) fn evalscope(levels: &[Stated]) -> String {
    let mut out = "## made/up-8B\n\n".to_owned();
    let slots = |level: &Stated| options(level.load).1.unwrap_or_default().to_string();
    let mut row = |name: &str, cell: &dyn Fn(&Stated) -> String| {
        let cells: Vec<String> = levels.iter().map(cell).collect();
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    };
    row("指标", &slots);
    row("---", &|_| "---".to_owned());
    row("用时", &|level| format!("{:.3}", level.duration_s));
    row("QPS", &|level| format!("{:.3}", level.per_s));
    row("延迟", &|level| format!("{:.3}", level.latency.mean / 1e3));
    row("吞吐量", &|level| format!("{:.3}", level.output_per_s));
    row("p50", &|level| format!("{:.4}", level.latency.percentile(50.0) / 1e3));
    row("p99", &|level| format!("{:.4}", level.latency.percentile(99.0) / 1e3));
    for level in levels {
        let latency = level.latency.mean / 1e3;
        let _ = writeln!(
            out,
            "\n- parallel {}\n```\nBenchmarking summary: \n Time taken for tests: {:.3} seconds",
            slots(level),
            level.duration_s
        );
        let _ = writeln!(out, " Expected number of requests: {}", level.planned);
        let _ = writeln!(out, " Number of concurrency: {}", slots(level));
        let _ = writeln!(out, " Total requests: {}", level.completed + level.failed.unwrap_or(0));
        let _ = writeln!(out, " Succeed requests: {}", level.completed);
        if let Some(failed) = level.failed {
            let _ = writeln!(out, " Failed requests: {failed}");
        }
        let _ = writeln!(out, " Average QPS: {:.3}", level.per_s);
        let _ = writeln!(out, " Average latency: {latency:.3}");
        let _ = writeln!(
            out,
            " Throughput(average output tokens per second): {:.3}",
            level.output_per_s
        );
        let _ = writeln!(out, " Average time to first token: {:.3}", level.ttft.mean / 1e3);
        let _ = writeln!(out, " Average input tokens per request: {:.3}", level.mean_input());
        let _ = writeln!(out, " Average output tokens per request: {:.3}", level.mean_output());
        let _ = writeln!(out, " Average package latency: {:.3}", level.itl.mean / 1e3);
        percentiles(&mut out, "time to first token", &level.ttft);
        percentiles(&mut out, "request latency", &level.latency);
        out.push_str("```\n");
    }
    out
}

pub(super) fn aiperf(levels: &[Stated]) -> String {
    let level = &levels[0];
    let mut out = "Metric,avg,min,max,sum,p99,p95,p90,p75,p50,std\n".to_owned();
    let mut metric = |name: &str, stats: &Stats| {
        let cells = [
            stats.mean,
            stats.min,
            stats.max,
            stats.mean * stats.count() as f64,
            stats.percentile(99.0),
            stats.percentile(95.0),
            stats.percentile(90.0),
            stats.percentile(75.0),
            stats.percentile(50.0),
            stats.std,
        ];
        let cells: Vec<String> = cells.iter().map(|value| format!("{value:.2}")).collect();
        let _ = writeln!(out, "{name},{}", cells.join(","));
    };
    metric("Time to First Token (ms)", &level.ttft);
    metric("Request Latency (ms)", &level.latency);
    if !level.tpot.is_empty() {
        metric("Inter Token Latency (ms)", &level.tpot);
    }
    out.push_str("\nMetric,Value\n");
    let mut value = |name: &str, value: f64| {
        let _ = writeln!(out, "{name},{value:.2}");
    };
    value("Benchmark Duration (sec)", level.duration_s);
    value("Request Throughput (requests/sec)", level.per_s);
    value("Output Token Throughput (tokens/sec)", level.output_per_s);
    value("Request Count (requests)", level.completed as f64);
    value("Total Output Sequence Length (tokens)", level.output_tokens as f64);
    if let Some(failed) = level.failed.filter(|failed| *failed > 0) {
        value("Error Request Count (requests)", failed as f64);
    }
    out
}
