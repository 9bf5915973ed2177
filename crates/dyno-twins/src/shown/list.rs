//! The list of shipped twins, with the error of each.

use super::words::Say;
use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::{Reference, ReferenceValue};
use dyno_model::{Language, Message};
use dyno_words::columns;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The metrics of the list: in each column, the first of these that a twin has.
pub(super) const COLUMNS: [(Say, &[ReferenceValue]); 4] = [
    (
        Say::Throughput,
        &[
            ReferenceValue::CompletedRate,
            ReferenceValue::OutputTokensPerS,
            ReferenceValue::DurationS,
        ],
    ),
    (Say::Latency, &[ReferenceValue::LatencyS, ReferenceValue::LatencyPerOutputTokenMs]),
    (Say::Ttft, &[ReferenceValue::TtftMs]),
    (Say::Itl, &[ReferenceValue::ItlMs, ReferenceValue::TpotMs]),
];

/// The table of shipped twins.
pub fn list(language: Language) -> Result<String, Message> {
    let mut text = Say::ListHead.text(language).to_owned() + "\n\n";
    let mut rows = Vec::new();
    for (name, _) in Twin::shipped() {
        let twin = Twin::load(name)?;
        let mut row = vec![mark(&twin)];
        row.extend(COLUMNS.map(|(_, metrics)| {
            let both = [&twin.errors.fitted, &twin.errors.held_out].map(|e| first(e, metrics));
            if both == [None, None] { "–".to_owned() } else { both.map(shown).join("/") }
        }));
        rows.push(row);
    }
    let heads = COLUMNS.map(|(head, _)| head.text(language));
    let heads = std::iter::once(Say::Twin.text(language)).chain(heads);
    let heads: Vec<String> = heads.map(str::to_owned).collect();
    text.push_str(&table(&heads, &rows));
    let without: Vec<String> = unfitted();
    if !without.is_empty() {
        let _ = write!(text, "\n{}\n{}", Say::WithoutTwin.text(language), without.concat());
    }
    let _ = writeln!(text, "\n{}", Say::ListFoot.text(language));
    Ok(text)
}

fn mark(twin: &Twin) -> String {
    let star = if twin.name == Twin::default_name() { "*" } else { "" };
    format!("{}{star}", twin.name)
}

fn first(errors: &BTreeMap<ReferenceValue, f64>, metrics: &[ReferenceValue]) -> Option<f64> {
    metrics.iter().find_map(|figure| errors.get(figure).copied())
}

fn shown(error: Option<f64>) -> String {
    error.map_or("–".to_owned(), |error| format!("{error:.1}"))
}

/// Reference tables that no shipped twin was fitted to, with the reason where one is known.
fn unfitted() -> Vec<String> {
    let fitted: Vec<String> =
        Twin::shipped().iter().filter_map(|(name, _)| Twin::load(name).ok()?.reference).collect();
    let references = Reference::all().unwrap_or_default();
    let left = references.into_iter().filter(|reference| !fitted.contains(&reference.name));
    left.map(|reference| match reference.unusable {
        Some(why) => format!("  {}: {why}\n", reference.name),
        None => format!("  {}\n", reference.name),
    })
    .collect()
}

/// Columns as wide as necessary: names left-aligned, numbers right-aligned.
pub(crate) fn table(heads: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .chain(std::iter::once(&heads.to_vec()))
            .filter_map(|row| row.get(column).map(|cell| columns::width(cell)))
            .max();
        cells.unwrap_or(0)
    };
    let mut text = String::new();
    for row in std::iter::once(&heads.to_vec()).chain(rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(width(column) - columns::width(cell));
            let cell = if column == 0 { format!("{cell}{pad}") } else { format!("  {pad}{cell}") };
            line.push_str(&cell);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
