//! The server's own side of a run: what it says of itself, and what it runs on.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What the server's `/metrics` said at one moment. What it did not say is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServerSample {
    /// When the answer had come.
    pub at: Nanos,
    /// Requests in the batch.
    pub running: Option<u64>,
    /// Requests that wait for a place in it.
    pub waiting: Option<u64>,
    /// Share of the KV cache in use, from 0 to 1.
    pub kv_use: Option<f64>,
    /// Requests that lost their place in the batch, since the server started.
    pub preemptions: Option<u64>,
    /// Prompt tokens looked up in the prefix cache, since the server started.
    pub prefix_queries: Option<u64>,
    /// Prompt tokens found there, since the server started.
    pub prefix_hits: Option<u64>,
    /// Share of hits by the server's own reckoning, where it counts nothing.
    pub prefix_share: Option<f64>,
    /// Memory of the process that answers.
    pub resident_bytes: Option<u64>,
}

impl ServerSample {
    /// The server said nothing that is known.
    pub fn is_empty(&self) -> bool {
        *self == Self { at: self.at, ..Self::default() }
    }
}

/// What a plan says of the server besides its address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerPlan {
    /// Where it is asked for its figures, or `none`; absent: its own `/metrics`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// How many GPUs or other accelerators it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// What each of them costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_cost: Option<GpuCost>,
}

impl ServerPlan {
    /// Nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a GPU costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuCost {
    /// Price of one GPU for an hour.
    pub per_hour: f64,
    /// The currency as it was written; a mere label.
    pub currency: Option<String>,
}
