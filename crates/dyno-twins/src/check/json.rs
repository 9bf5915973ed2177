//! A check as JSON.

use crate::levels::{key, shown};
use dyno_engine::twin::Twin;
use dyno_fit::{CheckedLevel, ExplainedPart, Explanation, FitCheck, Shift};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version tag of the document.
const SCHEMA: &str = "dyno.twin-check/1";

#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    twin: &'a str,
    /// Null if no level could be compared.
    same: Option<bool>,
    levels: Vec<Level<'a>>,
    shifts: Vec<Shifted>,
    explanations: Vec<Explained>,
    left_out: Vec<LeftOut<'a>>,
}

#[derive(Debug, Serialize)]
struct Level<'a> {
    label: &'a str,
    #[serde(flatten)]
    values: BTreeMap<&'static str, Value>,
}

#[derive(Debug, Serialize)]
struct Value {
    measured: f64,
    twin: Option<f64>,
    differs: bool,
}

#[derive(Debug, Serialize)]
struct Shifted {
    metric: &'static str,
    /// Measured over the twin's, in all levels together.
    factor: f64,
}

#[derive(Debug, Serialize)]
struct Explained {
    part: &'static str,
    /// How many times as long it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_seqs: Option<f64>,
    /// The share of the difference that it removes.
    removes: f64,
}

#[derive(Debug, Serialize)]
struct LeftOut<'a> {
    label: &'a str,
    reason: String,
}

pub(super) fn document<'a>(
    found: &'a FitCheck,
    same: Option<bool>,
    twin: &'a Twin,
    left_out: impl Iterator<Item = (&'a str, String)>,
) -> Document<'a> {
    let left_out = left_out.map(|(label, reason)| LeftOut { label, reason });
    Document {
        schema: SCHEMA,
        twin: &twin.name,
        same,
        levels: found.levels.iter().map(level).collect(),
        shifts: found.shifts.iter().filter_map(shifted).collect(),
        explanations: found.explanations.iter().map(explained).collect(),
        left_out: left_out.collect(),
    }
}

fn level(level: &CheckedLevel) -> Level<'_> {
    let value = |quantity| {
        let (measured, twin) = *level.figures.get(&quantity)?;
        let differs = level.differs.contains(&quantity);
        Some((key(quantity)?, Value { measured, twin, differs }))
    };
    Level { label: &level.label, values: shown().filter_map(value).collect() }
}

fn shifted(one: &Shift) -> Option<Shifted> {
    Some(Shifted { metric: key(one.quantity)?, factor: one.by.exp() })
}

fn explained(one: &Explanation) -> Explained {
    let part = match one.part {
        ExplainedPart::Accelerator => "accelerator",
        ExplainedPart::Prefill => "prefill",
        ExplainedPart::Decode => "decode",
        ExplainedPart::Launch => "launch",
        ExplainedPart::FrontEnd => "front_end",
        ExplainedPart::MaxSeqs => "max_seqs",
    };
    let limit = one.part == ExplainedPart::MaxSeqs;
    Explained {
        part,
        factor: (!limit).then_some(one.value),
        max_seqs: limit.then_some(one.value),
        removes: one.removes,
    }
}
