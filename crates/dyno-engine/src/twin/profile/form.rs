//! A twin file as it is written: its tables and keys, in units that make them readable.

use super::{Accuracy, Errors, ProfileRows, TwinClient, TwinLengths, TwinRange};
use crate::core::Scheduler;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Only the schema of a file.
#[derive(Deserialize)]
pub(super) struct Form {
    pub(super) schema: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "schema")]
    pub(super) _schema: String,
    pub(super) name: String,
    pub(super) model: Option<String>,
    pub(super) hardware: Option<String>,
    pub(super) engine: String,
    pub(super) provenance: String,
    pub(super) reference: Option<String>,
    pub(super) scheduler: Spanned<Scheduler>,
    pub(super) cost: Spanned<CostFile>,
    pub(super) lengths: Spanned<TwinLengths>,
    pub(super) range: Option<Spanned<TwinRange>>,
    #[serde(default)]
    pub(super) client: TwinClient,
    #[serde(default)]
    pub(super) rows: ProfileRows,
    #[serde(default)]
    pub(super) errors: Errors,
    #[serde(default)]
    pub(super) intervals: BTreeMap<String, [f64; 2]>,
    #[serde(default)]
    pub(super) unidentified: Vec<String>,
    pub(super) accuracy: Option<Spanned<Accuracy>>,
}

/// The coefficients, in units that make them readable.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CostFile {
    pub(super) base_ms: Spanned<f64>,
    pub(super) prefill_token_us: Spanned<f64>,
    pub(super) attention_ns: Spanned<f64>,
    pub(super) decode_us: Spanned<f64>,
    pub(super) kv_ns: Spanned<f64>,
    pub(super) prefill_base_ms: Option<Spanned<f64>>,
    pub(super) knee: Option<KneeFile>,
    pub(super) rise: Option<RiseFile>,
    pub(super) launch: Option<LaunchFile>,
    pub(super) front_end_ms: Option<Spanned<f64>>,
    pub(super) front: Option<FrontFile>,
    pub(super) noise: Option<Spanned<f64>>,
    pub(super) slow_down: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KneeFile {
    pub(super) above: u32,
    pub(super) decode_us: Spanned<f64>,
    pub(super) jump_ms: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RiseFile {
    pub(super) time_ms: Spanned<f64>,
    pub(super) within: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchFile {
    pub(super) decode_ms: Spanned<f64>,
    pub(super) prefill_ms: Spanned<f64>,
    pub(super) sequence_us: Spanned<f64>,
    #[serde(default)]
    pub(super) captured: u32,
    pub(super) large_ms: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrontFile {
    pub(super) request_ms: Spanned<f64>,
    pub(super) chunk_us: Spanned<f64>,
    #[serde(default)]
    pub(super) merges: u32,
    pub(super) turns: Option<Spanned<u32>>,
    pub(super) input_us: Option<Spanned<f64>>,
}
