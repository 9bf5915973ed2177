//! From frames to a summary: a pure function of a run. Records are read twice and not kept;
//! memory grows by a few numbers per request.

mod above;
mod addresses;
mod cache;
mod client;
mod cold;
mod concurrency;
mod cost;
mod distributions;
mod drift;
mod failures;
mod fleet;
mod gather;
mod instrument;
mod integrity;
mod interactivity;
mod judge;
mod level;
mod longer;
mod overload;
mod prediction;
mod ramp_knee;
mod readings;
mod reasoning;
mod repeats;
mod request_times;
pub mod running_level;
mod saturation;
mod server;
mod server_findings;
mod server_times;
mod sessions;
mod slices;
mod slo;
mod slots;
mod steady;
mod stragglers;
mod timeline;
mod tokens;
mod trees;
mod trust;
mod waits;
mod work;

pub use drift::memory_growth;

use crate::search;
use crate::source::FrameSource;
use addresses::Shares;
use dyno_model::environment::Environment;
use dyno_model::frame::Ending;
use dyno_model::load::LoadKind;
use dyno_model::plan::Plan;
use dyno_model::summary::{
    LevelSummary, RunSummary, SUMMARY_SCHEMA, Summary, TermVerdict, TokenSources,
};
use dyno_model::when::utc;
use dyno_model::{Decision, Diagnostic};
use dyno_words::escape::{escape, shell};
use dyno_words::{Finding, values};
use level::LevelAggregate;
use readings::FirstReading;
pub use readings::for_each_record;
pub(crate) use readings::for_each_record_since;
pub use readings::level_plans;
pub use request_times::request_times;
pub use server_times::{OutsideServer, outside_server};
use std::collections::BTreeMap;
pub(crate) use timeline::{PerChunk, events, for_each_gap, per_chunk};

