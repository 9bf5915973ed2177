//! What a summary says of the server's prefix cache.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// How much of a level's prompts the server's prefix cache had.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheSummary {
    /// Share of the prompt tokens: by usage, else by the server's counters. By usage it is at least
    /// this much where not every response reports it.
    pub share: Option<f64>,
    /// The same without what every prompt shares, such as a chat template's first blocks: what the
    /// verdict is about.
    pub beyond_shared: Option<f64>,
    /// Who says so.
    pub source: Option<CacheSource>,
    /// Prompt tokens from the cache, summed over the responses that report them.
    pub cached_tokens: Option<u64>,
    /// Completed requests whose response reports them.
    pub reported: u64,
    /// Tokens that every prompt shares, measured before the run.
    pub shared_tokens: Option<u64>,
    /// Requests of whose prompt the cache had more than that, where there are fair numbers of both.
    pub hits: Option<CacheFigures>,
    /// All others.
    pub misses: Option<CacheFigures>,
}

/// Who tells how much the cache had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheSource {
    /// The usage of each response.
    Usage,
    /// The server's counters.
    Counters,
}

/// Figures of requests that hit or missed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheFigures {
    /// Completed requests.
    pub requests: u64,
    /// `first − sent`.
    #[serde(rename = "ttft_ms")]
    pub ttft: Option<Distribution>,
}
