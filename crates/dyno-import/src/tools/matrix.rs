//! Tables of input length by output length, as vLLM 0.2.7's scripts print them.

use super::{Printed, Tool};
use crate::level::blank;
use crate::text::part::{Stated, TextPart, report, whole};
use crate::text::quantity::{Cell, Measure, cell, measure_of, name};
use dyno_form::table::{Row, Table};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::load::LoadKind;
use dyno_model::summary::{LevelExtras, Recognised};
use dyno_words::Problem;

pub(super) const TOOL: Tool = Tool {
    name: "vllm",
    kinds: &[["length matrices (input by output length)", "长度矩阵（输入长度 × 输出长度）"]],
    printed: &[Printed::Table(read)],
    ..super::NOTHING
};

/// A known column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Input,
    Output,
    Requests,
    Tokens,
    PerToken,
    PerOutputToken,
}

const NAMES: &str = "Input Length, Output Length, Throughput (requests/s), \
    Throughput (output token/s), Average latency per token (ms), \
    Average latency per output token (ms)";

fn column(cell: &str) -> Option<Column> {
    let (name, unit) = name(cell);
    Some(match (name.as_str(), measure_of(unit)) {
        ("input length" | "input len" | "输入长度", _) => Column::Input,
        ("output length" | "output len" | "输出长度", _) => Column::Output,
        ("throughput" | "吞吐量", Some(Measure::RequestRate)) => Column::Requests,
        ("throughput" | "吞吐量", Some(Measure::TokenRate)) => Column::Tokens,
        ("average latency per token", _) => Column::PerToken,
        ("average latency per output token", _) => Column::PerOutputToken,
        _ => return None,
    })
}

/// Reads it, if it is one.
pub(crate) fn read(table: &Table) -> Option<TextPart> {
    let header = table.rows.first()?;
    let columns: Vec<Option<Column>> = header.cells.iter().map(|cell| column(cell)).collect();
    let has = |column: Column| columns.contains(&Some(column));
    if !(has(Column::Input) && has(Column::Output)) || columns.iter().flatten().count() < 3 {
        return headless(table);
    }
    let mut part = TextPart::new(
        "vllm",
        "matrix",
        header.line,
        Recognised::likely(["Input Length", "Output Length"]),
    );
    let heads: Vec<(Option<Column>, &str)> =
        columns.iter().copied().zip(header.cells.iter().map(String::as_str)).collect();
    for row in table.rows.iter().skip(1) {
        part.levels.extend(level(&heads, row, &mut part.findings));
    }
    part.findings.push(Diagnostic::from(Problem::LoadUnknown).at(header.line));
    Some(part)
}

/// Six columns of numbers, the first two of them lengths, and no header.
fn headless(table: &Table) -> Option<TextPart> {
    let numbers = |row: &Row| {
        let number = |text: &String| match cell(text) {
            Cell::Number(number) if number.unit.is_empty() => Some(number.value),
            _ => None,
        };
        row.cells.iter().map(number).collect::<Option<Vec<f64>>>()
    };
    let row = table.rows.first()?;
    let [input, output, _, _, _, _] = numbers(row)?[..] else { return None };
    whole(input).zip(whole(output))?;
    let mut part = TextPart::new("vllm", "matrix", row.line, Recognised::possible(["columns"]));
    part.findings.push(Problem::MatrixHeadless.with([NAMES]).at(row.line));
    Some(part)
}

fn level(
    heads: &[(Option<Column>, &str)],
    row: &Row,
    findings: &mut Vec<Diagnostic>,
) -> Option<(LevelSummary, LevelExtras)> {
    row.has_cells(heads.len(), findings)?;
    let length = |wanted: Column| {
        let at = heads.iter().position(|(column, _)| *column == Some(wanted))?;
        match cell(row.cells.get(at)?) {
            Cell::Number(number) => u32::try_from(whole(number.value)?).ok(),
            _ => None,
        }
    };
    let (Some(input), Some(output)) = (length(Column::Input), length(Column::Output)) else {
        findings.push(Problem::RowLengths.with([row.shown()]).at(row.line));
        return None;
    };
    let mut level = blank::level(format!("{input}→{output}"), blank::load(LoadKind::Unknown, None));
    (level.input_length, level.output_length) = (Some(input), Some(output));
    let mut extras = LevelExtras::default();
    for ((column, head), value) in heads.iter().zip(&row.cells) {
        let stated = Stated { line: row.line, name: head, value };
        if let Some(number) = stated.number(findings) {
            report(&mut level, row.line, head, number);
        }
        let (place, measure) = match column {
            Some(Column::Requests) => (&mut level.throughput.requests_per_s, Measure::RequestRate),
            Some(Column::Tokens) => (&mut level.throughput.output_tokens_per_s, Measure::TokenRate),
            Some(Column::PerToken) => (&mut extras.latency_per_token_ms, Measure::Millis),
            Some(Column::PerOutputToken) => {
                (&mut extras.latency_per_output_token_ms, Measure::Millis)
            }
            Some(Column::Input | Column::Output) | None => continue,
        };
        if let Cell::Number(_) = cell(value) {
            *place = stated.converted(measure, findings);
        }
    }
    Some((level, extras))
}
