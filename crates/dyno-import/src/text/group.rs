//! Which parts are levels of one run, and what a run is called.

use super::part::{Finding, Part};
use super::place::Place;
use super::plain::{Told, is_name, plain};
use crate::{Imported, ImportedRun, blank};
use dyno_report::LevelSummary;
use dyno_report::layout::{Extras, LevelExtras};
use dyno_report::summary::Origin;
use std::collections::BTreeMap;

/// Parts that belong together.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// All of them as one.
    pub(super) part: Part,
    /// Where the first stands.
    pub(super) place: Place,
    /// The shape of the line above each block, where it names the level and not the run.
    shape: Option<String>,
    /// Every block so far had such a line.
    named: bool,
}

/// Puts blocks that follow one another under the same headings into one run; a table is one.
pub(super) fn group(parts: Vec<(Part, Place)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (part, place) in parts {
        let shape = shape(&place.above);
        let open = groups.iter_mut().rev().find(|group| {
            group.part.tool == part.tool && group.part.form == part.form && part.form == "block"
        });
        match open {
            Some(group) if group.takes(&place, shape.as_deref()) => {
                group.named &= shape.is_some();
                note_other_slots(&place, &part, &mut group.part.findings);
                group.part.levels.extend(part.levels);
                group.part.findings.extend(part.findings);
            }
            _ => {
                let named = shape.is_some();
                let mut part = part;
                if part.form == "block" {
                    let mut findings = std::mem::take(&mut part.findings);
                    note_other_slots(&place, &part, &mut findings);
                    part.findings = findings;
                }
                groups.push(Group { part, place, shape, named });
            }
        }
    }
    groups
}

impl Group {
    fn takes(&self, place: &Place, shape: Option<&str>) -> bool {
        let same_levels = self.named && shape.is_some() && shape == self.shape.as_deref();
        place.headings == self.place.headings && (place.above.is_empty() || same_levels)
    }

    /// The lines above name the first level, not the run.
    fn above_names_level(&self) -> bool {
        let several = self.named && self.part.levels.len() > 1;
        let of_level = ["parallel #", "concurrency #", "c=#", "并发 #", "rate #", "burst #"];
        let shape = self.shape.as_deref().unwrap_or_default();
        self.part.form == "block" && (several || of_level.contains(&shape))
    }

    /// What it is called.
    fn label(&self) -> Option<String> {
        let heading = self.place.headings.last().cloned();
        let above = self.place.above.last().filter(|line| {
            let named = line.contains("**") || line.contains('=') || line.starts_with(['-', '*']);
            !self.above_names_level() && is_name(line) && (named || heading.is_none())
        });
        above.map(|line| plain(line)).or(heading)
    }

    /// The same with the heading around it.
    fn longer_label(&self) -> Option<String> {
        let headings = &self.place.headings;
        let label = self.label()?;
        let around = match headings.last() {
            Some(last) if *last == label => headings.iter().rev().nth(1),
            last => last,
        };
        Some(around.map_or_else(|| label.clone(), |around| format!("{around} / {label}")))
    }

    /// The headings, and the lines that name the run like one.
    fn all_headings(&self) -> Vec<String> {
        let above = self.place.above.iter().filter(|line| {
            !self.above_names_level() && is_name(line) && self.place.above.len() <= 4
        });
        self.place.headings.iter().cloned().chain(above.map(|line| plain(line))).collect()
    }
}

/// A line above with its numbers made alike; `None` where there is not just one.
fn shape(above: &[String]) -> Option<String> {
    let [line] = above else { return None };
    let mut shape = String::new();
    for c in plain(line).chars() {
        match c {
            '0'..='9' | '.' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            c => shape.extend(c.to_lowercase()),
        }
    }
    shape.contains('#').then_some(shape)
}

