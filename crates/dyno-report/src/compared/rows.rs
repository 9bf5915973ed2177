//! A comparison as rows for a spreadsheet: one for each load, metric and side.

use crate::layout::{Column, LayoutTable};
use dyno_analysis::compare::{
    Called, Compared, ComparedCell, Comparison, CurvePoint, Difference, SideSummary,
};
use std::io::{self, Write};

/// The source of one row.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    point: &'a CurvePoint,
    metric: Compared,
    side: &'a SideSummary,
    cell: &'a ComparedCell,
    value: f64,
    test: Option<&'a Difference>,
}

/// Writes the rows under their heading.
pub fn rows(comparison: &Comparison, table: LayoutTable, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for (place, point) in comparison.points.iter().enumerate() {
        for metric in Compared::all() {
            for (side, cell) in point.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let Some(value) = cell.figures.get(&metric).copied() else { continue };
                let test = comparison.test(side, place, metric);
                let side = &comparison.sides[side];
                rows.push(Row { point, metric, side, cell, value, test });
            }
        }
    }
    table.write(out, &columns(), rows.into_iter())
}

fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let change = |row: &Row<'_>| row.test.map(|test| test.change);
    let end = |end: usize| move |row: &Row<'_>| row.test.map(|test| test.interval[end]);
    vec![
        Column::text("load", |row: &Row<'_>| Some(row.point.load.kind.to_string())),
        Column::number("load_value", |row: &Row<'_>| row.point.load.value),
        Column::whole("input_length", |row: &Row<'_>| row.point.input_length),
        Column::whole("output_length", |row: &Row<'_>| row.point.output_length),
        Column::text("label", |row: &Row<'_>| Some(row.point.label.clone())),
        Column::own("figure", |row: &Row<'_>| Some(row.metric.name())),
        Column::text("side", |row: &Row<'_>| Some(row.side.name.clone())),
        Column::text("run", |row: &Row<'_>| Some(row.side.run.clone())),
        Column::number("value", |row: &Row<'_>| Some(row.value)),
        Column::truth("interpolated", |row: &Row<'_>| Some(row.cell.interpolated)),
        Column::whole("rounds", |row: &Row<'_>| Some(row.cell.rounds as u64)),
        Column::number("change", change),
        Column::number("change_low", end(0)),
        Column::number("change_high", end(1)),
        Column::own("called", |row: &Row<'_>| row.test.map(|test| name(test.called))),
    ]
}

fn name(called: Called) -> &'static str {
    match called {
        Called::Better => "better",
        Called::Worse => "worse",
        Called::NoLargerThan { .. } => "no_larger_than",
        Called::NotEnough { .. } => "not_enough",
    }
}
