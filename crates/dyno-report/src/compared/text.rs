//! A comparison as a table, for a terminal and for documents. What it says in words is in `words.rs`.

use super::words::{self, Word, called, metric_title, signed};
use crate::text::{ABSENT, cut_middle, number, width, wrap};
use dyno_analysis::compare::{
    Called, Compared, ComparedCell, Comparison, ComparisonNote, CurvePoint, Difference,
};
use dyno_model::Language;
use dyno_words::columns::{left, right};
use dyno_words::escape::escape;
use dyno_words::level_name;
use dyno_words::names::elided;

/// The longest name that a document shows whole.
const LONGEST: usize = 28;
/// Labels of loads are not cut to less.
const SHORTEST_LABEL: usize = 16;

/// How a table is made to fit.
#[derive(Debug, Clone, Copy)]
struct Style {
    /// The longest names that a terminal shows; where one is longer, all are letters.
    longest: usize,
    /// Verdicts in a word or two.
    brief: bool,
    /// Each load on a line above its metrics.
    apart: bool,
}

/// What is tried one after the other where the terminal is narrow. Where even letters do not help, names
/// stay and columns are hidden.
const STYLES: [Style; 5] = [
    Style { longest: 20, brief: false, apart: false },
    Style { longest: 20, brief: true, apart: false },
    Style { longest: 10, brief: true, apart: false },
    NARROW,
    Style { longest: 1, brief: true, apart: true },
];
const NARROW: Style = Style { longest: 10, brief: true, apart: true };

fn whole_names(comparison: &Comparison) -> Vec<String> {
    comparison.sides.iter().map(|side| escape(&side.name, 200)).collect()
}

/// The names of the sides for a document, shortened where they are long by what they share, so that
/// they differ.
fn short_names(comparison: &Comparison) -> Vec<String> {
    let names = whole_names(comparison);
    elided(&names.iter().map(String::as_str).collect::<Vec<_>>(), LONGEST)
}

/// A, B, C, for a legend; numbers where there are more sides than letters.
fn letters(count: usize) -> Vec<String> {
    let letter = |place: usize| match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    };
    (0..count).map(letter).collect()
}

/// The cells of a table: a heading row, then one row for each load and metric.
pub(crate) fn cells(comparison: &Comparison, language: Language) -> Vec<Vec<String>> {
    cells_within(comparison, &short_names(comparison), (LONGEST, false), language)
}

/// The points and metrics that the rows of a table are about: the loads that two sides have.
fn shown_rows(comparison: &Comparison) -> impl Iterator<Item = (usize, &CurvePoint)> {
    comparison.points.iter().enumerate().filter(|(_, point)| point.is_shared())
}

/// The same under these names, with labels of at most so many columns, and with verdicts in a word or
/// two.
fn cells_within(
    comparison: &Comparison,
    names: &[String],
    (longest, brief): (usize, bool),
    language: Language,
) -> Vec<Vec<String>> {
    let two = comparison.sides.len() == 2;
    // Columns without a single value are left out.
    let tested = !comparison.differences.is_empty();
    let word = |word: Word| word.text(language).to_owned();
    let mut heading = vec![word(Word::Load), word(Word::Figure)];
    heading.extend(names.iter().cloned());
    match (two, tested) {
        (true, true) => {
            heading.extend([word(Word::Change), word(Word::Interval), word(Word::Verdict)]);
        }
        (true, false) => heading.push(word(Word::Change)),
        (false, _) => {
            let others = names.iter().skip(1);
            heading.extend(others.map(|name| format!("{} {name}", word(Word::Change))));
        }
    }
    let mut rows = vec![heading];
    for (place, point) in shown_rows(comparison) {
        let mut named = false;
        for metric in Compared::all().filter(|metric| has(point, *metric)) {
            let label = escape(&level_name(&point.label, language), 200);
            let label = cut_middle(&label, longest.max(SHORTEST_LABEL));
            let label = if named { String::new() } else { label };
            named = true;
            let mut row = vec![label, metric_title(metric, language)];
            row.extend(point.cells.iter().map(|cell| value(cell.as_ref(), metric)));
            let tests: Vec<Option<&Difference>> = (1..comparison.sides.len())
                .map(|side| comparison.test(side, place, metric))
                .collect();
            if two {
                let test = tests.first().copied().flatten();
                let shown = in_full(point, metric, test, (&names[1], brief, language));
                row.extend(shown.into_iter().take(if tested { 3 } else { 1 }));
            } else {
                for (side, test) in (1..).zip(tests) {
                    row.push(in_short(point, metric, side, test));
                }
            }
            rows.push(row);
        }
        if point.cells.iter().flatten().any(|cell| cell.per_million_output_tokens.is_some()) {
            let mut row = vec![String::new(), word(Word::Cost)];
            let price = |cell: &Option<ComparedCell>| cell.as_ref()?.per_million_output_tokens;
            row.extend(point.cells.iter().map(|cell| shown(price(cell))));
            row.resize(rows[0].len(), String::new());
            rows.push(row);
        }
    }
    rows
}

