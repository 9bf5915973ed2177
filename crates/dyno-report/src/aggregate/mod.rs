//! From frames to a summary: a pure function of a run. Records are read twice and never kept;
//! what is kept grows by a few numbers a request.

mod bend;
mod client;
mod concurrency;
mod distributions;
mod drift;
mod failures;
mod figures;
mod gather;
mod integrity;
mod judge;
mod level;
mod sessions;
mod slices;
mod slots;
mod steady;
mod stragglers;
mod timeline;
mod tokens;

pub use drift::memory_growth;

use crate::findings::{Finding, Reason};
use crate::source::FrameSource;
use crate::summary::{RunSummary, SUMMARY_SCHEMA, Summary, TokenSources};
use crate::when::utc;
use dyno_core::environment::Environment;
use dyno_core::frame::{Ending, Frame};
use dyno_core::plan::Plan;
use gather::Gathered;
use level::Level;
use std::collections::BTreeMap;

/// The summary of a run. The order of requests within a level does not matter.
pub fn summarise(plan: &Plan, env: Option<&Environment>, source: &dyn FrameSource) -> Summary {
    let (gathered, ending) = first_reading(source);
    let whole = source.header().shards <= 1;
    let mut levels: BTreeMap<u32, Level<'_>> = gathered
        .into_iter()
        .filter_map(|(index, gathered)| {
            let level_plan = plan.levels.get(index as usize)?;
            Some((index, Level::new(level_plan, whole, gathered)))
        })
        .collect();
    for frame in source.frames() {
        if let Frame::Request(record) = frame
            && let Some(level) = levels.get_mut(&record.level)
        {
            level.add(&record);
        }
    }
    let token_source = tokens::sources(levels.values().map(Level::token_sums));
    let ran = levels.len() as u64;
    Summary {
        schema: SUMMARY_SCHEMA.to_owned(),
        run: run_summary(plan, env, source, ending, token_source),
        levels: levels.into_values().map(|level| level.finish(plan, env)).collect(),
        notes: notes(plan, env, source, ran),
    }
}

fn first_reading(source: &dyn FrameSource) -> (BTreeMap<u32, Gathered>, Option<Ending>) {
    let mut levels: BTreeMap<u32, Gathered> = BTreeMap::new();
    let mut ending = None;
    for frame in source.frames() {
        match frame {
            Frame::LevelStart(start) => {
                let started = &mut levels.entry(start.level).or_default().started;
                *started = Some(started.map_or(start.started, |at| at.min(start.started)));
            }
            Frame::Request(record) => levels.entry(record.level).or_default().add(&record),
            Frame::LevelEnd(end) => {
                let level = levels.entry(end.level).or_default();
                level.end = Some(end);
            }
            Frame::RunEnd(end) => ending = Some(end.ending),
        }
    }
    (levels, ending)
}

fn run_summary(
    plan: &Plan,
    env: Option<&Environment>,
    source: &dyn FrameSource,
    ending: Option<Ending>,
    token_source: TokenSources,
) -> RunSummary {
    let header = source.header();
    let preflight = env.and_then(|env| env.preflight.as_ref());
    RunSummary {
        id: header.run_id.clone(),
        label: plan.label.clone(),
        note: plan.note.clone(),
        partial: ending.is_none(),
        ending,
        simulated: plan.target.url.is_none(),
        predicted: plan.target.predicted,
        engine: plan.target.embedded.clone(),
        plan_hash: header.plan_hash.clone(),
        started: utc(header.anchor_unix_ns),
        target: plan.target.url.clone(),
        api: plan.target.api.to_string(),
        model: preflight.map(|p| p.model.clone()).or_else(|| plan.request.model.clone()),
        version: header.version.clone(),
        seed: plan.seed,
        allow_failures: plan.allow_failures,
        levels_planned: plan.levels.len() as u64,
        token_source,
    }
}

fn notes(
    plan: &Plan,
    env: Option<&Environment>,
    source: &dyn FrameSource,
    ran: u64,
) -> Vec<Reason> {
    let mut found = Vec::new();
    found.extend(source.damaged().map(Finding::Damaged));
    if source.header().plan_hash != plan.hash() {
        found.push(Finding::PlanDiffers);
    }
    let planned = plan.levels.len() as u64;
    if ran < planned {
        found.push(Finding::LevelsNotRun { ran, planned });
    }
    let learnt = env.into_iter().flat_map(|env| &env.notes).map(|note| Reason {
        code: note.code.clone(),
        what: note.what.clone(),
        advice: note.advice.clone(),
    });
    found.iter().map(Finding::reason).chain(learnt).collect()
}
