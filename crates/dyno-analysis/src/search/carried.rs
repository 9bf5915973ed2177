//! Whether the server kept up with the load that a capacity rests on.

use dyno_model::Diagnostic;
use dyno_model::load::LoadKind;
use dyno_model::summary::LevelSummary;
use dyno_words::{Finding, level_value};

/// That it did not in the level of the highest rate that met the SLO, or that this is unclear: times that were met over a
/// short level are missed where the queue grows for longer.
pub(super) fn falls_behind(levels: &[&LevelSummary]) -> Option<Diagnostic> {
    let met = levels.iter().filter(|level| level.passes());
    let rates = met.filter_map(|level| Some((level.load.of(LoadKind::Rate)?, level)));
    let (_, highest) = rates.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let unclear = highest.notes.iter().any(|note| note.code == "behind_offered");
    (unclear || highest.saturated == Some(true))
        .then(|| Finding::CapacityBehind.with([level_value(&highest.label)]))
}
