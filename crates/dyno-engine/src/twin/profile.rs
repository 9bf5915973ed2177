//! A twin: the engine's settings and coefficients that stand for one system, and what is known of
//! how well they do.

mod error;
mod read;
mod shipped;
mod write;

pub use error::TwinError;

use super::reference::Figure;
use crate::core::{ConfigError, Core, Cost, Scheduler};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The form of twin files that this version reads and writes.
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
    /// Where its settings and coefficients are from, in words.
    pub provenance: String,
    /// The name of the reference table that it was fitted to, if that is one of ours.
    pub reference: Option<String>,
    /// The settings of its scheduler.
    pub scheduler: Scheduler,
    /// The coefficients of its step times.
    pub cost: Cost,
    /// Lengths of the requests that it was fitted to.
    pub lengths: Lengths,
    /// Where it is good for.
    pub range: Option<Range>,
    /// What the client that made the rows added of its own.
    pub client: Client,
    /// The rows it was fitted to and judged by.
    pub rows: Rows,
    /// How far it is from them.
    pub errors: Errors,
    /// Coefficients and settings that may lie anywhere in these intervals, by their name in the
    /// file and in its unit.
    pub intervals: BTreeMap<String, [f64; 2]>,
    /// Settings and coefficients that the rows do not tell.
    pub unidentified: Vec<String>,
}

/// Lengths of prompts and answers.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// Tokens of a prompt.
    pub input: Length,
    /// Tokens of an answer that ends by itself.
    pub output: Length,
}

/// A length in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// The mean.
    pub mean: f64,
    /// Standard deviation over the mean; 0 if all are alike.
    #[serde(default)]
    pub spread: f64,
}

/// What the rows of a twin cover, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Requests in flight, on average over a row.
    pub in_flight: [f64; 2],
    /// Requests completed a second.
    pub rate: [f64; 2],
    /// Tokens of a prompt.
    pub input: [f64; 2],
    /// Tokens of an answer.
    pub output: [f64; 2],
}

/// What the client that made a table, or its way to the engine, added of its own. It is needed to
/// compare with that table, and is no part of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Requests in flight where it sent as many as it could; absent if no row tells.
    pub in_flight: Option<u32>,
    /// Time to handle a token, one after another, in microseconds; new requests wait meanwhile.
    #[serde(default)]
    pub token_us: f64,
}

/// The rows of a twin's table, each as its load and level.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Those it was fitted to.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Those it was judged by and never fitted to.
    #[serde(default)]
    pub held_out: Vec<String>,
    /// Those that no twin can be held to.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// Mean absolute errors over rows, in percent of what was measured.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// Over the rows it was fitted to.
    #[serde(default)]
    pub fitted: BTreeMap<Figure, f64>,
    /// Over the rows it was not fitted to.
    #[serde(default)]
    pub held_out: BTreeMap<Figure, f64>,
}

impl Twin {
    /// An idle engine that behaves like this twin.
    pub fn core(&self, seed: u64) -> Result<Core, ConfigError> {
        Core::new(self.scheduler, self.cost, seed)
    }

    /// Longest prompt and answer together that it takes, in tokens.
    pub fn context(&self) -> u32 {
        let pool = u32::try_from(self.scheduler.kv_tokens()).unwrap_or(u32::MAX);
        self.scheduler.context.unwrap_or(pool)
    }
}