/// The summary of a run. The order of requests within a level does not matter.
pub fn summarise(plan: &Plan, env: Option<&Environment>, source: &dyn FrameSource) -> Summary {
    let mut first = FirstReading::of(source);
    let whole = source.header().shards <= 1;
    let gathered = std::mem::take(&mut first.levels);
    let mut levels: BTreeMap<u32, LevelAggregate<'_>> = gathered
        .into_iter()
        .filter_map(|(index, gathered)| {
            let level_plan = first.plan_of(plan, index)?;
            let slo = plan.slo.as_ref();
            Some((index, LevelAggregate::new(index, level_plan, slo, whole, gathered)))
        })
        .collect();
    let mut shares = Shares::default();
    first.again(source, |record| {
        shares.add(record);
        if let Some(level) = levels.get_mut(&record.level) {
            level.add(record);
        }
    });
    let token_source = tokens::sources(levels.values().map(LevelAggregate::token_sums));
    let run = run_summary(plan, env, source, &first, token_source);
    let mut levels: Vec<LevelAggregate<'_>> = levels.into_values().collect();
    if let Some(search) = &plan.course.search {
        let place = |level: &LevelAggregate<'_>| readings::place(search, &level.load());
        levels.sort_by(|a, b| {
            let (a, b) = (place(a), place(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
    }
    let unclear = levels.iter().filter_map(LevelAggregate::unclear).collect();
    let mut levels: Vec<_> =
        levels.into_iter().map(|level| level.finish(plan, env, &first.watch)).collect();
    if let Some(search) = &plan.course.search {
        search::name_attempts(search, &mut levels);
    }
    let mut notes = notes(plan, env, source, &first, &levels);
    notes.extend(shares.findings(env));
    notes.extend(above::judge(&mut levels, &unclear));
    let repeats = repeats::repeats(&levels);
    let search = search::found(plan, &levels).filter(|_| first.ending.is_some());
    let schema = SUMMARY_SCHEMA.to_owned();
    let mut summary = Summary { schema, run, levels, repeats, search, notes };
    summary.run.slo_outcome = summary.slo_outcome();
    if let Some(slo) = &plan.slo {
        let said = match summary.run.slo_outcome {
            Some(Decision::Missed) => Some(Finding::SloNotMet),
            // A search reports its own reasons for finding nothing.
            Some(Decision::Inconclusive) if summary.search.is_none() => {
                Some(Finding::SloInconclusive)
            }
            _ => None,
        };
        if let Some(said) = said {
            let alone = missed_alone(&summary).filter(|_| said == Finding::SloNotMet);
            let note = match alone {
                Some(term) => Finding::SloBelowOneRequest.with(values![slo.to_string(), term]),
                None => said.with([slo.to_string()]),
            };
            summary.notes.insert(0, note);
        }
    }
    summary
}

fn run_summary(
    plan: &Plan,
    env: Option<&Environment>,
    source: &dyn FrameSource,
    first: &FirstReading,
    token_source: TokenSources,
) -> RunSummary {
    let header = source.header();
    let preflight = env.and_then(|env| env.preflight.as_ref());
    let simulated = env.and_then(|env| env.server.simulated.as_ref());
    RunSummary {
        id: header.run_id.clone(),
        label: plan.label.clone(),
        note: plan.note.clone(),
        partial: first.ending.is_none(),
        ending: first.ending,
        simulated: plan.target.url.is_none() || simulated.is_some(),
        predicted: plan.target.predicted,
        engine: plan.target.embedded.clone().or_else(|| simulated?.engine.clone()),
        origin: None,
        plan_hash: Some(header.plan_hash.clone()),
        plan_id: Some(plan.id()),
        started: Some(utc(header.anchor_unix_ns)),
        target: plan.target.url.clone(),
        api: Some(plan.target.api.to_string()),
        model: preflight.map(|p| p.model.clone()).or_else(|| plan.request.model.clone()),
        version: header.version.clone(),
        seed: Some(plan.seed),
        allow_failures: plan.allow_failures,
        slo: plan.slo.as_ref().map(ToString::to_string),
        slo_outcome: None,
        levels_planned: first.planned(plan),
        token_source,
        gpus: plan.server.gpus,
        gpu_cost: plan.server.gpu_cost.clone(),
        command: env.and_then(|env| shell(&env.made.command)),
    }
}

/// The bound of a time that is missed even by one request at a time, where no load is lower.
fn missed_alone(summary: &Summary) -> Option<String> {
    let alone = |level: &&LevelSummary| level.load.of(LoadKind::Concurrency) == Some(1.0);
    let terms = &summary.levels.iter().find(alone)?.slo.as_ref()?.verdict.terms;
    let is_time = |term: &&TermVerdict| term.outcome == Decision::Missed && term.unit == "ms";
    terms.iter().find(is_time).map(|term| term.term.clone())
}

fn notes(
    plan: &Plan,
    env: Option<&Environment>,
    source: &dyn FrameSource,
    first: &FirstReading,
    levels: &[LevelSummary],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    found.extend(
        source.damaged().map(|how| Finding::Damaged.with([how.map(|how| escape(how, 200))])),
    );
    if source.header().plan_hash != plan.hash() {
        found.push(Finding::PlanDiffers.into());
    }
    let complete = |level: &&LevelSummary| level.ending.is_some_and(Ending::carried_out);
    let complete = levels.iter().filter(complete).count() as u64;
    let planned = first.planned(plan);
    // An agent's part of a run has one level. A separate note says so where the run stopped early by itself.
    let whole = source.header().shards <= 1;
    let over = first.ending.is_some_and(Ending::carried_out);
    if complete < planned && whole && !over {
        let note = Finding::LevelsNotRun.with(values![complete, planned]);
        // Two runs would no longer alternate, and a prediction takes seconds.
        let resumable = plan.course.versus.is_none() && !plan.target.predicted;
        found.push(Diagnostic { advice: note.advice.filter(|_| resumable), ..note });
    }
    let again = first.begun_again();
    if !again.is_empty() {
        let label = |level| first.plan_of(plan, level).map(|plan| plan.label.clone());
        let labels: Vec<String> = again.into_iter().filter_map(label).collect();
        found.push(Finding::BegunAgain.with([escape(&labels.join(", "), 200)]));
    }
    found.extend(server_findings::of_run(&first.watch, levels));
    found.extend(env.into_iter().flat_map(|env| env.notes.clone()));
    found
}
