//! A comparison as a table, for a terminal and for documents.

use super::words::{self, Word, called, headline, metric_title, rests, signed};
use crate::text::{ABSENT, cut_middle, number, width, wrap};
use dyno_analysis::compare::{Called, Cell, Compared, Comparison, Difference, Held, Note, Point};
use dyno_model::Language;
use dyno_words::columns::{left, right};
use dyno_words::escape::escape;
use dyno_words::names::elided;

/// The longest name that is shown whole.
const LONGEST: usize = 28;
/// Labels of loads are not cut to less.
const SHORTEST_LABEL: usize = 16;
/// How names and verdicts are shortened step by step where the terminal is narrow; the last also
/// has each load on its own line.
const SHORTER: [(usize, bool); 4] = [(LONGEST, false), (20, false), (20, true), (10, true)];

/// The names of the sides, shortened where they are long by what they share, so that they differ.
fn short_names(comparison: &Comparison, longest: usize) -> Vec<String> {
    let names: Vec<String> = comparison.sides.iter().map(|side| escape(&side.name, 200)).collect();
    elided(&names.iter().map(String::as_str).collect::<Vec<_>>(), longest)
}

/// The cells of a table: a heading row, then one row for each load and metric.
pub(crate) fn cells(comparison: &Comparison, language: Language) -> Vec<Vec<String>> {
    cells_within(comparison, language, (LONGEST, false))
}

/// The same with names of at most so many columns, and with verdicts in a word or two.
fn cells_within(
    comparison: &Comparison,
    language: Language,
    (longest, brief): (usize, bool),
) -> Vec<Vec<String>> {
    let names = short_names(comparison, longest);
    let two = comparison.sides.len() == 2;
    let word = |word: Word| word.text(language).to_owned();
    let mut heading = vec![word(Word::Load), word(Word::Figure)];
    heading.extend(names.iter().cloned());
    if two {
        heading.extend([word(Word::Change), word(Word::Interval), word(Word::Verdict)]);
    } else {
        let others = names.iter().skip(1);
        heading.extend(others.map(|name| format!("{} {name}", word(Word::Change))));
    }
    let mut rows = vec![heading];
    for (place, point) in comparison.points.iter().enumerate() {
        let mut named = false;
        for metric in Compared::all().filter(|metric| has(point, *metric)) {
            let label = cut_middle(&escape(&point.label, 200), longest.max(SHORTEST_LABEL));
            let label = if named { String::new() } else { label };
            named = true;
            let mut row = vec![label, metric_title(metric, language)];
            row.extend(point.cells.iter().map(|cell| value(cell.as_ref(), metric)));
            let tests: Vec<Option<&Difference>> = (1..comparison.sides.len())
                .map(|side| comparison.test(side, place, metric))
                .collect();
            if two {
                let test = tests.first().copied().flatten();
                let shown = in_full(comparison, point, metric, test, (longest, language));
                row.extend(shown);
                if let (true, Some(test), Some(verdict)) = (brief, test, row.last_mut()) {
                    *verdict = words::briefly(test, language);
                }
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
        cell.figures.get(&metric).is_some_and(|value| !metric.is_share() || *value > 0.0)
    };
    point.cells.iter().flatten().any(some)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), number)
}

fn value(cell: Option<&Cell>, metric: Compared) -> String {
    let percent = if metric.is_share() { 100.0 } else { 1.0 };
    let value = cell.and_then(|cell| cell.figures.get(&metric)).map(|value| value * percent);
    let mark =
        if cell.is_some_and(|cell| cell.interpolated) && value.is_some() { "≈" } else { "" };
    format!("{mark}{}", shown(value))
}

/// The change of the values, where there is no test.
fn bare(point: &Point, metric: Compared, side: usize) -> Option<f64> {
    let of = |side: usize| point.cells.get(side)?.as_ref()?.figures.get(&metric).copied();
    let (first, own) = (of(0)?, of(side)?);
    (first > 0.0 && !metric.is_share()).then(|| own / first - 1.0)
}

