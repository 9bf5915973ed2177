//! The table of guidellm 0.1: one row per level, means with their units.

use crate::level::blank;
use crate::text::part::{Stated, TextPart, label, put, report, short, unread};
use crate::text::quantity::{Cell, Measure, cell, measure_of, name, quantity};
use dyno_form::table::{Row, Table};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::LoadSummary;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::{Problem, values};

/// A known column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Benchmark,
    Requests,
    Latency,
    Ttft,
    Itl,
    Output,
}

const COLUMNS: [(Column, &str); 6] = [
    (Column::Benchmark, "Benchmark"),
    (Column::Requests, "Requests per Second"),
    (Column::Latency, "Request Latency"),
    (Column::Ttft, "Time to First Token"),
    (Column::Itl, "Inter Token Latency"),
    (Column::Output, "Output Token Throughput"),
];

fn column(cell: &str) -> Option<Column> {
    let (name, _) = name(cell);
    COLUMNS.iter().find(|(_, known)| known.to_lowercase() == name).map(|(column, _)| *column)
}

/// Reads it, if it is one.
pub(crate) fn read(table: &Table) -> Option<TextPart> {
    let header = table.rows.first()?;
    let columns: Vec<Option<Column>> = header.cells.iter().map(|cell| column(cell)).collect();
    let known = columns.iter().flatten().count();
    if known < 3 {
        return headless(table);
    }
    // Without a load in any row it is a comparison that somebody made, with the same words.
    let at = columns.iter().position(|column| *column == Some(Column::Benchmark))?;
    let stated = |row: &Row| load(row.cells.get(at).map(String::as_str)).kind != LoadKind::Unknown;
    if table.rows.len() > 1 && !table.rows.iter().any(stated) {
        return None;
    }
    let mut part =
        TextPart::new("guidellm", "table", header.line, Recognised::likely(["Benchmark"]));
    let missing: Vec<&str> = COLUMNS
        .iter()
        .filter(|(column, _)| !columns.contains(&Some(*column)))
        .map(|(_, name)| *name)
        .collect();
    if !missing.is_empty() {
        part.findings.push(Problem::NoColumn.with([missing.join(", ")]).at(header.line));
    }
    let heads: Vec<(Option<Column>, &str)> =
        columns.into_iter().zip(header.cells.iter().map(String::as_str)).collect();
    for row in table.rows.iter().skip(1) {
        part.levels.extend(level(&heads, row, &mut part.findings));
    }
    Some(part)
}

/// Rows of such a table without its header.
fn headless(table: &Table) -> Option<TextPart> {
    let row = table.rows.iter().find(|row| {
        let name = row.name();
        (name.starts_with("asynchronous@") || name == "synchronous") && row.cells.len() > 1
    })?;
    let names: Vec<&str> = COLUMNS.iter().map(|(_, name)| *name).collect();
    let mut part = TextPart::new("guidellm", "table", row.line, Recognised::possible(["columns"]));
    part.findings.push(Problem::RowsHeadless.with([names.join(", ")]).at(row.line));
    Some(part)
}

fn level(
    heads: &[(Option<Column>, &str)],
    row: &Row,
    findings: &mut Vec<Diagnostic>,
) -> Option<(LevelSummary, LevelExtras)> {
    row.has_cells(heads.len(), findings)?;
    let benchmark = heads.iter().position(|(column, _)| *column == Some(Column::Benchmark));
    let load = load(benchmark.and_then(|at| row.cells.get(at)).map(String::as_str));
    let mut level = blank::level(label(load.kind, load.value), load);
    let mut cells = Vec::new();
    for ((column, head), value) in heads.iter().zip(&row.cells) {
        let stated = Stated { line: row.line, name: head, value };
        let measure = match column {
            Some(Column::Benchmark) => continue,
            Some(Column::Requests) => Measure::RequestRate,
            Some(Column::Latency) => Measure::Seconds,
            Some(Column::Ttft | Column::Itl) => Measure::Millis,
            Some(Column::Output) => Measure::TokenRate,
            None => {
                if let Cell::Number(number) = cell(value) {
                    report(&mut level, row.line, head, number);
                }
                continue;
            }
        };
        let Some(number) = stated.number(findings) else { continue };
        let Some(figure) = measure.of(number, name(head).1) else {
            if measure_of(Some(number.unit)).is_none() {
                findings.push(unread(row.line, head, value));
                continue;
            }
            let shifted = Problem::RowShifted.with(values![value, head, row.shown()]);
            findings.push(shifted.at(row.line));
            return None;
        };
        report(&mut level, row.line, head, number);
        cells.push((*column, figure, number.unit.is_empty()));
    }
    fill(&mut level, &cells, row, findings);
    Some((level, LevelExtras::default()))
}

/// Stores the values of a row.
fn fill(
    level: &mut LevelSummary,
    cells: &[(Option<Column>, f64, bool)],
    row: &Row,
    findings: &mut Vec<Diagnostic>,
) {
    let of = |column: Column| cells.iter().find(|(c, ..)| *c == Some(column)).map(|cells| cells.1);
    level.throughput.requests_per_s = of(Column::Requests);
    level.throughput.output_tokens_per_s = of(Column::Output);
    if !cells.is_empty() && cells.iter().all(|(_, figure, _)| *figure == 0.0) {
        findings.push(Problem::NothingCompleted.with([short(row.name())]).at(row.line));
        return;
    }
    let latency = of(Column::Latency);
    for (column, time) in [
        (Column::Latency, Time::Latency),
        (Column::Ttft, Time::Ttft),
        (Column::Itl, Time::ChunkGap),
    ] {
        let Some((_, figure, unitless)) = cells.iter().find(|(c, ..)| *c == Some(column)) else {
            continue;
        };
        // TTFT or a gap cannot exceed the latency; guidellm rounds both.
        let too_long = latency.is_some_and(|whole| *figure > whole * 1.1 + 10.0);
        if too_long && *unitless {
            findings.push(Problem::NoUnit.with([*figure]).at(row.line));
        } else {
            put(&mut level.times[time], "mean", *figure);
        }
        if too_long && !*unitless {
            findings.push(Problem::Implausible.with([*figure]).at(row.line));
        }
    }
}

/// The kind of load of a name that has none of its value, as in `concurrent`.
pub(super) fn unstated(benchmark: &str) -> Option<LoadKind> {
    match benchmark {
        "concurrent" => Some(LoadKind::Concurrency),
        "asynchronous" | "async" | "constant" | "poisson" => Some(LoadKind::Rate),
        _ => None,
    }
}

/// The load stated by a row's name.
pub(super) fn load(benchmark: Option<&str>) -> LoadSummary {
    let bare = benchmark.unwrap_or_default().trim_matches(['*', '`']).trim().to_lowercase();
    let (kind, rest) = bare.split_once('@').unwrap_or((&bare, ""));
    let value = quantity(rest.trim()).map(|quantity| quantity.value);
    match (kind.trim(), value) {
        ("synchronous", _) => blank::load(LoadKind::Concurrency, Some(1.0)),
        ("throughput", _) => blank::load(LoadKind::Unlimited, None),
        ("concurrent", Some(slots)) => blank::load(LoadKind::Concurrency, Some(slots)),
        ("asynchronous" | "async" | "constant" | "poisson", Some(rate)) => {
            blank::load(LoadKind::Rate, Some(rate))
        }
        _ => blank::load(LoadKind::Unknown, None),
    }
}
