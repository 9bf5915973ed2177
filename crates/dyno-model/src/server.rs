//! Server metrics, and the server's hardware.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// One sample of the server's `/metrics`. Metrics that it does not export are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerSample {
    /// When the response was complete.
    pub at: Nanos,
    /// Requests in the batch.
    pub running: Option<u64>,
    /// Requests waiting for a slot in it.
    pub waiting: Option<u64>,
    /// Share of the KV cache in use, from 0 to 1.
    pub kv_use: Option<f64>,
    /// Preempted requests since the server started.
    pub preemptions: Option<u64>,
    /// Prompt tokens looked up in the prefix cache, since the server started.
    pub prefix_queries: Option<u64>,
    /// Prompt tokens found there, since the server started.
    pub prefix_hits: Option<u64>,
    /// Hit rate as reported by the server, where it exports no counters.
    pub prefix_share: Option<f64>,
    /// Memory of the server process.
    pub resident_bytes: Option<u64>,
    /// Tokens of a block of the KV cache: prefixes are kept in whole ones.
    pub kv_block: Option<u64>,
    /// Tokens that the KV cache holds.
    pub kv_tokens: Option<u64>,
    /// Whether prefixes are kept.
    pub prefix_cache: Option<bool>,
    /// When the server process started, in milliseconds of Unix time: it tells one process from another.
    pub process_started: Option<u64>,
}

impl ServerSample {
    /// Whether the sample has no known metric of the server's work.
    pub fn is_empty(&self) -> bool {
        *self == Self { at: self.at, process_started: self.process_started, ..Self::default() }
    }
}

/// Server metrics and hardware in a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerPlan {
    /// URL of its metrics, or `none`; absent: its own `/metrics`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// How many GPUs or other accelerators it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// Price of each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_cost: Option<GpuCost>,
}

impl ServerPlan {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The price of a GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuCost {
    /// Price of one GPU for an hour.
    pub per_hour: f64,
    /// The currency as written, used only as a label.
    pub currency: Option<String>,
}
