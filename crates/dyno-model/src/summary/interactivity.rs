//! How fast a user sees output: the inverse of times per token, so that percentiles are of the slow side.

use serde::{Deserialize, Serialize};

/// Output tokens per second, as users see them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interactivity {
    /// After the first token: `1 / TPOT`.
    pub decoding: Slowest,
    /// The whole request, its prompt included: `output tokens / latency`.
    pub request: Slowest,
    /// Output tokens of all completed requests, divided by the sum of their latencies.
    pub overall: Option<f64>,
}

/// Speeds that a share of the requests reaches: half of them at least `p50`, nine of ten at least `p90`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Slowest {
    /// Of half of the requests.
    pub p50: Option<f64>,
    /// Of three quarters.
    pub p75: Option<f64>,
    /// Of nine of ten.
    pub p90: Option<f64>,
}
