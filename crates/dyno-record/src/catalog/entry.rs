//! Reads one run for a list, however complete its directory is.

use crate::annotations::Annotations;
use crate::dir::{RECORDS, RunDir, SUMMARY, holds_records, holds_run};
use crate::error::RecordError;
use dyno_model::frame::{Ending, RunHeader};
use dyno_model::level_schedule::{Over, Search};
use dyno_model::load::LoadKind;
use dyno_model::plan::Plan;
use dyno_model::run_entry::{LevelChoice, LoadRange, RunEntry, RunState};
use dyno_model::summary::{Basis, Throughput};
use dyno_model::{Message, Summary, Verdict};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where file systems have no locks, and before there are records, a run without a summary counts as
/// being written for this long after the last change.
const SETTLING: Duration = Duration::from_secs(10);

/// Reads the run at `path`; nothing where the directory holds no run.
pub(super) fn read(path: PathBuf) -> Option<RunEntry> {
    if !holds_run(&path) {
        return None;
    }
    let dir = RunDir::at(path.clone());
    let mut problems = Vec::new();
    let header = kept(dir.records().map(|records| records.header().clone()), &mut problems);
    let plan = kept(dir.read_plan(), &mut problems);
    let annotations = kept(dir.read_annotations(), &mut problems).unwrap_or_default();
    let summary = kept(dir.read_summary(), &mut problems).flatten();
    let state = match &summary {
        _ if is_being_written(&path) => RunState::Running,
        _ if !problems.is_empty() => RunState::Damaged,
        None => RunState::Unfinished,
        Some(summary) => how_it_ended(summary),
    };
    // A run that has just begun has no records and no header yet.
    let problem = problems.into_iter().next().filter(|_| state == RunState::Damaged);
    let entry = entry(path, header.as_ref(), plan.as_ref(), summary.as_ref(), &annotations);
    Some(RunEntry { state, problem, ..entry })
}

fn entry(
    path: PathBuf,
    header: Option<&RunHeader>,
    plan: Option<&Plan>,
    summary: Option<&Summary>,
    annotations: &Annotations,
) -> RunEntry {
    let run = summary.map(|summary| &summary.run);
    let started_unix_ns = header.map(|header| header.anchor_unix_ns);
    let planned = plan.and_then(|plan| plan.label.as_deref());
    let target = |plan: &Plan| plan.target.url.clone().or(plan.target.embedded.clone());
    let embedded = plan.is_some_and(|plan| plan.target.url.is_none());
    let asked = plan.and_then(|plan| plan.request.model.clone());
    RunEntry {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        id: header.map(|header| header.run_id.clone()),
        started: started_unix_ns.map(dyno_model::when::utc),
        started_unix_ns,
        state: RunState::Unfinished,
        target_lost: run.is_some_and(|run| run.ending == Some(Ending::TargetLost)),
        problem: None,
        label: annotations.label_or(planned),
        tags: annotations.tags.clone(),
        model: run.and_then(|run| run.model.clone()).or(asked),
        target: plan.and_then(target),
        api: plan.map(|plan| plan.target.api.name().to_owned()),
        simulated: run.map_or(embedded, |run| run.simulated),
        predicted: plan.is_some_and(|plan| plan.target.predicted),
        load: plan.and_then(|plan| load_range(plan, summary)),
        levels: summary.map(|summary| summary.levels.len()),
        verdict: summary.map(Summary::worst_verdict),
        requests_per_s: highest(summary, |work| work.requests_per_s),
        output_tokens_per_s: highest(summary, |work| work.output_tokens_per_s),
        inputs_per_s: highest(summary, |work| work.inputs_per_s),
        path,
    }
}

fn kept<T>(read: Result<T, RecordError>, problems: &mut Vec<Message>) -> Option<T> {
    read.map_err(|error| problems.push(Message::of(error))).ok()
}

fn how_it_ended(summary: &Summary) -> RunState {
    let whole = summary.run.ending.is_some_and(Ending::carried_out) && !summary.run.partial;
    if whole { RunState::Complete } else { RunState::Interrupted }
}

/// The highest rate of the levels, as the report's table shows them.
fn highest(summary: Option<&Summary>, rate: fn(Throughput) -> Option<f64>) -> Option<f64> {
    let levels = &summary?.levels;
    let basis = Basis::of(levels);
    let counted = levels.iter().filter(|level| level.verdict != Verdict::Invalid);
    counted.filter_map(|level| rate(basis.throughput(level))).max_by(f64::total_cmp)
}

fn load_range(plan: &Plan, summary: Option<&Summary>) -> Option<LoadRange> {
    let choice = match &plan.course.search {
        None => LevelChoice::Given,
        Some(Search::Sweep { .. }) => LevelChoice::Sweep,
        Some(Search::Ladder { .. }) => LevelChoice::Auto,
        Some(Search::Capacity { .. }) => LevelChoice::Capacity,
    };
    // Levels that a search chose are in the summary only.
    let chosen = summary.iter().flat_map(|summary| &summary.levels);
    let chosen = chosen.filter_map(|level| Some((level.load.kind, level.load.value?)));
    let planned = plan.levels.iter().map(|level| (level.load.kind(), level.load.value()));
    let all: Vec<(LoadKind, f64)> = match choice {
        LevelChoice::Given => planned.collect(),
        _ => planned.chain(chosen).collect(),
    };
    let kind = match &plan.course.search {
        Some(Search::Sweep { .. } | Search::Capacity { over: Over::Rate, .. }) => LoadKind::Rate,
        _ => all.first()?.0,
    };
    let values = || all.iter().filter(|(of, _)| *of == kind).map(|(_, value)| *value);
    let low = values().min_by(f64::total_cmp)?;
    Some(LoadRange { choice, kind, low, high: values().max_by(f64::total_cmp)? })
}

/// Whether a process is writing the run at `path`. It holds a lock on the records until the summary is
/// saved, which the system releases however the process ends; file systems without locks leave the
/// time of the last change.
pub(super) fn is_being_written(path: &Path) -> bool {
    let records = path.join(RECORDS);
    let recent = |path: &Path| {
        let changed = fs::metadata(path).and_then(|found| found.modified());
        changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age < SETTLING))
    };
    if !holds_records(path) {
        return recent(path);
    }
    match File::open(&records).map(|file| file.try_lock_shared()) {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock)) => true,
        Ok(Err(TryLockError::Error(_))) | Err(_) => {
            !path.join(SUMMARY).is_file() && recent(&records)
        }
    }
}
