//! What each of several load generators did in a level, as in `summary.json`.

use super::ClientSummary;
use crate::diagnostic::Diagnostic;
use crate::frame::Ending;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// One agent's part of a level. Counts and times are of its measured requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentSummary {
    /// Its number in the run, from 0.
    pub agent: u32,
    /// Its name.
    pub name: String,
    /// The machine it ran on.
    pub host: String,
    /// Whether to trust it as a client.
    pub verdict: Verdict,
    /// Why its verdict is not `valid`.
    pub reasons: Vec<Diagnostic>,
    /// Notes that do not affect its verdict.
    pub notes: Vec<Diagnostic>,
    /// Why it was lost, if it was.
    pub lost: Option<String>,
    /// Why it stopped sending; absent where it was lost.
    pub ending: Option<Ending>,
    /// Requests that it sent.
    pub sent: u64,
    /// Those that completed.
    pub completed: u64,
    /// Those that failed, without those that were shed.
    pub failed: u64,
    /// Those that the server refused because it was overloaded.
    pub shed: u64,
    /// Its share of the arrivals that all agents issued.
    pub share: Option<f64>,
    /// The share that it was asked for: by planned requests, else by slots, else an equal one.
    pub expected_share: Option<f64>,
    /// Its requests in flight, on average over the level.
    pub in_flight_mean: Option<f64>,
    /// The most of them at once.
    pub in_flight_peak: Option<u64>,
    /// Median TTFT.
    pub ttft_p50_ms: Option<f64>,
    /// 99th percentile of TTFT.
    pub ttft_p99_ms: Option<f64>,
    /// Closed loop: the share of its slots that certainly had a request in flight.
    pub effective_concurrency: Option<f64>,
    /// Measurements of it as a client.
    pub client: ClientSummary,
    /// How its clock relates to the coordinator's.
    pub clock: Option<AgentClock>,
    /// How much later than agreed it started.
    pub start_error_ms: Option<f64>,
    /// Beats received during the level.
    pub beats: u64,
    /// The longest time between two of them.
    pub longest_silence_ms: f64,
}

/// How an agent's clock relates to the coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentClock {
    /// Coordinator's clock less the agent's, in nanoseconds: both count from some time of their own.
    pub offset_ns: i64,
    /// By how much the offset may be wrong, either way.
    pub bound_ms: f64,
    /// How much faster the coordinator's clock runs.
    pub drift_ppm: f64,
    /// The shortest round trip between them.
    pub round_trip_ms: f64,
}

impl AgentSummary {
    /// The order in which agents are shown where there is no room for all: the worst first.
    pub fn worst_first(agents: &[Self]) -> Vec<&Self> {
        let mut all: Vec<&Self> = agents.iter().collect();
        let late = |agent: &Self| agent.client.send_lag_ms.map_or(0.0, |lag| lag.p99);
        all.sort_by(|a, b| {
            let by_verdict = b.verdict.cmp(&a.verdict);
            by_verdict.then(late(b).total_cmp(&late(a))).then(a.agent.cmp(&b.agent))
        });
        all
    }
}
