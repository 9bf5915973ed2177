//! A twin: the settings and coefficients that make the engine behave like one real system, and how
//! accurate they are.

mod form;
mod read;
mod shipped;
mod write;

use super::reference::ReferenceValue;
use crate::core::{ConfigError, Core, Cost, Scheduler};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The schema of twin files that this version reads and writes.
pub const SCHEMA: &str = "dyno.twin/1";

/// A profile of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin {
    /// Its name; for a shipped one, the name of its file.
    pub name: String,
    /// The model, if it is stated.
    pub model: Option<String>,
    /// The hardware, if it is stated.
    pub hardware: Option<String>,
    /// The inference engine.
    pub engine: String,
    /// Where its settings and coefficients come from.
    pub provenance: String,
    /// The name of the shipped reference table that it was fitted to, if any.
    pub reference: Option<String>,
    /// The settings of its scheduler.
    pub scheduler: Scheduler,
    /// The coefficients of its step times.
    pub cost: Cost,
    /// Lengths of the requests that it was fitted to.
    pub lengths: TwinLengths,
    /// The range of loads and lengths that it was fitted to.
    pub range: Option<TwinRange>,
    /// The overhead of the client that measured the rows.
    pub client: TwinClient,
    /// The rows it was fitted to and judged by.
    pub rows: ProfileRows,
    /// Its errors on them.
    pub errors: Errors,
    /// Plausible intervals of coefficients and settings, by their name in the file and in its unit.
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// Settings and coefficients that the rows do not identify.
    pub unidentified: Vec<String>,
    /// How far predictions of other loads are from what is measured, if that is known.
    pub accuracy: Option<Accuracy>,
}

/// Half the widths of the intervals that hold 95 % of what is measured, in percent of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// Of requests and tokens a second.
    pub rate: f64,
    /// Of times to the first token.
    pub ttft: f64,
    /// Of times between tokens; absent if all responses had one token.
    pub itl: Option<f64>,
    /// Of latencies.
    pub latency: f64,
}

/// Lengths of prompts and responses.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinLengths {
    /// Tokens of a prompt.
    pub input: Length,
    /// Tokens of a response that ends by itself.
    pub output: Length,
}

/// A length in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// The mean.
    pub mean: f64,
    /// Standard deviation over the mean; 0 if all are equal.
    #[serde(default)]
    pub spread: f64,
}

/// What the rows of a twin cover, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinRange {
    /// Requests in flight, on average over a row.
    pub in_flight: [f64; 2],
    /// Requests completed a second.
    pub rate: [f64; 2],
    /// Tokens of a prompt.
    pub input: [f64; 2],
    /// Tokens of a response.
    pub output: [f64; 2],
}

/// The overhead of the client that measured a table, and of its network. It is needed to compare
/// with that table and is not part of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinClient {
    /// Requests in flight where it sent as many as it could; absent if no row shows it.
    pub in_flight: Option<u32>,
    /// Time to handle a token, one after another, in microseconds; new requests wait meanwhile.
    #[serde(default)]
    pub token_us: f64,
}

/// The rows of a twin's table, each as its load and level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileRows {
    /// Those it was fitted to.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Those it was judged by and never fitted to.
    #[serde(default)]
    pub held_out: Vec<String>,
    /// Those that cannot be used.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// The kinds of load whose errors a twin may state.
pub const KINDS: [&str; 4] = ["closed", "open", "sessions", "burst"];

/// Mean absolute errors over rows, in percent of what was measured.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Over the rows it was fitted to.
    #[serde(default)]
    pub fitted: BTreeMap<ReferenceValue, f64>,
    /// Over the rows it was not fitted to.
    #[serde(default)]
    pub held_out: BTreeMap<ReferenceValue, f64>,
    /// Typical errors on levels that were left out, by their kind of load.
    #[serde(default)]
    pub kinds: BTreeMap<String, Accuracy>,
}

impl Twin {
    /// An idle engine that behaves like this twin.
    pub fn core(&self, seed: u64) -> Result<Core, ConfigError> {
        Core::new(self.scheduler, self.cost, seed)
    }

    /// The context length in tokens.
    pub fn context(&self) -> u32 {
        let pool = u32::try_from(self.scheduler.kv_tokens()).unwrap_or(u32::MAX);
        self.scheduler.context.unwrap_or(pool)
    }
}
