//! Repeated levels: the spread between rounds.

use serde::{Deserialize, Serialize};

/// A level that was run more than once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// What tables call it, without the number of the round.
    pub label: String,
    /// Rounds that count: those that are not invalid.
    pub rounds: u64,
    /// Completed requests per second: steady where there is a steady window in every round.
    pub requests_per_s: Option<Spread>,
    /// Output tokens per second, likewise.
    pub output_tokens_per_s: Option<Spread>,
    /// Texts per second, where nothing is generated, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs_per_s: Option<Spread>,
    /// Median time to the first token.
    pub ttft_p50_ms: Option<Spread>,
    /// 99th percentile of it.
    pub ttft_p99_ms: Option<Spread>,
    /// Median time between tokens.
    pub itl_p50_ms: Option<Spread>,
    /// Median latency.
    pub latency_p50_ms: Option<Spread>,
    /// 99th percentile of it.
    pub latency_p99_ms: Option<Spread>,
}

/// One metric over several rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Standard deviation between rounds, in percent of the mean.
    pub deviation_percent: f64,
}
