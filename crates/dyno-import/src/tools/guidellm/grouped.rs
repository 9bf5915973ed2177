//! A table of guidellm's console: a header of two or three rows with cells that reach over several columns, and a
//! row for each benchmark.

use super::columns::{Column, columns};
use dyno_form::lines::TextLine;

/// A table with groups of columns.
#[derive(Debug)]
pub(super) struct Grouped<'a> {
    /// What it was recognised by.
    pub(super) mark: &'static str,
    pub(super) columns: Vec<Column>,
    /// Their lines and cells.
    pub(super) rows: Vec<(&'a TextLine, Vec<String>)>,
}

/// The table that starts with the first of these lines, and how many lines it takes.
pub(super) fn grouped(lines: &[TextLine]) -> Option<(Grouped<'_>, usize)> {
    let rules = lines.iter().take(2).take_while(|line| is_rule(&line.text)).count();
    let rows = || lines[rules..].iter().take(5);
    let mut head = rows().map(|line| first_cell(&line.text));
    let mark = match (head.next()?, head.next()?) {
        ("Benchmark", "Strategy") => "Strategy",
        ("Metadata", "Benchmark") => "Metadata",
        _ => return None,
    };
    let ruled = rows().position(|line| is_rule(&line.text)).filter(|at| (2..=3).contains(at))?;
    let header: Vec<Vec<&str>> = rows().take(ruled).map(|line| spanned(&line.text)).collect();
    let mut found = Grouped { mark, columns: columns(&header), rows: Vec::new() };
    let mut taken = rules + ruled + 1;
    for line in &lines[taken..] {
        if !line.text.contains('|') || is_rule(&line.text) {
            break;
        }
        let cells = spanned(&line.text).into_iter().map(|cell| cell.trim().to_owned());
        found.rows.push((line, cells.collect()));
        taken += 1;
    }
    // The rule below may be that above the next table.
    let last = lines.get(taken).is_some_and(|line| is_rule(&line.text));
    let stacked = grouped_below(lines.get(taken + 1));
    Some((found, taken + usize::from(last && !stacked)))
}

fn grouped_below(line: Option<&TextLine>) -> bool {
    line.is_some_and(|line| first_cell(&line.text) == "Benchmark")
}

fn is_rule(text: &str) -> bool {
    text.len() >= 5 && text.chars().all(|c| matches!(c, '=' | '-' | '|'))
}

fn first_cell(text: &str) -> &str {
    let text = text.strip_prefix('|').unwrap_or(text);
    text.split('|').next().unwrap_or_default().trim()
}

/// The cells of a row as they are: one of no width belongs to that on its left. A row without a line at its
/// start has none at its end, either.
fn spanned(text: &str) -> Vec<&str> {
    let framed = text.strip_prefix('|').map(|rest| rest.strip_suffix('|').unwrap_or(rest));
    framed.unwrap_or(text).split('|').collect()
}
