//! The server's own times in a summary.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// What responses say about the server's times, over the completed requests of a level that carry them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerTimesSummary {
    /// Completed requests whose response carries some of these times.
    pub reported: u64,
    /// From the arrival at the server until the request was scheduled.
    #[serde(rename = "queue_ms")]
    pub queue: Option<Distribution>,
    /// The processing of the prompt, up to the first token.
    #[serde(rename = "prefill_ms")]
    pub prefill: Option<Distribution>,
    /// From the first token to the last.
    #[serde(rename = "decode_ms")]
    pub decode: Option<Distribution>,
    /// Loading the model.
    #[serde(rename = "load_ms")]
    pub load: Option<Distribution>,
    /// All of it, as the server sees it.
    #[serde(rename = "total_ms")]
    pub total: Option<Distribution>,
    /// TTFT without queue, prefill and load: network and front end, and the queue of a server that does
    /// not report it. Of requests with a prefill time, without those counted in `beyond_ttft`.
    #[serde(rename = "outside_ms")]
    pub outside: Option<Distribution>,
    /// Requests whose queue, prefill and load took longer than TTFT, by the server.
    pub beyond_ttft: u64,
}
