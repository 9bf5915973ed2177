//! A comparison as a table, for a terminal and for documents.

use super::words::{self, Word, called, headline, metric_title, rests, signed};
use crate::text::{ABSENT, cut_middle, number, width, wrap};
use dyno_analysis::compare::{Called, Cell, Compared, Comparison, Difference, Held, Note, Point};
use dyno_model::Language;
use dyno_words::escape::escape;

/// The longest name that is shown whole.
const LONGEST: usize = 28;

/// A name, cut in its middle where it is long: names often differ at their ends.
fn short(name: &str) -> String {
    cut_middle(&escape(name, 200), LONGEST)
}

/// The cells of a table: a heading row, then one row for each load and figure.
pub(crate) fn cells(comparison: &Comparison, language: Language) -> Vec<Vec<String>> {
    let two = comparison.sides.len() == 2;
    let word = |word: Word| word.text(language).to_owned();
    let mut heading = vec![word(Word::Load), word(Word::Figure)];
    heading.extend(comparison.sides.iter().map(|side| short(&side.name)));
    if two {
        heading.extend([word(Word::Change), word(Word::Interval), word(Word::Verdict)]);
    } else {
        let others = comparison.sides.iter().skip(1);
        heading.extend(others.map(|side| format!("{} {}", word(Word::Change), short(&side.name))));
    }
    let mut rows = vec![heading];
    for (place, point) in comparison.points.iter().enumerate() {
        let mut named = false;
        for metric in Compared::all().filter(|metric| has(point, *metric)) {
            let label = if named { String::new() } else { short(&point.label) };
            named = true;
            let mut row = vec![label, metric_title(metric, language)];
            row.extend(point.cells.iter().map(|cell| value(cell.as_ref(), metric)));
            let tests: Vec<Option<&Difference>> = (1..comparison.sides.len())
                .map(|side| comparison.test(side, place, metric))
                .collect();
            if two {
                row.extend(in_full(
                    comparison,
                    point,
                    metric,
                    tests.first().copied().flatten(),
                    language,
                ));
            } else {
                for (side, test) in (1..).zip(tests) {
                    row.push(in_short(point, metric, side, test));
                }
            }
            rows.push(row);
        }
        if point.cells.iter().flatten().any(|cell| cell.per_million_output_tokens.is_some()) {
            let mut row = vec![String::new(), word(Word::Cost)];
            let price = |cell: &Option<Cell>| cell.as_ref()?.per_million_output_tokens;
            row.extend(point.cells.iter().map(|cell| shown(price(cell))));
            row.resize(rows[0].len(), String::new());
            rows.push(row);
        }
    }
    rows
}

fn has(point: &Point, metric: Compared) -> bool {
    let some = |cell: &Cell| {
        cell.figures.get(&metric).is_some_and(|value| !metric.is_failures() || *value > 0.0)
    };
    point.cells.iter().flatten().any(some)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), number)
}

fn value(cell: Option<&Cell>, metric: Compared) -> String {
    let percent = if metric.is_failures() { 100.0 } else { 1.0 };
    let value = cell.and_then(|cell| cell.figures.get(&metric)).map(|value| value * percent);
    let mark = if cell.is_some_and(|cell| cell.interpolated) && value.is_some() { "~" } else { "" };
    format!("{mark}{}", shown(value))
}

/// The change by the figures alone, where there is no test.
fn bare(point: &Point, metric: Compared, side: usize) -> Option<f64> {
    let of = |side: usize| point.cells.get(side)?.as_ref()?.figures.get(&metric).copied();
    let (first, own) = (of(0)?, of(side)?);
    (first > 0.0 && !metric.is_failures()).then(|| own / first - 1.0)
}

