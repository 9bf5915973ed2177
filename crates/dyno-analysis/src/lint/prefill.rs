//! TTFT under load cannot be far below that of a single request.

use super::found::{Against, Found, Sure, against};
use super::rows::{Level, Rows};
use dyno_model::load::LoadKind;
use dyno_words::number::seconds;
use dyno_words::{Defect, values};

/// TTFT under load below this share of that of a single request is a defect.
const SHARE: f64 = 0.7;

pub(super) fn prefill(rows: &Rows<'_>) -> Option<Found> {
    let lengths = |level: &Level<'_>| (level.0.input_length, level.0.output_length);
    let alone: Vec<Level<'_>> = rows
        .by_load(LoadKind::Concurrency)
        .into_iter()
        .filter(|(slots, level)| *slots == 1.0 && !level.is_whole())
        .map(|(_, level)| level)
        .collect();
    let mut found = Vec::new();
    for level in rows.rows.iter().filter(|level| !level.is_zero()) {
        let same = alone.iter().find(|alone| lengths(alone) == lengths(level));
        let Some((ttft, expected)) = level.ttft().zip(same.and_then(Level::ttft)) else {
            continue;
        };
        if ttft < expected * SHARE {
            found.push(Against { row: level.row(), found: ttft, expected });
        }
    }
    against(found, seconds, Defect::Prefill, Sure::Likely, values![])
}
