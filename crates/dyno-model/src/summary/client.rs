//! What was measured of the client itself: how late it was, and what waited in it.

use serde::{Deserialize, Serialize};

/// Measurements of the client itself.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ClientSummary {
    /// Send delay: `dispatched − intended`.
    pub send_lag_ms: Option<Lag>,
    /// `connected − dispatched`, where a connection was opened.
    pub connect_ms: Option<Lag>,
    /// Return of the poll to the time of a read, in runs of versions before 0.2.
    pub read_lag_ms: Option<Lag>,
    /// Read delay: from the kernel's receive time to the read.
    #[serde(default)]
    pub read_delay_ms: Option<Lag>,
    /// Oversleep of a 10 ms timer.
    pub timer_lag_ms: Option<Lag>,
    /// Ticks of that timer that were late by 10 ms or more.
    #[serde(default)]
    pub missed_ticks: Option<u64>,
    /// Total time of stalls of more than 2 ms in the client.
    #[serde(default)]
    pub blind_s: Option<f64>,
    /// The longest of these stalls.
    #[serde(default)]
    pub longest_stall_ms: Option<f64>,
    /// Time that the client waited for prompts.
    #[serde(default)]
    pub awaited_prompts_s: Option<f64>,
    /// Time that the client waited for its records to be written.
    #[serde(default)]
    pub awaited_records_s: Option<f64>,
    /// CPU time of the client's thread over wall time.
    pub cpu_share: Option<f64>,
}

/// Arrivals of an open loop that waited in the client for a free slot. The wait is part of the
/// times that count from the schedule, and not of those that count from sending.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClientWait {
    /// The most requests in flight.
    pub max_concurrency: u32,
    /// Arrivals that had to wait.
    pub waited: u64,
    /// Those of them that still waited when sending stopped, and were never sent.
    pub never_sent: u64,
    /// Mean wait of those that had to.
    pub mean_ms: Option<f64>,
    /// Longest wait.
    pub longest_ms: Option<f64>,
}

/// How late something was, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lag {
    /// Samples.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Worst.
    pub max: f64,
}
