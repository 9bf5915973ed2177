//! Conversations in a summary.

use super::{Distribution, Tokens};
use serde::{Deserialize, Serialize};

/// The conversations of a level, of which measured requests are turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// Conversations with a measured turn.
    pub started: u64,
    /// Those of them in which a measured turn failed.
    pub broken: u64,
    /// Measured turns.
    pub turns: u64,
    /// Measured turns per conversation.
    pub turns_mean: f64,
    /// First turns: no server can have seen their conversation before.
    pub first: TurnMetrics,
    /// All other turns: a prefix cache can help them.
    pub later: TurnMetrics,
}

/// Metrics of some turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnMetrics {
    /// Completed turns.
    pub requests: u64,
    /// `first − sent`.
    #[serde(rename = "ttft_ms")]
    pub ttft: Option<Distribution>,
    /// `last − sent`.
    #[serde(rename = "latency_ms")]
    pub latency: Option<Distribution>,
    /// Input tokens, the conversation so far included.
    pub input_tokens: Option<Tokens>,
}
