//! What there is to say of a level's conversations: first and later turns side by side.

use super::layout::{maybe, number};
use super::table::{Marks, percentile};
use crate::summary::{LevelSummary, TurnFigures};

const COLUMNS: usize = 6;

fn line(cells: &[String; COLUMNS]) -> String {
    let [name, requests, p50, p90, p99, tokens] = cells;
    let line = format!("    {name:<12} {requests:>9} {p50:>9} {p90:>9} {p99:>9} {tokens:>10}");
    format!("{}\n", line.trim_end())
}

fn cells(name: &str, turns: &TurnFigures, marks: &mut Marks) -> [String; COLUMNS] {
    let ttft = turns.ttft_ms.as_ref();
    let [p50, p90, p99] = [
        ("p50", ttft.and_then(|ttft| ttft.p50)),
        ("p90", ttft.and_then(|ttft| ttft.p90)),
        ("p99", ttft.and_then(|ttft| ttft.p99)),
    ]
    .map(|(name, value)| percentile(ttft, name, value, marks));
    let tokens = maybe(turns.input_tokens.map(|tokens| tokens.mean));
    [name.to_owned(), turns.requests.to_string(), p50, p90, p99, tokens]
}

/// A small table; nothing for a level without conversations. Tells which marks it uses.
pub(super) fn turns(level: &LevelSummary, marks: &mut Marks) -> String {
    let Some(sessions) = &level.sessions else {
        return String::new();
    };
    let head = ["", "requests", "p50", "p90", "p99", "tokens in"].map(str::to_owned);
    let rows = [
        head,
        cells("first turn", &sessions.first, marks),
        cells("later turns", &sessions.later, marks),
    ];
    let mean = number(sessions.turns_mean);
    let talks = if sessions.started == 1 { "conversation" } else { "conversations" };
    format!("  {} {talks} of {mean} turns on average; TTFT by turn, ms\n", sessions.started)
        + &rows.iter().map(line).collect::<String>()
}
