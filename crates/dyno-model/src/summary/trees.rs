//! Trees of sessions in a summary: tasks of agents, replayed.

use super::{Concurrency, Distribution, Lag, Tokens};
use serde::{Deserialize, Serialize};

/// The trees of a level, of which measured requests are turns. Times of whole trees are those of completed ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trees {
    /// Trees with a measured request.
    pub started: u64,
    /// Those of them in which every request completed.
    pub completed: u64,
    /// Those in which a request failed, was shed, or could not be sent.
    pub failed: u64,
    /// Those that ended because a request was longer than the server's context.
    pub overflowed: u64,
    /// Those that were not over when the level ended.
    pub cut: u64,
    /// Sessions with a measured request, roots included.
    pub sessions: u64,
    /// Those of them that are sub-agents.
    pub subagents: u64,
    /// Sessions in which a request failed.
    pub sessions_failed: u64,
    /// Measured requests.
    pub turns: u64,
    /// The same per tree.
    pub turns_mean: f64,
    /// Requests of failed and overflowed trees that were not sent for that reason.
    pub cancelled: u64,
    /// Trees that were at work, gaps included.
    pub live: Option<Concurrency>,
    /// Requests of one tree in flight, while it has any.
    pub parallel: Option<Concurrency>,
    /// From the first request of a tree to its last end.
    #[serde(rename = "duration_ms")]
    pub duration: Option<Distribution>,
    /// The part of that in which a request was in flight.
    #[serde(rename = "active_ms")]
    pub active: Option<Distribution>,
    /// The rest: gaps in which no request was in flight.
    #[serde(rename = "idle_ms")]
    pub idle: Option<Distribution>,
    /// The duration divided by the one that was recorded of the same requests.
    pub stretch: Option<Distribution>,
    /// Joins: from the first end that a request waited for to the last.
    #[serde(rename = "join_wait_ms")]
    pub join_wait: Option<Distribution>,
    /// Input tokens of a completed tree.
    pub input_tokens: Option<Tokens>,
    /// Output tokens of a completed tree.
    pub output_tokens: Option<Tokens>,
    /// How exactly the recording was followed.
    pub fidelity: Fidelity,
    /// The hit rates of a prefix cache without bounds; absent where prompts have no known prefixes.
    pub ideal_cache: Option<IdealCache>,
    /// Completed requests in groups; groups without requests are left out.
    pub groups: Vec<RequestGroup>,
}

/// How exactly a recording was followed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Fidelity {
    /// How much later than due requests were sent.
    pub gap_error_ms: Option<Lag>,
    /// Recorded gap time that was skipped, summed over the requests.
    pub skipped_s: f64,
    /// Time in which nothing was in flight anywhere that was skipped: the level took so much less.
    pub idle_skipped_s: f64,
    /// Prompts with less than the whole response before them.
    pub trimmed: u64,
    /// Prompts that do not keep the prompt before them.
    pub cut: u64,
    /// Output tokens received, divided by those that were asked for.
    pub output_kept: Option<f64>,
}

/// Shares of input tokens that a prefix cache without bounds would hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IdealCache {
    /// If it kept prompts only.
    pub of_prompts: f64,
    /// If it kept responses as well.
    pub with_responses: f64,
}

/// What requests are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupedBy {
    /// The number of the turn in its session.
    Turn,
    /// Input tokens.
    Context,
    /// The place of the session in its tree: 0 is the root, all others are sub-agents.
    Session,
    /// The share of the input that came from the prefix cache, in percent.
    Cached,
}

impl GroupedBy {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Turn, Self::Context, Self::Session, Self::Cached];

    /// Where its groups begin.
    pub fn bounds(self) -> &'static [u64] {
        match self {
            Self::Turn => &[1, 2, 6, 21],
            Self::Context => &[0, 4_000, 16_000, 64_000, 128_000],
            Self::Session => &[0, 1],
            Self::Cached => &[0, 1, 50, 90],
        }
    }
}

/// Metrics of the completed requests of which a number lies in a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestGroup {
    /// Which number.
    pub by: GroupedBy,
    /// The least.
    pub from: u64,
    /// Less than this; absent where there is no limit.
    pub below: Option<u64>,
    /// Completed requests.
    pub requests: u64,
    /// Their input tokens.
    pub input_tokens: Option<Tokens>,
    /// `first − sent`.
    #[serde(rename = "ttft_ms")]
    pub ttft: Option<Distribution>,
    /// `(last − first) / (output tokens − 1)`.
    #[serde(rename = "tpot_ms")]
    pub tpot: Option<Distribution>,
    /// `last − sent`.
    #[serde(rename = "latency_ms")]
    pub latency: Option<Distribution>,
}
