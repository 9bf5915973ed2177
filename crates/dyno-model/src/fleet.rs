//! Several load generators on one run: what the plan says of them, and what each did in a level.

use crate::Nanos;
use crate::frame::{ClientHealth, Ending};
use crate::message::Message;
use serde::{Deserialize, Serialize};

/// The load generators of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPlan {
    /// How many there are; each sends its part of every level.
    pub agents: u32,
    /// They are on a bus, not children of this process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bus: bool,
}

/// How an agent's clock relates to the coordinator's at some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockFit {
    /// Coordinator's clock less the agent's at [`ClockFit::at`], in nanoseconds.
    pub offset_ns: i64,
    /// By how much that may be wrong, either way.
    pub bound_ns: u64,
    /// How much faster the coordinator's clock runs, in parts per billion.
    pub drift_ppb: i64,
    /// When the offset holds, on the agent's clock.
    pub at: Nanos,
    /// The shortest round trip between them.
    pub round_trip_ns: u64,
    /// How often one of the clocks jumped in the time that this holds for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl ClockFit {
    /// The offset at a time on the agent's clock.
    pub fn offset_at(&self, at: Nanos) -> i64 {
        let since = i128::from(at) - i128::from(self.at);
        let drifted = since * i128::from(self.drift_ppb) / 1_000_000_000;
        self.offset_ns.saturating_add(i64::try_from(drifted).unwrap_or(0))
    }

    /// A time on the agent's clock, on the coordinator's.
    pub fn to_coordinator(&self, at: Nanos) -> Nanos {
        at.saturating_add_signed(self.offset_at(at))
    }

    /// A time on the coordinator's clock, on the agent's.
    pub fn to_agent(&self, at: Nanos) -> Nanos {
        let near = at.saturating_add_signed(self.offset_ns.saturating_neg());
        at.saturating_add_signed(self.offset_at(near).saturating_neg())
    }
}

/// One agent's part of a level, with times on the coordinator's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentEnd {
    /// Its number in the run, from 0: its part of the arrivals.
    pub agent: u32,
    /// Its name.
    pub name: String,
    /// The machine it ran on.
    pub host: String,
    /// How its clock relates to the coordinator's; absent where it was lost before that was known.
    pub clock: Option<ClockFit>,
    /// How much later than agreed it started.
    pub start_error_ns: Option<i64>,
    /// Why it stopped sending; absent where it was lost.
    pub ending: Option<Ending>,
    /// When it stopped sending.
    pub sending_stopped: Option<Nanos>,
    /// Measured arrivals asked of it.
    pub planned: Option<u64>,
    /// Measured arrivals that it issued.
    pub issued: u64,
    /// Warm-up arrivals that it issued.
    pub warmup: u64,
    /// Beats received during the level.
    pub beats: u64,
    /// The longest time between two of them.
    pub longest_silence_ns: u64,
    /// Measurements of it as a client.
    pub client: ClientHealth,
    /// Why it was lost, if it was.
    pub lost: Option<Message>,
}

impl AgentEnd {
    /// An agent of which nothing more is known.
    pub fn new(agent: u32, name: &str, host: &str) -> Self {
        Self {
            agent,
            name: name.to_owned(),
            host: host.to_owned(),
            clock: None,
            start_error_ns: None,
            ending: None,
            sending_stopped: None,
            planned: None,
            issued: 0,
            warmup: 0,
            beats: 0,
            longest_silence_ns: 0,
            client: ClientHealth::default(),
            lost: None,
        }
    }
}

/// Several clients as one: counts and histograms added; of times, the worst of any; the CPU of the busiest.
pub fn merged_health<'a>(agents: impl IntoIterator<Item = &'a ClientHealth>) -> ClientHealth {
    let mut all = ClientHealth::default();
    let busy = |health: &ClientHealth| health.cpu_ns as f64 / health.wall_ns.max(1) as f64;
    for one in agents {
        all.read_lag.merge(&one.read_lag);
        all.read_delay.merge(&one.read_delay);
        all.timer_lag.merge(&one.timer_lag);
        all.missed_ticks += one.missed_ticks;
        all.unstamped_reads += one.unstamped_reads;
        all.blind_ns = all.blind_ns.max(one.blind_ns);
        all.longest_stall_ns = all.longest_stall_ns.max(one.longest_stall_ns);
        all.awaited_prompts_ns = all.awaited_prompts_ns.max(one.awaited_prompts_ns);
        all.awaited_records_ns = all.awaited_records_ns.max(one.awaited_records_ns);
        all.paused_ns += one.paused_ns;
        all.pauses += one.pauses;
        if all.wall_ns == 0 || busy(one) > busy(&all) {
            (all.cpu_ns, all.wall_ns) = (one.cpu_ns, one.wall_ns);
        }
        all.out_of_files += one.out_of_files;
        all.out_of_ports += one.out_of_ports;
        all.behind_ns = all.behind_ns.max(one.behind_ns);
        all.unasked += one.unasked;
        all.skipped_idle_ns += one.skipped_idle_ns;
        if one.clock_step_ns.unsigned_abs() > all.clock_step_ns.unsigned_abs() {
            all.clock_step_ns = one.clock_step_ns;
        }
    }
    all
}

/// What an agent has done so far in a level, once a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Requests sent.
    pub sent: u64,
    /// Requests completed.
    pub completed: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that the server refused.
    pub shed: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Output tokens received in this level.
    pub tokens: u64,
    /// Of those, the ones of responses that failed.
    pub wasted: u64,
    /// How late the measuring thread was at most since the last beat.
    pub lag_ns: u64,
    /// Median TTFT of the requests that completed since the last beat.
    pub ttft_ns: Option<u64>,
    /// Their median latency.
    pub latency_ns: Option<u64>,
}

/// An agent as the coordinator sees it during a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSeen {
    /// Its name.
    pub name: String,
    /// Its last beat; absent before the first.
    pub beat: Option<Beat>,
    /// When something was heard from it last, on the coordinator's clock.
    pub heard: Nanos,
    /// It is done with the level.
    pub done: bool,
    /// Why it was lost, if it was.
    pub lost: Option<Message>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_clients_are_as_late_as_the_worst_and_as_busy_as_the_busiest() {
        let client = |cpu_ns, stall, files| {
            let mut client = ClientHealth {
                cpu_ns,
                wall_ns: 100,
                longest_stall_ns: stall,
                out_of_files: files,
                ..ClientHealth::default()
            };
            client.read_delay.record(stall);
            client
        };
        let all = merged_health(&[client(20, 7, 1), client(90, 3, 0), client(0, 5, 4)]);
        assert_eq!((all.cpu_ns, all.wall_ns, all.longest_stall_ns), (90, 100, 7));
        assert_eq!((all.out_of_files, all.read_delay.count()), (5, 3));
        assert_eq!(merged_health(&[]), ClientHealth::default());
    }
}