fn in_full(
    comparison: &Comparison,
    point: &Point,
    metric: Compared,
    test: Option<&Difference>,
    (longest, language): (usize, Language),
) -> [String; 3] {
    match test {
        Some(test) => [
            signed(test.change),
            format!("{:+.1} … {:+.1} %", test.interval[0] * 100.0, test.interval[1] * 100.0),
            called(test, &short_names(comparison, longest)[test.side], language),
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
    let names = short_names(comparison, LONGEST);
    names.join(" / ")
}

/// The remarks below the table.
pub(crate) fn remarks(comparison: &Comparison, language: Language) -> Vec<String> {
    let mut lines: Vec<String> = (1..comparison.sides.len())
        .filter_map(|side| headline(comparison, side, language))
        .collect();
    lines.extend(rests(comparison, language));
    if let Some(capacity) = &comparison.capacity {
        let names = short_names(comparison, LONGEST);
        let each = names.iter().zip(&capacity.sides);
        let each = each.map(|(name, held)| format!("{name} {}", edge(held.as_ref(), language)));
        let each: Vec<String> = each.collect();
        let word = Word::Capacity.text(language);
        lines.push(format!("{word} {}: {}", escape(&capacity.slo, 200), each.join("; ")));
    }
    let notes = comparison.notes.iter().filter(|note| **note != Note::OneRunEach);
    lines.extend(notes.map(|note| words::note(*note, comparison, language)));
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

/// For a terminal of so many columns, or for a file. Where it is narrow, names and verdicts are
/// shortened first; then the values are hidden, those of the base first, and then the interval: the
/// verdict is what a reader came for.
pub fn table(comparison: &Comparison, language: Language, terminal: Option<usize>) -> String {
    let room = terminal.unwrap_or(FILE_WIDTH);
    let mut apart = false;
    let mut rows = Vec::new();
    for within in SHORTER {
        apart = within == SHORTER[SHORTER.len() - 1];
        rows = cells_within(comparison, language, within);
        if taken(&widths(&rows, apart)) <= room {
            break;
        }
    }
    let (all, sides) = (rows[0].len(), comparison.sides.len());
    let two = sides == 2;
    // Of two sides: both values, the interval, the change. Of several: the values, the last changes.
    let mut hide = vec![2; sides];
    hide.extend(if two { vec![3, 2] } else { (3..=sides).rev().collect() });
    for column in hide {
        if taken(&widths(&rows, apart)) > room {
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    let widths = widths(&rows, apart);
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        let mut line = String::new();
        if apart && place > 0 && !row[0].is_empty() {
            out.push_str(&format!("{}\n", row[0]));
        }
        for (column, cell) in row.iter().enumerate().skip(usize::from(apart)) {
            let is_text = column < 2 || two && column == row.len() - 1;
            let cell = if apart && column == 1 { &format!("  {cell}") } else { cell };
            let padded = match is_text {
                true => left(cell, widths[column]),
                false => right(cell, widths[column]),
            };
            line.push_str(&padded);
            line.push_str("  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let prose = room.min(MOST_PROSE);
    if rows[0].len() < all {
        let hidden = (all - rows[0].len()).to_string();
        out.push_str(&wrap("", &Word::ColumnsHidden.with(language, &[hidden]), prose));
    }
    let remarks = remarks(comparison, language);
    let remarks: String = remarks.iter().map(|line| wrap("", line, prose)).collect();
    format!("{out}\n{remarks}")
}

/// How wide text is in files.
const FILE_WIDTH: usize = 80;
/// The widest lines of text.
const MOST_PROSE: usize = 120;

/// The widths of the columns; none for the loads where these stand `apart`, above their rows.
fn widths(rows: &[Vec<String>], apart: bool) -> Vec<usize> {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    if apart {
        widths[0] = 0;
        widths[1] += 2;
    }
    widths
}

/// Columns that a row of such widths takes.
fn taken(widths: &[usize]) -> usize {
    let shown = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + 2 * shown.saturating_sub(1)
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
