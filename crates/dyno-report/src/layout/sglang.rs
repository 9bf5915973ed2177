//! The block that SGLang's serving benchmark prints. Over OpenAI's dialects its ITL is the time
//! between two events of a stream (Dyno's chunk gap), and its concurrency is the sum of all latencies
//! over the duration.

use super::block::{
    Block, MAX, MEAN, MEDIAN, P90, P95, P99, blocks, max_concurrency, rate, tokens,
};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Extras, LevelExtras};
use dyno_model::summary::{LevelSummary, RunSummary, Summary, tidy};

/// One block for each level.
pub(super) fn sglang(summary: &Summary, extras: &Extras) -> String {
    blocks(&summary.levels, |level| block(&summary.run, level, &extras.of(level.index)))
}

/// SGLang's name for the dialect.
pub(super) fn backend(run: &RunSummary) -> &'static str {
    if run.api.as_deref() == Some("openai-completions") { "sglang-oai" } else { "sglang-oai-chat" }
}

/// Input tokens of completed requests per second.
pub(super) fn input_per_s(level: &LevelSummary) -> Option<f64> {
    if let Some(stated) = level.stated("Input token throughput (tok/s)") {
        return Some(stated);
    }
    tidy(tokens(level)[0]? as f64 / level.duration_s.filter(|s| *s > 0.0)?)
}

/// The sum of all latencies over the duration.
pub(super) fn concurrency(level: &LevelSummary) -> Option<f64> {
    if let Some(stated) = level.stated("Concurrency") {
        return Some(stated);
    }
    let latency = level.times[Time::Latency].as_ref()?;
    let seconds = latency.mean? * latency.count? as f64 / 1e3;
    tidy(seconds / level.duration_s.filter(|s| *s > 0.0)?)
}

fn block(run: &RunSummary, level: &LevelSummary, extras: &LevelExtras) -> String {
    let traffic = match (level.load.kind, rate(level)) {
        (_, Some(rate)) => format!("{rate:?}"),
        (LoadKind::Trace, _) => "trace".to_owned(),
        (LoadKind::Ramp, _) => super::plain(&level.label),
        _ => "inf".to_owned(),
    };
    let slots = max_concurrency(level).map_or_else(|| "not set".to_owned(), |n| n.to_string());
    let [input, output] = tokens(level);
    let done = &level.throughput;
    let mut block = Block::new();
    block.text("Backend:", backend(run));
    block.text("Traffic request rate:", &traffic);
    block.text("Max request concurrency:", &slots);
    block.count("Successful requests:", level.requests.completed);
    block.number("Benchmark duration (s):", level.duration_s);
    block.count("Total input tokens:", input);
    block.count("Total generated tokens:", output);
    block.number("Request throughput (req/s):", done.requests_per_s);
    block.number("Input token throughput (tok/s):", input_per_s(level));
    block.number("Output token throughput (tok/s):", done.output_tokens_per_s);
    let peak = extras.peak_output_per_s.map(|count| count as f64);
    block.number("Peak output token throughput (tok/s):", peak);
    block.count("Peak concurrent requests:", extras.peak_requests);
    block.number("Total token throughput (tok/s):", done.total_tokens_per_s);
    block.number("Concurrency:", concurrency(level));
    let rows = &[MEAN, MEDIAN, P90, P95, P99];
    block.part("End-to-End Latency", "E2E Latency", &level.times[Time::Latency], rows);
    block.part("Time to First Token", "TTFT", &level.times[Time::Ttft], rows);
    block.part("Time per Output Token (excl. 1st token)", "TPOT", &level.times[Time::Tpot], rows);
    let rows = &[MEAN, MEDIAN, P90, P95, P99, MAX];
    block.part("Inter-Token Latency", "ITL", &level.times[Time::ChunkGap], rows);
    block.finish()
}
