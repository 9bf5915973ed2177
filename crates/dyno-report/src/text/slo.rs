//! Which levels keep the SLO, a line each, under the table.

use super::TextOptions;
use super::layout::{ABSENT, cut_middle, maybe, number, width, wrap};
use super::paint::passed;
use crate::escape::escape;
use crate::summary::{LevelSummary, SloSummary, Summary, TermVerdict};
use crate::verdict::Verdict;

const LONGEST: usize = 300;
const LABEL: usize = 40;
const LABEL_ROOM: usize = 24;

/// The SLO and what came of it; nothing where there is none.
pub(super) fn slo(summary: &Summary, options: &TextOptions) -> String {
    let Some(text) = &summary.run.slo else { return String::new() };
    let room = summary.levels.iter().map(|level| width(&label(level))).max().unwrap_or(0);
    let lines = summary.levels.iter().filter_map(|level| {
        let slo = level.slo.as_ref()?;
        Some(line(level, slo, room, options))
    });
    format!("\n{}", wrap("SLO ", &escape(text, LONGEST), options.width))
        + &lines.collect::<String>()
}

fn label(level: &LevelSummary) -> String {
    cut_middle(&escape(&level.label, LABEL), LABEL_ROOM)
}

fn line(level: &LevelSummary, slo: &SloSummary, room: usize, options: &TextOptions) -> String {
    let word = match slo.verdict.passed {
        Some(true) => "pass",
        Some(false) => "FAIL",
        None => "?   ",
    };
    let label = label(level);
    let label = format!("  {label}{} ", " ".repeat(room.saturating_sub(width(&label))));
    let plain = format!("{label} {word} ");
    let wrapped = wrap(&plain, &words(level, slo), options.width);
    let painted = passed(word.trim_end(), slo.verdict.passed, options);
    let pad = &word[word.trim_end().len()..];
    let rest = wrapped.strip_prefix(&plain).unwrap_or_default();
    format!("{label} {painted}{pad} {rest}")
}

/// What stands against it, then how much of the work kept it.
fn words(level: &LevelSummary, slo: &SloSummary) -> String {
    let mut parts = Vec::new();
    if level.verdict == Verdict::Invalid {
        parts.push("the level is invalid".to_owned());
    }
    let terms = &slo.verdict.terms;
    let failed = terms.iter().filter(|term| term.met == Some(false));
    parts.extend(failed.map(|term| format!("{} {}", figure(term), shown(term))));
    let absent = terms.iter().filter(|term| term.met.is_none());
    parts.extend(absent.map(|term| format!("no {}", figure(term))));
    let few: Vec<&str> = terms.iter().filter(|term| term.few_samples).map(figure).collect();
    if !few.is_empty() {
        parts.push(format!("too few samples for {}", few.join(", ")));
    }
    let share = slo.met_share.map(|share| share * 100.0);
    let goodput = maybe(slo.goodput_per_s);
    parts.push(format!("goodput {goodput} req/s, {} % of the requests", maybe(share)));
    parts.join("; ")
}

/// The name of the figure that a term bounds.
fn figure(term: &TermVerdict) -> &str {
    term.term.split(['<', '>']).next().unwrap_or(&term.term)
}

/// A value with its unit, in as many digits as it takes to differ from its bound.
fn shown(term: &TermVerdict) -> String {
    let Some(value) = term.value else { return ABSENT.to_owned() };
    let short = number(value);
    let digits = if short == number(term.bound) { value.to_string() } else { short };
    format!("{digits} {}", term.unit)
}
