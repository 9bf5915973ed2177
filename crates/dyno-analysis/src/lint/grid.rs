//! A sweep offers rates at even steps from the rate of one request at a time to that of all at
//! once: what lies between the steps was typed wrong.

use super::defect::{Defect, Row};
use super::rows::{Level, Rows};
use dyno_model::load::LoadKind;

/// Half a step of printing to hundredths, on the rate and on each end of the grid.
const TYPED: f64 = 0.0151;

pub(super) fn grid(rows: &Rows<'_>) -> Vec<Defect> {
    if !rows.imported() {
        return Vec::new();
    }
    let kind = |kind: LoadKind| move |level: &&Level<'_>| level.0.load.kind == kind;
    let rates: Vec<&Level<'_>> = rows.rows.iter().filter(kind(LoadKind::Rate)).collect();
    let alone = rows.by_load(LoadKind::Concurrency).into_iter().find(|(slots, _)| *slots == 1.0);
    let all = rows.rows.iter().find(kind(LoadKind::Unlimited));
    let ends = alone.and_then(|(_, level)| level.per_s()).zip(all.and_then(|all| all.per_s()));
    let Some((low, high)) = ends.filter(|(low, high)| high > low && rates.len() > 2) else {
        return Vec::new();
    };
    let step = (high - low) / rates.len() as f64;
    let places: Vec<f64> = (1..=rates.len()).map(|i| low + step * i as f64).collect();
    let on = |rate: f64| places.iter().any(|place| (place - rate).abs() <= TYPED);
    let off: Vec<&&Level<'_>> =
        rates.iter().filter(|level| level.0.load.value.is_some_and(|rate| !on(rate))).collect();
    // Where most rates lie elsewhere, this is no such grid.
    if off.is_empty() || off.len() * 2 > rates.len() {
        return Vec::new();
    }
    let rows: Vec<Row> = off.iter().map(|level| level.row()).collect();
    vec![Defect::Grid { rows, first: low + step, step, repair: repair(&rates, &places) }]
}

/// Latency rises with the rate: in its order, rows take the places of the grid. The rows whose rate
/// changes by that.
fn repair(rates: &[&Level<'_>], places: &[f64]) -> Vec<(f64, f64)> {
    let mut known: Vec<(f64, f64)> =
        rates.iter().filter_map(|level| level.latency_ms().zip(level.0.load.value)).collect();
    if known.len() != places.len() {
        return Vec::new();
    }
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pairs = known.iter().zip(places).map(|((_, typed), place)| (*typed, *place));
    pairs.filter(|(typed, place)| (typed - place).abs() > TYPED).collect()
}
