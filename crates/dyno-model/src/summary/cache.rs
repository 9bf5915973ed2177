//! The server's prefix cache in a summary.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// Prefix cache hits of a level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheSummary {
    /// Hit rate by prompt tokens: from usage, else from the server's counters. From usage, it is a lower
    /// bound where not every response reports it.
    pub share: Option<f64>,
    /// The same without what every prompt shares, such as the first blocks of a chat template. The
    /// verdict depends on this one.
    pub beyond_shared: Option<f64>,
    /// Where the numbers come from.
    pub source: Option<CacheSource>,
    /// Prompt tokens from the cache, summed over the responses that report them.
    pub cached_tokens: Option<u64>,
    /// Completed requests whose response reports them.
    pub reported: u64,
    /// Tokens that every prompt shares, measured before the run.
    pub shared_tokens: Option<u64>,
    /// Requests with more hits than that, where there are enough of both kinds.
    pub hits: Option<CacheGroup>,
    /// All others.
    pub misses: Option<CacheGroup>,
}

/// Where the hit rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheSource {
    /// The usage of each response.
    Usage,
    /// The server's counters.
    Counters,
}

/// Metrics of requests that hit or missed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheGroup {
    /// Completed requests.
    pub requests: u64,
    /// `first − sent`.
    #[serde(rename = "ttft_ms")]
    pub ttft: Option<Distribution>,
}
