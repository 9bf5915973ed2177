//! The result of a search in one sentence, below the levels.

use super::TextOptions;
use crate::messages::{Say, TreeText};
use dyno_model::load::LoadKind;
use dyno_model::metric::Metric;
use dyno_model::summary::{Basis, LevelSummary, SearchSummary, Summary};
use dyno_model::{Decision, Language};
use dyno_words::columns::{number, wrap};
use dyno_words::escape::escape;

/// Loads that missed the SLO are named up to this many.
const MISSED: usize = 3;

/// The result; nothing where the levels were fixed.
pub(super) fn search(summary: &Summary, options: &TextOptions) -> String {
    let found = answer(summary, options.language);
    found.map(|text| format!("\n{}", wrap("", &text, options.prose()))).unwrap_or_default()
}

/// The result of a search in one sentence.
pub(crate) fn answer(summary: &Summary, language: Language) -> Option<String> {
    let slo = escape(summary.run.slo.as_deref().unwrap_or_default(), 200);
    Some(match summary.search.as_ref()? {
        found @ SearchSummary::Capacity {
            unit, holds, does_not_hold, confidence, doubt, ..
        } => {
            let open = found.outcome() == Some(Decision::Inconclusive);
            let sure = confidence.map(|sure| format!("{:.0}", (100.0 * sure).floor()));
            let sure = sure.map(|sure| Say::Sure.with(language, &[sure])).unwrap_or_default();
            let care = doubt.as_ref().map(|doubt| escape(&doubt.what, 400));
            let care = match (open, care) {
                (true, Some(why)) => language.colon().to_owned() + &why,
                (false, Some(care)) => Say::WithCare.with(language, &[care]),
                (_, None) => String::new(),
            };
            let highest = highest_met(summary, unit)
                .map(|highest| Say::HighestMet.with(language, &[load(highest)]))
                .unwrap_or_default();
            let missed = missed_at(summary, unit, language);
            let about = |low, high| load(middle(low, high, unit));
            let tried = |low| tried(summary, unit, low, language);
            let unit = unit_text(unit, summary.has_trees(), language);
            match (*holds, *does_not_hold) {
                (Some(low), Some(high)) => {
                    let highest = highest + &missed;
                    let (about, low, high) = (about(low, high), load(low), load(high));
                    let values = [about, unit, low, high, sure, slo, highest, care];
                    Say::CapacityBetween.with(language, &values)
                }
                (Some(low), None) => {
                    Say::CapacityAtLeast.with(language, &[load(low), unit, slo, tried(low), care])
                }
                (None, Some(high)) if open => {
                    Say::CapacityOpen.with(language, &[load(high), unit, slo, care])
                }
                (None, Some(high)) => {
                    Say::CapacityNone.with(language, &[load(high), unit, slo, care])
                }
                (None, None) => Say::CapacityUnknown.with(language, &[slo, care]),
            }
        }
        SearchSummary::Knee { concurrency, requests_per_s, highest_per_s } => {
            let values = [load(*concurrency), number(*requests_per_s), number(*highest_per_s)];
            Say::Knee.with(language, &values)
        }
    })
}

/// The lowest loads that missed the SLO: some may be below the middle of the interval.
fn missed_at(summary: &Summary, unit: &str, language: Language) -> String {
    let mut missed: Vec<f64> = (summary.levels.iter())
        .filter(|level| level.missed())
        .filter_map(|level| level.load.of(kind_of(unit)))
        .collect();
    missed.sort_by(f64::total_cmp);
    let mut loads: Vec<String> = missed.into_iter().map(load).collect();
    loads.dedup();
    loads.truncate(MISSED);
    match loads.is_empty() {
        true => String::new(),
        false => Say::MissedAt.with(language, &[loads.join(language.comma())]),
    }
}

/// Levels of a capacity in this unit.
fn kind_of(unit: &str) -> LoadKind {
    if unit == "req/s" { LoadKind::Rate } else { LoadKind::Concurrency }
}

/// The highest load of the levels that met the SLO.
pub(crate) fn highest_met(summary: &Summary, unit: &str) -> Option<f64> {
    let kind = kind_of(unit);
    let met = summary.levels.iter().filter(|level| level.passes());
    met.filter_map(|level| level.load.of(kind)).max_by(f64::total_cmp)
}

/// Which of the loads tried the highest is that met the SLO, where none of its kind missed it; and the closed loop
/// that showed the maximum throughput, where that one did.
pub(crate) fn tried(summary: &Summary, unit: &str, highest: f64, language: Language) -> String {
    let rates = unit == "req/s";
    let kind = if rates { LoadKind::Rate } else { LoadKind::Concurrency };
    let higher = |level: &LevelSummary| level.load.of(kind).is_some_and(|load| load > highest);
    let say = match (summary.levels.iter().any(higher), rates) {
        (true, true) => Say::HighestRateJudged,
        (true, false) => Say::HighestConcurrencyJudged,
        (false, true) => Say::HighestRate,
        (false, false) => Say::HighestConcurrency,
    };
    let missed = |level: &&LevelSummary| level.missed();
    // One that was too short is before the one that counts.
    let full = summary.levels.iter().rev().filter(|_| rates).filter(missed);
    let beside = full.filter_map(|level| {
        let in_flight = level.load.of(LoadKind::Concurrency).filter(|many| *many > 1.0)?;
        let done = Basis::of(&summary.levels).rate(level, Metric::RequestRate)?;
        Some(Say::FullMissed.with(language, &[load(in_flight), load(done)]))
    });
    say.text(language).to_owned() + &beside.take(1).collect::<String>()
}

/// The middle of the interval in which a capacity lies, as a whole number of requests in flight. Loads
/// are compared by their ratio.
pub(crate) fn middle(low: f64, high: f64, unit: &str) -> f64 {
    match unit {
        // The highest that fails is not itself the capacity.
        "in flight" => (low * (high - 1.0).max(low)).sqrt().round(),
        _ => (low * high).sqrt(),
    }
}

/// The unit of a capacity: agents, where the load is of trees. An unknown one is shown as it is.
pub(crate) fn unit_text(unit: &str, trees: bool, language: Language) -> String {
    match unit {
        "in flight" if trees => TreeText::UnitAgents.text(language).to_owned(),
        "req/s" if trees => TreeText::UnitTreeRate.text(language).to_owned(),
        "req/s" => Say::UnitRate.text(language).to_owned(),
        "in flight" => Say::UnitInFlight.text(language).to_owned(),
        other => escape(other, 20),
    }
}

/// Three digits; whole numbers in full.
pub(crate) fn load(value: f64) -> String {
    if value.fract() == 0.0 && value >= 1.0 { format!("{value:.0}") } else { number(value) }
}
