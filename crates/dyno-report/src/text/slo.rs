//! Which levels meet the SLO, one line each, below the table.

use super::TextOptions;
use super::paint::outcome;
use crate::messages::Say;
use dyno_model::summary::{LevelSummary, SloSummary, Summary, TermVerdict};
use dyno_model::{Decision, Language};
use dyno_words::columns::{ABSENT, cut_middle, left, maybe, number, width, wrap};
use dyno_words::escape::escape;

const LONGEST: usize = 300;
const LABEL: usize = 40;
const LABEL_ROOM: usize = 24;

/// The SLO and its outcome at each level; nothing where there is none.
pub(super) fn slo(summary: &Summary, options: &TextOptions) -> String {
    let Some(text) = &summary.run.slo else { return String::new() };
    let room = summary.levels.iter().map(|level| width(&label(level))).max().unwrap_or(0);
    let outcomes = summary.levels.iter().filter_map(|level| level.slo.as_ref());
    let word_room = outcomes.map(|slo| width(outcome_word(slo.verdict.outcome, options.language)));
    let word_room = word_room.max().unwrap_or(0);
    let lines = summary.levels.iter().filter_map(|level| {
        let slo = level.slo.as_ref()?;
        Some(line(level, slo, [room, word_room], options))
    });
    format!("\n{}", wrap("SLO ", &escape(text, LONGEST), options.prose()))
        + &lines.collect::<String>()
}

fn label(level: &LevelSummary) -> String {
    cut_middle(&escape(&level.label, LABEL), LABEL_ROOM)
}

fn line(
    level: &LevelSummary,
    slo: &SloSummary,
    [room, word_room]: [usize; 2],
    options: &TextOptions,
) -> String {
    let word = outcome_word(slo.verdict.outcome, options.language);
    let label = left(&label(level), room);
    let plain = format!("  {label}  {} ", left(word, word_room));
    if width(&plain) * 2 > options.prose() {
        let painted = outcome(word, slo.verdict.outcome, options);
        let remarks = wrap("      ", &remarks(slo, options.language), options.prose());
        return format!("  {label}  {painted}\n{remarks}");
    }
    let wrapped = wrap(&plain, &remarks(slo, options.language), options.prose());
    let painted = outcome(word, slo.verdict.outcome, options);
    let pad = " ".repeat(word_room.saturating_sub(width(word)));
    let rest = wrapped.strip_prefix(&plain).unwrap_or_default();
    format!("  {label}  {painted}{pad} {rest}")
}

/// The outcome of an SLO, in a word.
pub(crate) fn outcome_word(outcome: Decision, language: Language) -> &'static str {
    match outcome {
        Decision::Met => Say::Met.text(language),
        Decision::Missed => Say::Missed.text(language),
        Decision::Inconclusive => Say::Inconclusive.text(language),
    }
}

/// The terms that are missed or undecided, then the goodput.
pub(crate) fn remarks(slo: &SloSummary, language: Language) -> String {
    let mut parts = Vec::new();
    let terms = &slo.verdict.terms;
    let missed = terms.iter().filter(|term| term.outcome == Decision::Missed);
    parts.extend(missed.map(|term| format!("{} {}", metric_name(term), shown(term))));
    // A missed term decides the outcome, whatever the undecided ones would be.
    if slo.verdict.outcome == Decision::Inconclusive {
        let why = terms.iter().filter_map(|term| term.why.as_deref());
        for said in why.flat_map(|why| [Some(&why.what), why.advice.as_ref()]).flatten() {
            let said = escape(said, LONGEST);
            if !parts.contains(&said) {
                parts.push(said);
            }
        }
    }
    let share = slo.met_share.map(|share| share * 100.0);
    parts.push(Say::Goodput.with(language, &[maybe(slo.goodput_per_s), maybe(share)]));
    parts.join(language.semicolon())
}

/// The name of the metric that a term bounds.
fn metric_name(term: &TermVerdict) -> &str {
    term.term.split(['<', '>']).next().unwrap_or(&term.term)
}

/// A value with its unit, with enough digits to differ from its bound.
fn shown(term: &TermVerdict) -> String {
    let Some(value) = term.value else { return ABSENT.to_owned() };
    let short = number(value);
    let digits = if short == number(term.bound) { value.to_string() } else { short };
    format!("{digits} {}", term.unit)
}
