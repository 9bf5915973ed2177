//! Which levels meet the SLO, one line each, below the table.

use super::TextOptions;
use super::grouped::names;
use super::paint::outcome;
use crate::messages::Say;
use dyno_model::summary::{LevelSummary, SloSummary, Summary, TermVerdict};
use dyno_model::{Decision, Language};
use dyno_words::columns::{ABSENT, cut_middle, left, maybe, number, width, wrap};
use dyno_words::escape::escape;

const LONGEST: usize = 300;
/// Levels up to this number have a line each.
const NAMED_SINGLY: usize = 3;
const LABEL: usize = 40;
const LABEL_ROOM: usize = 24;

/// The SLO and its outcome at each level; nothing where there is none.
pub(super) fn slo(summary: &Summary, options: &TextOptions) -> String {
    let Some(text) = &summary.run.slo else { return String::new() };
    let heading = format!("\n{}", wrap("SLO ", &escape(text, LONGEST), options.prose()));
    if !options.details && summary.levels.len() > NAMED_SINGLY {
        return heading + &by_outcome(&summary.levels, options);
    }
    let room = summary.levels.iter().map(|level| width(&label(level))).max().unwrap_or(0);
    let outcomes = summary.levels.iter().filter_map(|level| level.slo.as_ref());
    let word_room = outcomes.map(|slo| width(outcome_word(slo.verdict.outcome, options.language)));
    let word_room = word_room.max().unwrap_or(0);
    let lines = summary.levels.iter().filter_map(|level| {
        let slo = level.slo.as_ref()?;
        Some(line(level, slo, [room, word_room], options))
    });
    heading + &lines.collect::<String>()
}

/// The levels of each outcome in one line, with the terms that they miss, or why it is open.
fn by_outcome(levels: &[LevelSummary], options: &TextOptions) -> String {
    let language = options.language;
    let mut out = String::new();
    for decided in [Decision::Met, Decision::Missed, Decision::Inconclusive] {
        let same: Vec<(&LevelSummary, &SloSummary)> = levels
            .iter()
            .filter_map(|level| Some((level, level.slo.as_ref()?)))
            .filter(|(_, slo)| slo.verdict.outcome == decided)
            .collect();
        if same.is_empty() {
            continue;
        }
        let mut why: Vec<String> = Vec::new();
        // Why it is open differs in its numbers; the first level stands for all.
        let telling = if decided == Decision::Inconclusive { 1 } else { same.len() };
        for said in same.iter().take(telling).flat_map(|(_, slo)| terms(slo, false)) {
            if !why.contains(&said) {
                why.push(said);
            }
        }
        let named: Vec<&LevelSummary> = same.iter().map(|(level, _)| *level).collect();
        let mut text = names(&named, levels.len(), language);
        if !why.is_empty() {
            text += &match decided {
                Decision::Missed => language.brackets(&why.join(language.comma())),
                _ => language.semicolon().to_owned() + &why.join(language.semicolon()),
            };
        }
        let (word, colon) = (outcome_word(decided, language), language.colon());
        let plain = format!("{word}{colon}");
        let wrapped = wrap("    ", &format!("{plain}{text}"), options.prose());
        let rest = wrapped.strip_prefix(&format!("    {plain}")).unwrap_or_default();
        out.push_str(&format!("  {}{colon}{rest}", outcome(word, decided, options)));
    }
    out
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
    let mut parts = terms(slo, true);
    let share = slo.met_share.map(|share| share * 100.0);
    parts.push(Say::Goodput.with(language, &[maybe(slo.goodput_per_s), maybe(share)]));
    parts.join(language.semicolon())
}

/// The terms that are missed, on request with their `values`, or why they are undecided.
fn terms(slo: &SloSummary, values: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let terms = &slo.verdict.terms;
    let missed = terms.iter().filter(|term| term.outcome == Decision::Missed);
    parts.extend(missed.map(|term| match values {
        true => format!("{} {}", metric_name(term), shown(term)),
        false => metric_name(term).to_owned(),
    }));
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
    parts
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
    let mark = if term.uncertain { "~" } else { "" };
    format!("{mark}{digits} {}", term.unit)
}
