//! How requests are offered: the load in a plan, and in a summary.

use crate::Nanos;
pub use crate::arrival::Arrival;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How requests are offered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Load {
    /// Closed loop: each slot sends its next request when the previous response is complete.
    Concurrency {
        /// Slots.
        concurrency: u32,
    },
    /// Open loop: arrivals on a fixed schedule.
    Rate {
        /// Arrivals per second.
        rate: f64,
        /// How they are spaced.
        arrival: Arrival,
    },
    /// All requests at once.
    Burst {
        /// How many.
        requests: u64,
    },
    /// Open loop at the times of a recorded trace.
    Trace {
        /// How much faster than it was recorded.
        speed: f64,
    },
    /// Open loop with a changing rate; see [`crate::ramp::Ramp`].
    Ramp {
        /// Arrivals per second at the start.
        from: f64,
        /// Arrivals per second at the end.
        to: f64,
        /// How long it takes.
        over_ns: Nanos,
        /// Number of equal steps; absent: linear.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<u32>,
        /// How arrivals are spaced.
        arrival: Arrival,
    },
}

impl Load {
    /// Its kind.
    pub fn kind(&self) -> LoadKind {
        match self {
            Self::Concurrency { .. } => LoadKind::Concurrency,
            Self::Rate { .. } => LoadKind::Rate,
            Self::Burst { .. } => LoadKind::Burst,
            Self::Trace { .. } => LoadKind::Trace,
            Self::Ramp { .. } => LoadKind::Ramp,
        }
    }

    /// The number that goes with [`Load::kind`]; of a ramp, its highest rate.
    pub fn value(&self) -> f64 {
        match *self {
            Self::Concurrency { concurrency } => f64::from(concurrency),
            Self::Rate { rate, .. } => rate,
            Self::Burst { requests } => requests as f64,
            Self::Trace { speed } => speed,
            Self::Ramp { from, to, .. } => from.max(to),
        }
    }

    /// Whether requests are sent on a schedule, regardless of the server.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Rate { .. } | Self::Trace { .. } | Self::Ramp { .. })
    }
}

/// A kind of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadKind {
    /// Closed loop: requests in flight.
    Concurrency,
    /// Open loop: arrivals per second.
    Rate,
    /// All requests at once.
    Burst,
    /// The times of a recorded trace.
    Trace,
    /// A rate that changes.
    Ramp,
    /// In other tools: as fast as the server accepts them.
    Unlimited,
    /// In other tools: not stated, or of another kind.
    #[default]
    #[serde(other)]
    Unknown,
}

impl LoadKind {
    /// As it is written in files and labels.
    pub fn name(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Rate => "rate",
            Self::Burst => "burst",
            Self::Trace => "trace",
            Self::Ramp => "ramp",
            Self::Unlimited => "unlimited",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for LoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The load of a level in a summary.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Its kind.
    pub kind: LoadKind,
    /// Slots, arrivals per second, requests, how much faster than recorded, or the highest rate.
    pub value: Option<f64>,
}

impl LoadSummary {
    /// Its value, where it is of that kind.
    pub fn of(&self, kind: LoadKind) -> Option<f64> {
        self.value.filter(|_| self.kind == kind)
    }
}