/// The line above a block may say another number of requests at once than the block.
fn note_other_slots(place: &Place, part: &Part, findings: &mut Vec<Finding>) {
    let (Some(line), Some((level, _))) = (place.above.last(), part.levels.first()) else { return };
    let words = plain(line);
    let said = words.strip_prefix("parallel ").and_then(|n| n.trim().parse::<f64>().ok());
    let slots = level.load.value.filter(|_| level.load.kind == "concurrency");
    if let (Some(said), Some(slots)) = (said, slots)
        && said != slots
    {
        findings.push(Finding::note(
            "import_disagrees",
            part.line,
            format!("the line above says `{words}`, the block {slots} requests at once"),
            "the block is believed",
        ));
    }
}

/// Makes runs of groups.
pub(super) fn finish(file: &str, groups: Vec<Group>) -> Imported {
    let mut imported = Imported::default();
    for group in &groups {
        imported.problems.extend(once(&group.part.findings).into_iter().map(|f| f.problem.clone()));
    }
    imported.problems.sort_by_key(|problem| problem.line);
    let labels: Vec<Option<String>> = groups.iter().map(Group::label).collect();
    for (at, group) in groups.iter().enumerate() {
        if group.part.levels.is_empty() {
            continue;
        }
        // The same name under other headings would tell nobody which is which.
        let clash = labels.iter().zip(&groups).any(|(label, other)| {
            *label == labels[at] && other.place.headings != group.place.headings
        });
        let label = if clash { group.longer_label() } else { labels[at].clone() };
        imported.runs.push(run(file, imported.runs.len() + 1, group, label));
    }
    imported
}

/// Findings, each said once.
fn once(findings: &[Finding]) -> Vec<&Finding> {
    let mut said: Vec<&Finding> = Vec::new();
    for finding in findings {
        let same = |other: &&Finding| {
            other.code == finding.code && other.problem.what == finding.problem.what
        };
        if finding.is_error() || !said.iter().any(same) {
            said.push(finding);
        }
    }
    said
}

fn run(file: &str, ordinal: usize, group: &Group, label: Option<String>) -> ImportedRun {
    let headings = group.all_headings();
    let told = Told::by(headings.iter().rev().cloned());
    let origin = Origin {
        tool: group.part.tool.to_owned(),
        form: group.part.form.to_owned(),
        version: told.version.clone().filter(|_| group.part.form == "matrix"),
        file: file.to_owned(),
        line: Some(group.part.line),
        headings,
    };
    let mut extras = BTreeMap::new();
    let mut levels: Vec<LevelSummary> = Vec::new();
    for (level, extra) in &group.part.levels {
        if *extra != LevelExtras::default() {
            extras.insert(levels.len() as u32, *extra);
        }
        let mut level = level.clone();
        level.input_length = level.input_length.or(told.input).or_else(|| sequence(&told, &level));
        level.output_length = level.output_length.or(told.output);
        level.label = distinct(level.label, &levels);
        levels.push(level);
    }
    let mut summary = blank::run(blank::id(file, ordinal), origin, levels);
    summary.run.label = label;
    summary.run.model = told.model;
    summary.run.api = group.part.api.map(str::to_owned);
    summary.notes = once(&group.part.findings).into_iter().map(Finding::reason).collect();
    ImportedRun { summary, extras: Extras(extras), records: None, plan: None }
}

/// The length of sequences is that of the input where the counts say so.
fn sequence(told: &Told, level: &LevelSummary) -> Option<u32> {
    let length = told.sequence?;
    let mean = level.input_tokens?.mean;
    ((mean - f64::from(length)).abs() <= 0.05 * f64::from(length)).then_some(length)
}

/// A label that no level before has.
fn distinct(label: String, before: &[LevelSummary]) -> String {
    let taken = |label: &str| before.iter().any(|level| level.label == label);
    if !taken(&label) {
        return label;
    }
    let free = (2..).map(|n| format!("{label} ({n})")).find(|label| !taken(label));
    free.unwrap_or(label)
}
