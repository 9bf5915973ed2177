//! The plans of the levels in another tool's results, as far as they are stated.

use dyno_model::Summary;
use dyno_model::load::LoadKind;
use dyno_model::plan::{Arrival, LengthSpec, LevelPlan, Load};
use dyno_model::summary::LevelSummary;
use std::collections::BTreeMap;

/// By the index of each level; levels whose load is not stated are missing.
pub(crate) fn plans(summary: &Summary) -> BTreeMap<u32, LevelPlan> {
    // guidellm sends at constant intervals; other tools use random ones.
    let tool = summary.run.origin.as_ref().map(|origin| origin.tool.as_str());
    let arrival = if tool == Some("guidellm") { Arrival::Constant } else { Arrival::Poisson };
    let plan = |level: &LevelSummary| Some((level.index, plan(level, load(level, arrival)?)));
    summary.levels.iter().filter_map(plan).collect()
}

fn load(level: &LevelSummary, arrival: Arrival) -> Option<Load> {
    let value =
        level.load.value.filter(|value| *value >= 1.0 || level.load.kind == LoadKind::Rate)?;
    match level.load.kind {
        LoadKind::Concurrency => Some(Load::Concurrency { concurrency: value as u32 }),
        LoadKind::Rate if value > 0.0 => Some(Load::Rate { rate: value, arrival }),
        LoadKind::Burst => Some(Load::Burst { requests: value as u64 }),
        _ => None,
    }
}

fn plan(level: &LevelSummary, load: Load) -> LevelPlan {
    let length = |asked: Option<u32>| LengthSpec::fixed(asked.unwrap_or_default());
    LevelPlan {
        label: level.label.clone(),
        requests: level.requests.planned.or(level.requests.completed),
        drain_ns: 0,
        input_tokens: length(level.input_length),
        output_tokens: length(level.output_length),
        ..LevelPlan::new(load)
    }
}
