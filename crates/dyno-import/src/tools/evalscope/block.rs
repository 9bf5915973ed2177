//! EvalScope's summary of one level: lines of `name: value`, or a table of names and values, and the
//! percentiles that follow. The names changed over time, and with them the units.

use super::rows::Reader;
use crate::text::invocation::Invocation;
use crate::text::part::TextPart;
use crate::text::quantity::name;
use dyno_form::lines::{LineKind, TextLine};
use dyno_form::table::{Row, Table, table};

/// The start of a block.
pub(super) const HEADING: &str = "Benchmarking summary:";

/// Between a summary and its percentiles a logger may write a few lines.
const BETWEEN: usize = 12;

/// Reads the block that starts with the first of these lines; returns how many lines it takes.
pub(crate) fn read(lines: &[TextLine], before: &[String]) -> Option<(TextPart, usize)> {
    let first = lines.first()?;
    let headed = is_heading(&first.text);
    if !headed && !table(lines).is_some_and(|(table, _)| is_summary(&table)) {
        return None;
    }
    let mut reader = Reader::new(first.number);
    let mut taken = usize::from(headed);
    while let Some(line) = lines.get(taken).filter(|line| line.kind == first.kind) {
        taken += match (line.text.as_str(), table(&lines[taken..])) {
            ("", _) => 1,
            // The summary of the next level.
            (_, Some((table, _))) if !reader.is_empty() && is_summary(&table) => break,
            (_, Some((table, rows))) if reader.table(&table) => rows,
            (text, _) if reader.line(line.number, text) => 1,
            _ => match ahead(&lines[taken..]) {
                Some(skipped) if !reader.is_empty() => skipped,
                _ => break,
            },
        };
    }
    if reader.is_empty() {
        return None;
    }
    let closed = lines.get(taken).is_none_or(|line| line.kind == LineKind::Close);
    let mut part = reader.finish(closed);
    part.model = Invocation::by(before.iter().map(String::as_str)).model();
    Some((part, taken))
}

/// A logger may have put a time and its name before the heading; other text means it is not one.
fn is_heading(text: &str) -> bool {
    text.strip_suffix(HEADING)
        .is_some_and(|rest| rest.is_empty() || rest.trim_end().ends_with(['-', ':', ']', '|']))
}

/// A table of names and values.
pub(super) fn is_pairs(table: &Table) -> bool {
    let heads: Vec<String> = table.heads().iter().map(|head| name(head).0).collect();
    matches!(heads.as_slice(), [key, value]
        if ["key", "metric"].contains(&key.as_str()) && value == "value")
}

/// A summary that lost its heading: its rows state a load and a latency.
fn is_summary(table: &Table) -> bool {
    let has = |names: [&str; 2]| {
        let row = |row: &Row| names.contains(&name(row.name()).0.as_str());
        table.rows.iter().any(row)
    };
    is_pairs(table)
        && has(["number of concurrency", "concurrency"])
        && has(["average latency", "avg latency"])
}

/// How many lines of a log there are before the percentiles that belong to a summary.
fn ahead(lines: &[TextLine]) -> Option<usize> {
    let near = lines.iter().take(BETWEEN);
    let at = near.enumerate().find(|(_, line)| line.text.ends_with("Percentile results:"))?.0;
    let other = |line: &TextLine| line.text.ends_with(HEADING) || line.text.starts_with('|');
    (!lines[..at].iter().any(other)).then_some(at + 1)
}
