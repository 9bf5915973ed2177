//! TTFT under load is not far below that of a single request, unless prompts came from a cache.

use super::found::{Against, LintFindings, Sure, against};
use super::near;
use super::rows::{LintRows, LintedLevel};
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_words::number::seconds;
use dyno_words::{Defect, values};

/// TTFT under load below this share of that of a single request needs an explanation.
const SHARE: f64 = 0.7;

/// The same, less what the means of so many requests may differ by chance.
fn share(level: &LintedLevel<'_>, alone: &LintedLevel<'_>) -> f64 {
    let spread = |level: &LintedLevel<'_>| {
        let ttft = level.0.times[Time::Ttft].as_ref();
        let stated = ttft.and_then(|ttft| Some(ttft.std? / ttft.mean?));
        // Prompts of random lengths take as different times.
        stated.unwrap_or(if level.0.input_length.is_some() { 0.3 } else { 1.0 })
    };
    let counts = level.about_completed().zip(alone.about_completed());
    let widest = spread(level).max(spread(alone));
    let chance = counts.map(|(a, b)| near::NOTICEABLE * near::of_two(widest, a, b));
    SHARE - chance.unwrap_or_default()
}

pub(super) fn prefill(rows: &LintRows<'_>) -> Option<LintFindings> {
    let lengths = |level: &LintedLevel<'_>| (level.0.input_length, level.0.output_length);
    let alone: Vec<LintedLevel<'_>> = rows
        .by_load(LoadKind::Concurrency)
        .into_iter()
        .filter(|(slots, level)| *slots == 1.0 && !level.is_whole())
        .map(|(_, level)| level)
        .collect();
    let mut found = Vec::new();
    for level in rows.rows.iter().filter(|level| !level.is_zero()) {
        let same = alone.iter().find(|alone| lengths(alone) == lengths(level));
        let Some((alone, ttft)) = same.zip(level.ttft()) else { continue };
        let Some(expected) = alone.ttft() else { continue };
        if ttft < expected * share(level, alone) {
            found.push(Against { row: level.row(), found: ttft, expected });
        }
    }
    against(found, seconds, Defect::Prefill, Sure::Likely, values![])
}
