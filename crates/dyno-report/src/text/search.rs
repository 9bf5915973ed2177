//! The result of a search in one sentence, below the levels.

use super::TextOptions;
use crate::messages::Say;
use dyno_model::summary::{SearchSummary, Summary};
use dyno_model::{Decision, Language};
use dyno_words::columns::{number, wrap};
use dyno_words::escape::escape;

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
            let unit = unit_text(unit, language);
            match (*holds, *does_not_hold) {
                (Some(low), Some(high)) => {
                    let values = [load(low), unit, load(high), slo, sure, care];
                    Say::CapacityBetween.with(language, &values)
                }
                (Some(low), None) => {
                    Say::CapacityAtLeast.with(language, &[load(low), unit, slo, care])
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

/// The unit of a capacity; an unknown one is shown as it is.
fn unit_text(unit: &str, language: Language) -> String {
    match unit {
        "req/s" => Say::UnitRate.text(language).to_owned(),
        "in flight" => Say::UnitInFlight.text(language).to_owned(),
        other => escape(other, 20),
    }
}

/// Three digits; whole numbers in full.
fn load(value: f64) -> String {
    if value.fract() == 0.0 && value >= 1.0 { format!("{value:.0}") } else { number(value) }
}
