//! What a level says about a server that refused requests because it had too many.

use super::Lag;
use crate::metric::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Refusals, the waits that followed them, and the requests that were sent again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Overload {
    /// Requests that were shed, by class.
    pub shed: BTreeMap<String, u64>,
    /// Requests that were sent again, by the class of their first refusal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused_first: BTreeMap<String, u64>,
    /// How long the server asked to wait before trying again, over the requests that were shed or sent
    /// again; absent where it never said.
    pub retry_after_s: Option<RetryAfter>,
    /// Closed loop: how long its slots waited after refusals.
    pub pauses: Option<Pauses>,
    /// Requests that were sent again, with `--on-shed retry`.
    pub retried: Option<Retried>,
}

/// What the server asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RetryAfter {
    /// How many refusals stated a time.
    pub count: u64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
}

/// The waits of a closed loop after refusals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// How many there were.
    pub count: u64,
    /// Their total over all slots.
    pub total_s: f64,
    /// Share of the time of all slots.
    pub share: Option<f64>,
}

/// Requests that were refused at first, and sent again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Retried {
    /// How many.
    pub requests: u64,
    /// Share of all that were sent.
    pub share: f64,
    /// Those of them that completed in the end.
    pub completed: u64,
    /// How often they were sent again, in all.
    pub retries: u64,
    /// From sending to the first refusal.
    pub first_refusal_ms: Option<Lag>,
    /// From the first sending to the end of the response, of those that completed.
    pub final_latency_ms: Option<Lag>,
}

/// Percentiles over all requests that ended, in which those that failed or were shed count as never
/// answered. Absent where all completed: they would be those of the completed ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WithFailures {
    /// Requests that completed, failed or were shed.
    pub requests: u64,
    /// Those of them that failed or were shed.
    pub infinite: u64,
    /// `first − sent`.
    pub ttft_ms: Option<LatePercentiles>,
    /// `first − intended`.
    pub ttft_scheduled_ms: Option<LatePercentiles>,
    /// `last − sent`.
    pub latency_ms: Option<LatePercentiles>,
    /// `last − intended`.
    pub latency_scheduled_ms: Option<LatePercentiles>,
}

impl WithFailures {
    /// Times that count from sending and from the schedule.
    pub const TIMES: [Time; 4] =
        [Time::Ttft, Time::TtftScheduled, Time::Latency, Time::LatencyScheduled];

    /// The percentiles of a time.
    pub fn get(&self, time: Time) -> Option<&LatePercentiles> {
        match time {
            Time::Ttft => self.ttft_ms.as_ref(),
            Time::TtftScheduled => self.ttft_scheduled_ms.as_ref(),
            Time::Latency => self.latency_ms.as_ref(),
            Time::LatencyScheduled => self.latency_scheduled_ms.as_ref(),
            _ => None,
        }
    }
}

/// Percentiles that may be infinite.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LatePercentiles {
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Names of those that are absent because they are infinite: too many failed or were shed. Others
    /// are absent because there are too few requests.
    pub infinite: Vec<String>,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Late {
    /// In milliseconds.
    By(f64),
    /// So many failed that it has no end.
    Infinitely,
    /// Too few requests.
    Unknown,
}

impl LatePercentiles {
    /// The names, in order.
    pub const NAMES: [&str; 4] = ["p50", "p90", "p95", "p99"];

    /// One of them, by its name.
    pub fn get(&self, name: &str) -> Late {
        let value = match name {
            "p50" => self.p50,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            _ => None,
        };
        match value {
            Some(ms) => Late::By(ms),
            None if self.infinite.iter().any(|infinite| infinite == name) => Late::Infinitely,
            None => Late::Unknown,
        }
    }

    /// Sets one of them, by its name.
    pub fn set(&mut self, name: &str, late: Late) {
        let place = match name {
            "p50" => &mut self.p50,
            "p90" => &mut self.p90,
            "p95" => &mut self.p95,
            "p99" => &mut self.p99,
            _ => return,
        };
        match late {
            Late::By(ms) => *place = Some(ms),
            Late::Infinitely => self.infinite.push(name.to_owned()),
            Late::Unknown => {}
        }
    }
}
