//! A sweep offers rates in even steps between its synchronous and its throughput rate: rates between the
//! steps were mistyped.

use super::found::{LintFindings, Sure, of_rows};
use super::rows::{LintRows, LintedLevel};
use dyno_model::diagnostic::CatalogueRow;
use dyno_model::load::LoadKind;
use dyno_model::message::joined;
use dyno_model::{Message, message};
use dyno_words::number::digits;
use dyno_words::{Defect, values};

/// Half a step of printing to hundredths, on the rate and on each end of the grid.
const TYPED: f64 = 0.0151;

pub(super) fn grid(rows: &LintRows<'_>) -> Option<LintFindings> {
    if !rows.imported() {
        return None;
    }
    let kind = |kind: LoadKind| move |level: &&LintedLevel<'_>| level.0.load.kind == kind;
    let rates: Vec<&LintedLevel<'_>> = rows.rows.iter().filter(kind(LoadKind::Rate)).collect();
    let alone = rows.by_load(LoadKind::Concurrency).into_iter().find(|(slots, _)| *slots == 1.0);
    let all = rows.rows.iter().find(kind(LoadKind::Unlimited));
    let ends = alone.and_then(|(_, level)| level.per_s()).zip(all.and_then(|all| all.per_s()));
    let (low, high) = ends.filter(|(low, high)| high > low && rates.len() > 2)?;
    let step = (high - low) / rates.len() as f64;
    let places: Vec<f64> = (1..=rates.len()).map(|i| low + step * i as f64).collect();
    let on = |rate: f64| places.iter().any(|place| (place - rate).abs() <= TYPED);
    let off: Vec<&&LintedLevel<'_>> =
        rates.iter().filter(|level| level.0.load.value.is_some_and(|rate| !on(rate))).collect();
    // Unless most rates are on the grid, and so many that this is not chance, it is not the grid of this
    // sweep.
    if off.len() * 2 > rates.len() || rates.len() - off.len() < 3 {
        return None;
    }
    let rows: Vec<CatalogueRow> = off.iter().map(|level| level.row()).collect();
    let values = values![digits(low + step, 2), digits(step, 3), repaired(&rates, &places)];
    of_rows(rows, Defect::OffGrid, Sure::Likely, values)
}

/// How the rates would fit; nothing where that cannot be determined.
fn repaired(rates: &[&LintedLevel<'_>], places: &[f64]) -> Message {
    let moved = repair(rates, places);
    if moved.is_empty() {
        return Message::quoted("");
    }
    let each = moved.iter().map(|(from, to)| Message::quoted(format_args!("{from:.2}→{to:.2}")));
    message!(
        "; sorted by latency, the rows would be in the places {} (inferred)",
        "；按时延排序后，各行应为 {}（推断）",
        joined(each, [", ", "、"])
    )
}

/// Latency rises with the rate, so rows sorted by latency are assigned to the grid. Returns the rows
/// whose rate changes.
fn repair(rates: &[&LintedLevel<'_>], places: &[f64]) -> Vec<(f64, f64)> {
    let mut known: Vec<(f64, f64)> =
        rates.iter().filter_map(|level| level.latency().zip(level.0.load.value)).collect();
    if known.len() != places.len() {
        return Vec::new();
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pairs = known.iter().zip(places).map(|((_, typed), place)| (*typed, *place));
    pairs.filter(|(typed, place)| (typed - place).abs() > TYPED).collect()
}
