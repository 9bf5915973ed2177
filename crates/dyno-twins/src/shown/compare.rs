//! A twin next to its reference table: every row, measured and simulated, and a small plot of both.

use super::list::{COLUMNS, table};
use super::words::Say;
use dyno_engine::twin::reference::ReferenceValue;
use dyno_fit::{FitCompared, Report, Role};
use dyno_model::Language;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: usize = 60;
const HEIGHT: usize = 10;

/// All rows as a table: measured → simulated, and the error.
pub(crate) fn rows(report: &Report, language: Language) -> String {
    let metrics = metrics(report);
    let heads: Vec<String> = std::iter::once(Say::Row.text(language).to_owned())
        .chain(metrics.iter().map(|figure| short(*figure, language)))
        .collect();
    let lines: Vec<Vec<String>> = report
        .levels
        .iter()
        .map(|level| {
            let mark = match level.role {
                Role::Fitted => " ",
                Role::HeldOut => "+",
                Role::LeftOut(_) => "-",
            };
            let cells = metrics.iter().map(|figure| match level.metrics.get(figure) {
                Some((measured, Some(simulated))) => {
                    format!("{} → {}", number(*measured), number(*simulated))
                }
                Some((measured, None)) => number(*measured),
                None => "–".to_owned(),
            });
            std::iter::once(format!("{mark} {}", level.label)).chain(cells).collect()
        })
        .collect();
    format!("{}{}\n", table(&heads, &lines), Say::Marks.text(language))
}

/// Errors by figure, fitted and held out.
pub(crate) fn errors(report: &Report, language: Language) -> String {
    let known: Vec<ReferenceValue> = metrics(report);
    let cell = |errors: &BTreeMap<ReferenceValue, f64>, figure: &ReferenceValue| {
        errors.get(figure).map_or("–".to_owned(), |percent| format!("{percent:.1} %"))
    };
    let line = |name: &str, errors: &BTreeMap<ReferenceValue, f64>| {
        std::iter::once(name.to_owned()).chain(known.iter().map(|f| cell(errors, f))).collect()
    };
    let heads: Vec<String> = std::iter::once(Say::MeanError.text(language).to_owned())
        .chain(known.iter().map(|figure| short(*figure, language)))
        .collect();
    let lines = [
        line(Say::FittedRows.text(language), &report.errors.fitted),
        line(Say::HeldOutRows.text(language), &report.errors.held_out),
    ];
    table(&heads, &lines)
}

/// A plot for each column that the rows have, over the rows in order of load.
pub(crate) fn pictures(report: &Report, language: Language) -> String {
    let mut text = String::new();
    for (_, candidates) in COLUMNS {
        let of = |level: &FitCompared| {
            candidates.iter().find_map(|figure| level.metrics.get(figure).copied())
        };
        let points: Vec<(f64, f64)> = report
            .levels
            .iter()
            .filter_map(of)
            .filter_map(|(measured, simulated)| Some((measured, simulated?)))
            .collect();
        let drawn = candidates
            .iter()
            .find(|figure| report.levels.iter().any(|level| level.metrics.contains_key(figure)));
        if let Some(figure) = drawn.filter(|_| points.len() > 2) {
            let _ = write!(text, "\n{}\n{}", short(*figure, language), picture(&points, language));
        }
    }
    text
}

/// Measured `o` and simulated `x` over the rows; `*` where they coincide. Logarithmic.
fn picture(points: &[(f64, f64)], language: Language) -> String {
    let all = || points.iter().flat_map(|(a, b)| [*a, *b]).filter(|value| *value > 0.0);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if !(low.is_finite() && high > 0.0) {
        return String::new();
    }
    let span = (high / low).ln().max(1e-9);
    let row = |value: f64| {
        let share = (value.max(low) / low).ln() / span;
        HEIGHT - 1 - ((share * (HEIGHT - 1) as f64).round() as usize).min(HEIGHT - 1)
    };
    let mut grid = vec![vec![' '; WIDTH]; HEIGHT];
    for (index, (measured, simulated)) in points.iter().enumerate() {
        let column = index * (WIDTH - 1) / (points.len() - 1).max(1);
        grid[row(*simulated)][column] = 'x';
        let place = &mut grid[row(*measured)][column];
        *place = if *place == 'x' { '*' } else { 'o' };
    }
    let mut text = String::new();
    for (index, line) in grid.iter().enumerate() {
        let label = match index {
            0 => number(high),
            _ if index == HEIGHT - 1 => number(low),
            _ => String::new(),
        };
        let line: String = line.iter().collect();
        let _ = writeln!(text, "{label:>9} |{}", line.trim_end());
    }
    let _ = writeln!(text, "{:>9} +{}", "", "-".repeat(WIDTH));
    let _ = writeln!(text, "{:>10} {}", "", Say::PictureFoot.text(language));
    text
}

fn metrics(report: &Report) -> Vec<ReferenceValue> {
    let mut known: Vec<ReferenceValue> =
        report.levels.iter().flat_map(|level| level.metrics.keys().copied()).collect();
    known.sort();
    known.dedup();
    known
}

pub(crate) fn short(figure: ReferenceValue, language: Language) -> String {
    let say = match figure {
        ReferenceValue::CompletedRate => Say::PerSecond,
        ReferenceValue::OutputTokensPerS => Say::OutputPerSecond,
        ReferenceValue::LatencyS => Say::LatencyS,
        ReferenceValue::TtftMs => Say::TtftMs,
        ReferenceValue::ItlMs => Say::ItlMs,
        ReferenceValue::TpotMs => Say::TpotMs,
        ReferenceValue::DurationS => Say::DurationS,
        ReferenceValue::P90S => Say::P90S,
        other => return other.name(),
    };
    say.text(language).to_owned()
}

/// Three or four digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_where_their_values_are() {
        let drawn = picture(&[(1.0, 1.0), (10.0, 1.0), (100.0, 100.0)], Language::English);
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines[0].starts_with("      100 |") && lines[0].ends_with('*'));
        assert!(lines[HEIGHT - 1].contains("|*") && lines[HEIGHT - 1].contains('x'));
        let alone: usize = lines[..HEIGHT].iter().map(|line| line.matches('o').count()).sum();
        assert_eq!(alone, 1, "only one measurement stands apart from its simulation");
    }
}
