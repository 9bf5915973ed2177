//! What a summary says of the server's own figures, and of what its work costs.

use serde::{Deserialize, Serialize};

/// What the server said of itself while a level's measured requests were in flight.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerSummary {
    /// How many times it was asked in that time, and answered.
    pub samples: u64,
    /// Requests in the batch.
    pub running: Option<Gauge>,
    /// Requests that waited for a place in it.
    pub waiting: Option<Gauge>,
    /// Share of the samples in which some request waited.
    pub waiting_share: Option<f64>,
    /// Largest share of the KV cache in use.
    pub kv_use_max: Option<f64>,
    /// Share of the samples in which more than 95 % of it were in use.
    pub kv_full_share: Option<f64>,
    /// Requests that lost their place in the batch.
    pub preemptions: Option<u64>,
    /// Share of prompt tokens that the prefix cache had.
    pub prefix_hit_share: Option<f64>,
    /// Memory of the process that answers.
    pub resident: Option<Resident>,
}

/// A number that goes up and down.
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

/// What a level's work takes: work per GPU, and its price.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CostSummary {
    /// The throughput is that of the steady window, not of the whole run.
    pub steady: bool,
    /// Output tokens per second and GPU.
    pub output_tokens_per_s_per_gpu: Option<f64>,
    /// Input and output tokens per second and GPU.
    pub total_tokens_per_s_per_gpu: Option<f64>,
    /// Price of a million output tokens, all GPUs together.
    pub per_million_output_tokens: Option<f64>,
    /// Price of a million tokens, input and output together.
    pub per_million_total_tokens: Option<f64>,
}