fn has(point: &CurvePoint, metric: Compared) -> bool {
    let some = |cell: &ComparedCell| {
        cell.figures.get(&metric).is_some_and(|value| !metric.is_share() || *value > 0.0)
    };
    point.cells.iter().flatten().any(some)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), number)
}

fn value(cell: Option<&ComparedCell>, metric: Compared) -> String {
    let percent = if metric.is_share() { 100.0 } else { 1.0 };
    let value = cell.and_then(|cell| cell.figures.get(&metric)).map(|value| value * percent);
    let mark =
        if cell.is_some_and(|cell| cell.interpolated) && value.is_some() { "≈" } else { "" };
    format!("{mark}{}", shown(value))
}

/// The change of the values, where there is no test: marked, and where one of them is interpolated as such.
fn bare(point: &CurvePoint, metric: Compared, side: usize) -> String {
    let of = |side: usize| {
        let cell = point.cells.get(side)?.as_ref()?;
        Some((cell.figures.get(&metric).copied()?, cell.interpolated))
    };
    match (of(0), of(side)) {
        (Some((first, a)), Some((own, b))) if first > 0.0 && !metric.is_share() => {
            format!("{}{}", if a || b { "≈" } else { "†" }, signed(own / first - 1.0))
        }
        _ => ABSENT.to_owned(),
    }
}

fn in_full(
    point: &CurvePoint,
    metric: Compared,
    test: Option<&Difference>,
    (name, brief, language): (&str, bool, Language),
) -> [String; 3] {
    match test {
        Some(test) => [
            signed(test.change),
            format!("{:+.1} … {:+.1} %", test.interval[0] * 100.0, test.interval[1] * 100.0),
            match brief {
                true => words::briefly(test, language),
                false => called(test, name, language),
            },
        ],
        None => [bare(point, metric, 1), ABSENT.to_owned(), ABSENT.to_owned()],
    }
}

fn in_short(
    point: &CurvePoint,
    metric: Compared,
    side: usize,
    test: Option<&Difference>,
) -> String {
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
        None => bare(point, metric, side),
    }
}

/// The names of the sides.
pub(crate) fn title(comparison: &Comparison) -> String {
    short_names(comparison).join(" / ")
}

/// The remarks below the table of a document: what follows from it, then what limits it.
pub(crate) fn remarks(comparison: &Comparison, language: Language) -> Vec<String> {
    let names = short_names(comparison);
    let mut lines = conclusions(comparison, &names, language);
    lines.extend(limits(comparison, &names, language));
    lines
}

/// What follows from a comparison: capacities and the tests in one line for each side.
fn conclusions(comparison: &Comparison, names: &[String], language: Language) -> Vec<String> {
    let mut lines = words::capacity(comparison, names, language);
    let sides = 1..comparison.sides.len();
    lines.extend(sides.filter_map(|side| words::headline(comparison, names, side, language)));
    lines
}

