//! Which levels keep the SLO, a line each, under the table.

use super::TextOptions;
use super::paint::passed;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::summary::{LevelSummary, SloSummary, Summary, TermVerdict};
use dyno_words::columns::{ABSENT, cut_middle, left, maybe, number, width, wrap};
use dyno_words::escape::escape;

const LONGEST: usize = 300;
const LABEL: usize = 40;
const LABEL_ROOM: usize = 24;
/// Columns of the longest word.
const WORD: usize = 4;

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
    let word = passed_word(slo.verdict.passed, options.language);
    let label = left(&label(level), room);
    let plain = format!("  {label}  {} ", left(word, WORD));
    let wrapped = wrap(&plain, &remarks(level, slo, options.language), options.width);
    let painted = passed(word, slo.verdict.passed, options);
    let pad = " ".repeat(WORD.saturating_sub(width(word)));
    let rest = wrapped.strip_prefix(&plain).unwrap_or_default();
    format!("  {label}  {painted}{pad} {rest}")
}

/// Whether an SLO is kept, in a word.
pub(crate) fn passed_word(passed: Option<bool>, language: Language) -> &'static str {
    match passed {
        Some(true) => Say::Passed.text(language),
        Some(false) => Say::NotPassed.text(language),
        None => "?",
    }
}

/// What stands against it, then how much of the work kept it.
pub(crate) fn remarks(level: &LevelSummary, slo: &SloSummary, language: Language) -> String {
    let mut parts = Vec::new();
    if level.verdict == Verdict::Invalid {
        parts.push(Say::LevelInvalid.text(language).to_owned());
    }
    let terms = &slo.verdict.terms;
    let failed = terms.iter().filter(|term| term.met == Some(false));
    parts.extend(failed.map(|term| format!("{} {}", figure(term), shown(term))));
    let absent = terms.iter().filter(|term| term.met.is_none());
    parts.extend(absent.map(|term| Say::NoFigure.with(language, &[figure(term)])));
    let few: Vec<&str> = terms.iter().filter(|term| term.few_samples).map(figure).collect();
    if !few.is_empty() {
        parts.push(Say::FewSamples.with(language, &[few.join(", ")]));
    }
    let share = slo.met_share.map(|share| share * 100.0);
    parts.push(Say::Goodput.with(language, &[maybe(slo.goodput_per_s), maybe(share)]));
    parts.join(language.semicolon())
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
