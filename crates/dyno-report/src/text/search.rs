//! What a search has found, in words, above everything else that a run has to say.

use super::TextOptions;
use super::layout::{number, wrap};
use crate::escape::escape;
use crate::summary::{SearchSummary, Summary};

/// The answer; nothing where levels were listed.
pub(super) fn search(summary: &Summary, options: &TextOptions) -> String {
    let Some(found) = &summary.search else { return String::new() };
    let slo = summary.run.slo.as_deref().unwrap_or_default();
    format!("\n{}", wrap("", &words(found, &escape(slo, 200)), options.width))
}

fn words(found: &SearchSummary, slo: &str) -> String {
    match found {
        SearchSummary::Capacity { unit, holds, does_not_hold, confidence, doubt } => {
            let sure = confidence.map(|c| format!(" ({:.0} % sure)", (100.0 * c).floor()));
            let care = doubt.as_ref().map(|doubt| format!("; with care: {}", escape(doubt, 200)));
            let (sure, care) = (sure.unwrap_or_default(), care.unwrap_or_default());
            match (holds, does_not_hold) {
                (Some(low), Some(high)) => format!(
                    "CAPACITY: holds {} {unit}, does not hold {}, at {slo}{sure}{care}.",
                    figure(*low),
                    figure(*high)
                ),
                (Some(low), None) => format!(
                    "CAPACITY: holds {} {unit}, the most that was tried, at {slo}{care}.",
                    figure(*low)
                ),
                (None, Some(high)) => format!(
                    "CAPACITY: none. {slo} is not kept even at {} {unit}{care}.",
                    figure(*high)
                ),
                (None, None) => format!("CAPACITY: unknown at {slo}{care}."),
            }
        }
        SearchSummary::Knee { concurrency, requests_per_s, highest_per_s } => format!(
            "KNEE: {} in flight give {} req/s; more in flight give no more than {}.",
            figure(*concurrency),
            number(*requests_per_s),
            number(*highest_per_s)
        ),
    }
}

/// Three digits, and whole numbers as they are.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value >= 1.0 { format!("{value:.0}") } else { number(value) }
}
