//! Turns groups of parts into runs, with names, lengths, a model, and remarks.

use super::group::TextGroup;
use super::plain::{Context, is_name, plain, says_nothing};
use crate::Imported;
use crate::level::blank;
use dyno_analysis::RunResults;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::summary::Origin;
use dyno_model::summary::{Extras, LevelExtras};
use dyno_words::on_line;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Turns groups into runs.
pub(crate) fn runs(file: &str, groups: Vec<TextGroup>) -> Imported {
    let names: Vec<Names> = groups.iter().map(Names::of).collect();
    let mut owners: BTreeMap<&str, BTreeSet<&[String]>> = BTreeMap::new();
    for (group, names) in groups.iter().zip(&names) {
        let label = names.label.as_deref().unwrap_or_default();
        owners.entry(label).or_default().insert(&group.place.headings);
    }
    let blocks: BTreeSet<&[String]> = groups
        .iter()
        .filter(|group| group.part.form == "block")
        .map(|group| group.place.headings.as_slice())
        .collect();
    let mut imported = Imported::default();
    for (group, names) in groups.iter().zip(&names) {
        // Runs with the same name under other headings could not be distinguished.
        let label = names.label.as_deref().unwrap_or_default();
        let clash = owners.get(label).is_some_and(|owners| owners.len() > 1);
        let mut label = if clash { names.longer.clone() } else { names.label.clone() };
        if group.part.form == "pivot" && blocks.contains(group.place.headings.as_slice()) {
            label = label.map(|label| format!("{label} (pivot)"));
        }
        let mut findings = group.part.findings.clone();
        if !group.part.levels.is_empty() {
            let ordinal = imported.runs.len() + 1;
            imported.runs.push(run(file, ordinal, group, names, label, &mut findings));
        } else {
            findings = once(findings);
        }
        imported.problems.append(&mut findings);
    }
    imported.problems.sort_by_key(Diagnostic::line);
    imported
}

/// The names of a run, and what they state.
#[derive(Debug, Clone)]
struct Names {
    label: Option<String>,
    /// The same with the heading around it.
    longer: Option<String>,
    /// The headings, and the lines that name the run like one.
    headings: Vec<String>,
    context: Context,
}

impl Names {
    fn of(group: &TextGroup) -> Self {
        let place = &group.place;
        let named = |line: &&String| {
            !group.above_names_level() && is_name(line) && !says_nothing(&plain(line))
        };
        let above: Vec<String> = if place.above.len() <= 4 {
            place.above.iter().filter(named).map(|line| plain(line)).collect()
        } else {
            Vec::new()
        };
        let headings: Vec<String> = place.headings.iter().cloned().chain(above).collect();
        let context = Context::by(headings.iter().rev().cloned());
        let last = place.above.last().filter(named).filter(|line| {
            let marked = line.contains("**") || line.contains('=') || line.starts_with(['-', '*']);
            marked || place.headings.is_empty()
        });
        let label = last.map(|line| plain(line)).or_else(|| place.headings.last().cloned());
        let label = label.or_else(|| group.part.model.clone());
        let at = label.as_ref().and_then(|label| headings.iter().rposition(|h| h == label));
        let from = |outer: usize| at.and_then(|at| headings.get(outer..=at)).map(|h| h.join(" / "));
        // The label starts with the heading that names the model.
        let model = context.model.as_ref().and_then(|model| {
            let lacking = label.as_ref().is_some_and(|label| !label.contains(model));
            headings.iter().position(|h| h.contains(model)).filter(|_| lacking)
        });
        let longer = from(model.unwrap_or(at.unwrap_or_default()).saturating_sub(1));
        let label = model.and_then(from).or(label);
        Self { longer: longer.or(label.clone()), label, headings, context }
    }
}

/// Findings, each note only once.
fn once(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut said: BTreeSet<(String, String)> = BTreeSet::new();
    let first = |finding: &Diagnostic| {
        finding.is_error() || said.insert((finding.code.clone(), finding.what.clone()))
    };
    findings.into_iter().filter(first).collect()
}

fn run(
    file: &str,
    ordinal: usize,
    group: &TextGroup,
    names: &Names,
    label: Option<String>,
    findings: &mut Vec<Diagnostic>,
) -> RunResults {
    let context = &names.context;
    let origin = Origin {
        tool: group.part.tool.to_owned(),
        form: group.part.form.to_owned(),
        version: group
            .part
            .version
            .clone()
            .or_else(|| context.version.clone().filter(|_| group.part.form == "matrix")),
        file: file.to_owned(),
        line: Some(group.part.line),
        headings: names.headings.clone(),
        recognised: Some(group.part.recognised.clone()),
    };
    let mut extras = BTreeMap::new();
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    let mut levels: Vec<LevelSummary> = Vec::new();
    for (index, (level, extra)) in (0..).zip(&group.part.levels) {
        if *extra != LevelExtras::default() {
            extras.insert(index, *extra);
        }
        let mut level = level.clone();
        level.input_length =
            level.input_length.or(context.input).or_else(|| sequence(context, &level));
        level.output_length = level.output_length.or(context.output);
        let times = taken.entry(level.label.clone()).or_default();
        *times += 1;
        if *times > 1 {
            level.label = format!("{} ({times})", level.label);
        }
        levels.push(level);
    }
    *findings = once(std::mem::take(findings));
    let mut summary = blank::run(blank::id(file, ordinal), origin, levels);
    summary.run.label = group.part.label.clone().or(label);
    summary.run.model = model(group.part.model.as_deref(), context.model.as_deref());
    summary.run.api = group.part.api.map(str::to_owned);
    summary.notes = findings.iter().map(on_line).collect();
    let stated = summary.levels.clone();
    RunResults { extras: Extras(extras), stated, ..RunResults::of(Path::new(file), summary) }
}

/// The model by its settings, or as the headings name it; where the settings have its path, too.
fn model(stated: Option<&str>, headed: Option<&str>) -> Option<String> {
    let path = stated.zip(headed).is_some_and(|(stated, headed)| {
        // `org/name` is a name.
        let names = stated.matches('/').count();
        names != 1 && stated.trim_end_matches('/').rsplit('/').next() == Some(headed)
    });
    if path { headed } else { stated.or(headed) }.map(str::to_owned)
}

/// The sequence length is the input length where the counts agree.
fn sequence(context: &Context, level: &LevelSummary) -> Option<u32> {
    let length = context.sequence?;
    let mean = level.input_tokens?.mean;
    ((mean - f64::from(length)).abs() <= 0.05 * f64::from(length)).then_some(length)
}