/// What limits a comparison, and how it is to be read.
fn limits(comparison: &Comparison, names: &[String], language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    if comparison.sides.len() > 2 && !comparison.differences.is_empty() {
        let margin = format!("{:.1} %", comparison.margin * 100.0);
        lines.push(Word::Marks.with(language, &[margin]));
    }
    let notes = comparison.notes.iter().filter(|note| **note != ComparisonNote::OneRunEach);
    lines.extend(notes.map(|note| words::note(*note, comparison, names, language)));
    lines.extend(words::untested(comparison, language));
    lines.extend(words::rests(comparison, language));
    lines.extend(words::corrected(comparison, language));
    lines
}

/// For a terminal of so many columns, or for a file. Where it is narrow, names and verdicts are
/// shortened first; then the interval is hidden, and then the values: the verdict is what a reader came
/// for. The conclusion stands at the end.
pub fn table(comparison: &Comparison, language: Language, terminal: Option<usize>) -> String {
    let room = terminal.unwrap_or(FILE_WIDTH);
    let sides = comparison.sides.len();
    let whole = whole_names(comparison);
    let made = |style: Style| {
        let names = match whole.iter().all(|name| width(name) <= style.longest) {
            true => whole.clone(),
            false => letters(sides),
        };
        let rows = cells_within(comparison, &names, (style.longest, style.brief), language);
        (style, names, rows)
    };
    let fits = |(style, _, rows): &(Style, Vec<String>, Vec<Vec<String>>)| {
        taken(&widths(rows, style.apart)) <= room
    };
    let fitting = STYLES.into_iter().map(made).find(fits);
    let (style, names, rows) = fitting.unwrap_or_else(|| made(NARROW));
    let prose = room.min(MOST_PROSE);
    let mut out = String::new();
    if names != whole {
        for (place, (letter, name)) in names.iter().zip(&whole).enumerate() {
            let word = if place == 0 { Word::Reference } else { Word::Other };
            out.push_str(&wrap("", &word.with(language, &[letter, name]), prose));
        }
        out.push('\n');
    }
    if rows.len() > 1 {
        out.push_str(&drawn(rows, sides, style.apart, room, prose, language));
        out.push('\n');
    }
    let lines = limits(comparison, &names, language);
    out.extend(lines.iter().map(|line| wrap("", line, prose)));
    let lines = conclusions(comparison, &names, language);
    if !lines.is_empty() {
        out.push('\n');
    }
    out.extend(lines.iter().map(|line| wrap("", line, prose)));
    out
}

/// The rows within `room`, as far as their columns fit.
fn drawn(
    mut rows: Vec<Vec<String>>,
    sides: usize,
    apart: bool,
    room: usize,
    prose: usize,
    language: Language,
) -> String {
    let all = rows[0].len();
    let two = sides == 2;
    // Of two sides: the interval, the values of both, the change. Of several: the values of the others, from
    // the last on, those of the first, the last changes.
    let hide: Vec<Vec<usize>> = match two {
        true if all > 5 => vec![vec![5], vec![3, 2], vec![2]],
        true => vec![vec![3, 2]],
        false => (2..2 + sides).rev().chain((3..=sides).rev()).map(|column| vec![column]).collect(),
    };
    for columns in hide {
        if taken(&widths(&rows, apart)) > room {
            for column in columns {
                rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
    }
    let widths = widths(&rows, apart);
    let verdict = two && all > 5;
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        let mut line = String::new();
        if apart && place > 0 && !row[0].is_empty() {
            out.push_str(&format!("{}\n", row[0]));
        }
        for (column, cell) in row.iter().enumerate().skip(usize::from(apart)) {
            let is_text = column < 2 || verdict && column == row.len() - 1;
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
    if rows[0].len() < all {
        let hidden = (all - rows[0].len()).to_string();
        out.push_str(&wrap("", &Word::ColumnsHidden.with(language, &[hidden]), prose));
    }
    out
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
