//! Server metrics and costs in a summary.

use serde::{Deserialize, Serialize};

/// Server metrics while a level's measured requests were in flight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// Number of samples.
    pub samples: u64,
    /// Requests in the batch.
    pub running: Option<Gauge>,
    /// Requests waiting for a slot in it.
    pub waiting: Option<Gauge>,
    /// Share of the samples in which some request waited.
    pub waiting_share: Option<f64>,
    /// Largest share of the KV cache in use.
    pub kv_use_max: Option<f64>,
    /// Share of the samples in which more than 95 % of it were in use.
    pub kv_full_share: Option<f64>,
    /// Preempted requests.
    pub preemptions: Option<u64>,
    /// Prefix cache hit rate, by prompt tokens.
    pub prefix_hit_share: Option<f64>,
    /// Memory of the server process.
    pub resident: Option<Resident>,
}

/// A gauge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gauge {
    /// Mean of the samples.
    pub mean: f64,
    /// Largest sample.
    pub max: u64,
}

/// Memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resident {
    /// Bytes at the start of the level.
    pub start_bytes: u64,
    /// Bytes at its end.
    pub end_bytes: u64,
}

/// Throughput per GPU, and cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostSummary {
    /// The throughput is that of the steady window, not of the whole level.
    pub steady: bool,
    /// Output tokens per second per GPU.
    pub output_tokens_per_s_per_gpu: Option<f64>,
    /// Input and output tokens per second per GPU.
    pub total_tokens_per_s_per_gpu: Option<f64>,
    /// Cost per million output tokens, of all GPUs together.
    pub per_million_output_tokens: Option<f64>,
    /// Cost per million tokens, input and output together.
    pub per_million_total_tokens: Option<f64>,
}