fn in_full(
    comparison: &Comparison,
    point: &Point,
    metric: Compared,
    test: Option<&Difference>,
    language: Language,
) -> [String; 3] {
    match test {
        Some(test) => [
            signed(test.change),
            format!("{:+.1} … {:+.1} %", test.interval[0] * 100.0, test.interval[1] * 100.0),
            called(test, &short(&comparison.sides[test.side].name), language),
        ],
        None => [
            bare(point, metric, 1).map_or_else(|| ABSENT.to_owned(), signed),
            ABSENT.to_owned(),
            ABSENT.to_owned(),
        ],
    }
}

fn in_short(point: &Point, metric: Compared, side: usize, test: Option<&Difference>) -> String {
    match test {
        Some(test) => {
            let mark = match test.called {
                Called::Better => " ✓",
                Called::Worse => " ✗",
                Called::NoLargerThan { .. } => " =",
                Called::NotEnough { .. } => " ?",
            };
            format!("{}{mark}", signed(test.change))
        }
        None => bare(point, metric, side).map_or_else(|| ABSENT.to_owned(), signed),
    }
}

/// The names of the sides.
pub(crate) fn title(comparison: &Comparison) -> String {
    let names: Vec<String> = comparison.sides.iter().map(|side| short(&side.name)).collect();
    names.join(" / ")
}

/// What is to be said beside the table.
pub(crate) fn remarks(comparison: &Comparison, language: Language) -> Vec<String> {
    let mut lines: Vec<String> = (1..comparison.sides.len())
        .filter_map(|side| headline(comparison, side, language))
        .collect();
    lines.extend(rests(comparison, language));
    if let Some(capacity) = &comparison.capacity {
        let each =
            comparison.sides.iter().zip(&capacity.sides).map(|(side, held)| {
                format!("{} {}", short(&side.name), edge(held.as_ref(), language))
            });
        let each: Vec<String> = each.collect();
        let word = Word::Capacity.text(language);
        lines.push(format!("{word} {}: {}", capacity.slo, each.join("; ")));
    }
    let notes = comparison.notes.iter().filter(|note| **note != Note::OneRunEach);
    lines.extend(notes.map(|note| words::note(*note, language).to_owned()));
    lines
}

fn edge(held: Option<&Held>, language: Language) -> String {
    let Some(held) = held else { return Word::NotTried.text(language).to_owned() };
    let word = Word::Holds.text(language);
    match (held.holds, held.does_not_hold) {
        (Some(holds), Some(fails)) => {
            format!("{word} {}–{} {}", number(holds), number(fails), held.unit)
        }
        (Some(holds), None) => format!("{word} ≥ {} {}", number(holds), held.unit),
        (None, Some(fails)) => format!("{word} < {} {}", number(fails), held.unit),
        (None, None) => Word::NotTried.text(language).to_owned(),
    }
}

/// For a terminal; remarks are broken at `columns`.
pub fn table(comparison: &Comparison, language: Language, columns: usize) -> String {
    let rows = cells(comparison, language);
    let cells = rows.first().map_or(0, Vec::len);
    let mut widths = vec![0; cells];
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - width(cell));
            let words = column < 2 || (comparison.sides.len() == 2 && column + 1 == cells);
            let padded = if words { format!("{cell}{gap}") } else { format!("{gap}{cell}") };
            line.push_str(&padded);
            line.push_str("  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let remarks = remarks(comparison, language);
    let remarks: String = remarks.iter().map(|line| wrap("", line, columns)).collect();
    format!("{out}\n{remarks}")
}

/// For documents.
pub fn markdown(comparison: &Comparison, language: Language) -> String {
    use crate::layout::markdown_cell;
    let rows = cells(comparison, language);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        out.push_str(&line(&row.iter().map(|cell| markdown_cell(cell)).collect::<Vec<_>>()));
        if place == 0 {
            let rule = |column: usize| if column < 2 { "---" } else { "---:" }.to_owned();
            out.push_str(&line(&(0..row.len()).map(rule).collect::<Vec<_>>()));
        }
    }
    let remarks: String = remarks(comparison, language)
        .iter()
        .map(|line| format!("- {}\n", markdown_cell(line)))
        .collect();
    format!("{out}\n{remarks}")
}
