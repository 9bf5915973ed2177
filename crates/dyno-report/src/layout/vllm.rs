//! The block that vLLM's serving benchmark prints, today's and that of 0.6. Its ITL is the time
//! between two events of a stream, however many tokens they carry: Dyno's chunk gap.

use super::block::{Block, MEAN, MEDIAN, P99, blocks, max_concurrency, rate, tokens};
use dyno_model::metric::Time;
use dyno_model::summary::{Extras, LevelExtras};
use dyno_model::summary::{LevelSummary, Summary};

/// The current layout, for each level.
pub(super) fn vllm(summary: &Summary, extras: &Extras) -> String {
    blocks(&summary.levels, |level| today(level, &extras.of(level.index)))
}

/// The layout of 0.6, for each level.
pub(super) fn vllm_0_6(summary: &Summary) -> String {
    blocks(&summary.levels, of_0_6)
}

fn today(level: &LevelSummary, extras: &LevelExtras) -> String {
    let mut block = Block::new();
    block.count("Successful requests:", level.requests.completed);
    block.count("Failed requests:", level.requests.refused());
    if let Some(slots) = max_concurrency(level) {
        block.count("Maximum request concurrency:", Some(slots));
    }
    if let Some(rate) = rate(level) {
        block.number("Request rate configured (RPS):", Some(rate));
    }
    work(&mut block, level);
    let goodput = level.slo.as_ref().and_then(|slo| slo.goodput_per_s);
    let goodput = level.stated("Request goodput (req/s)").or(goodput);
    if level.slo.is_some() || goodput.is_some() {
        block.number("Request goodput (req/s):", goodput);
    }
    block.number("Output token throughput (tok/s):", level.throughput.output_tokens_per_s);
    let peak = |count: Option<u64>| count.map(|count| count as f64);
    block.number("Peak output token throughput (tok/s):", peak(extras.peak_output_per_s));
    block.number("Peak concurrent requests:", peak(extras.peak_requests));
    block.number("Total token throughput (tok/s):", level.throughput.total_tokens_per_s);
    times(&mut block, level);
    block.finish()
}

fn of_0_6(level: &LevelSummary) -> String {
    let mut block = Block::new();
    block.count("Successful requests:", level.requests.completed);
    work(&mut block, level);
    block.number("Output token throughput (tok/s):", level.throughput.output_tokens_per_s);
    block.number("Total Token throughput (tok/s):", level.throughput.total_tokens_per_s);
    times(&mut block, level);
    block.finish()
}

fn work(block: &mut Block, level: &LevelSummary) {
    let [input, output] = tokens(level);
    block.number("Benchmark duration (s):", level.duration_s);
    block.count("Total input tokens:", input);
    block.count("Total generated tokens:", output);
    block.number("Request throughput (req/s):", level.throughput.requests_per_s);
}

fn times(block: &mut Block, level: &LevelSummary) {
    let rows = &[MEAN, MEDIAN, P99];
    block.part("Time to First Token", "TTFT", &level.times[Time::Ttft], rows);
    block.part("Time per Output Token (excl. 1st token)", "TPOT", &level.times[Time::Tpot], rows);
    block.part("Inter-token Latency", "ITL", &level.times[Time::ChunkGap], rows);
}
