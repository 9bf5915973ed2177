//! A level over time: ramps and soaks.

use serde::{Deserialize, Serialize};

/// One time slice of a level. Latencies are those of the requests sent in it, whenever they ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Where it begins, from the start of the measured time.
    pub from_s: f64,
    /// Where it ends.
    pub to_s: f64,
    /// Arrivals due in it, per second.
    pub offered_per_s: f64,
    /// Requests completed in it, per second.
    pub completed_per_s: f64,
    /// Median of `first − sent`.
    pub ttft_p50_ms: Option<f64>,
    /// 99th percentile of `first − sent`; absent with fewer than 20 samples.
    pub ttft_p99_ms: Option<f64>,
    /// Fewer than ten samples lie beyond that percentile.
    pub ttft_p99_marked: bool,
    /// Median of `last − sent`.
    pub latency_p50_ms: Option<f64>,
    /// Failures in it.
    pub failed: u64,
    /// Requests shed in it.
    #[serde(default)]
    pub shed: u64,
    /// Requests in flight when it ended.
    pub in_flight: u64,
}
