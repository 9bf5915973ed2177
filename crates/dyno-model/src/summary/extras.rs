//! Metrics that only some layouts have, by the definitions of the tools whose layouts they are.
//! They are not part of a summary.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What some layouts need beyond a summary, by the index of each level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Extras(pub BTreeMap<u32, LevelExtras>);

/// The same for one level; what is not known is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LevelExtras {
    /// The most output events of completed requests in any whole second.
    pub peak_output_per_s: Option<u64>,
    /// The most completed requests that were in flight at some time in the same whole second.
    pub peak_requests: Option<u64>,
    /// How the arrivals of an open loop were spaced.
    pub burstiness: Option<Burstiness>,
    /// Mean over requests of latency / (input + output tokens).
    pub latency_per_token_ms: Option<f64>,
    /// Mean over requests of latency / output tokens.
    pub latency_per_output_token_ms: Option<f64>,
}

/// How the arrivals of an open loop were spaced, as the shape of a gamma distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Burstiness {
    /// 1 is Poisson's; below it is burstier, above it smoother.
    Shape(f64),
    /// Evenly: the limit of an infinite shape.
    Even,
}

impl Extras {
    /// Those of one level.
    pub fn of(&self, level: u32) -> LevelExtras {
        self.0.get(&level).copied().unwrap_or_default()
    }
}
