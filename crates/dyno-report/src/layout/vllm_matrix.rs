//! The length matrix of vLLM 0.2.7's scripts: one row for each input and output length, with the
//! latency of a request divided by its tokens.

use super::cells::fixed;
use crate::text::width;
use dyno_model::summary::{Extras, LevelExtras};
use dyno_model::summary::{LevelSummary, Summary, Tokens};

const HEADINGS: [&str; 6] = [
    "Input Length",
    "Output Length",
    "Throughput (requests/s)",
    "Throughput (output token/s)",
    "Average latency per token (ms)",
    "Average latency per output token (ms)",
];

/// One table, or one for each load where there are several.
pub(super) fn matrix(summary: &Summary, extras: &Extras) -> String {
    let mut levels: Vec<(&LevelSummary, LevelExtras)> =
        summary.levels.iter().map(|level| (level, extras.of(level.index))).collect();
    levels.sort_by(|(a, _), (b, _)| {
        let (a, b) = (place(a), place(b));
        let order = a.0.cmp(b.0).then(a.1.total_cmp(&b.1));
        order.then(a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3))
    });
    let tables: Vec<_> = levels.chunk_by(|(a, _), (b, _)| a.load == b.load).collect();
    if tables.is_empty() {
        return table(&[]);
    }
    let several = tables.len() > 1;
    let texts = tables.iter().map(|levels| {
        let load = levels.first().filter(|_| several).map(|(level, _)| &level.load);
        let heading = load.map(|load| match load.value {
            Some(value) => format!("{} {value}\n\n", load.kind),
            None => format!("{}\n\n", load.kind),
        });
        heading.unwrap_or_default() + &table(levels)
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The place of a level: by its load, then by its lengths.
fn place(level: &LevelSummary) -> (&str, f64, f64, f64) {
    let load = &level.load;
    let [input, output] = lengths(level).map(|length| length.unwrap_or(f64::INFINITY));
    (load.kind.name(), load.value.unwrap_or(f64::INFINITY), input, output)
}

/// The requested lengths, or else the mean of the counted ones.
fn lengths(level: &LevelSummary) -> [Option<f64>; 2] {
    let length = |asked: Option<u32>, counted: Option<Tokens>| {
        asked.map(f64::from).or(counted.map(|tokens| tokens.mean))
    };
    [
        length(level.input_length, level.input_tokens),
        length(level.output_length, level.output_tokens),
    ]
}

fn table(levels: &[(&LevelSummary, LevelExtras)]) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for (level, extras) in levels {
        let [input, output] = lengths(level);
        rows.push([
            fixed(input, 0),
            fixed(output, 0),
            fixed(level.throughput.requests_per_s, 2),
            fixed(level.throughput.output_tokens_per_s, 2),
            fixed(extras.latency_per_token_ms, 2),
            fixed(extras.latency_per_output_token_ms, 2),
        ]);
    }
    let mut widths = [0; HEADINGS.len()];
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(cell));
        }
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = String::new();
    for (i, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:^width$}"));
        out.push_str(&line(cells.collect()));
        if i == 0 {
            let rules = widths.iter().map(|width| format!(":{}:", "-".repeat(width - 2)));
            out.push_str(&line(rules.collect()));
        }
    }
    out
}
