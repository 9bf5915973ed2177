//! Results that tools print, alone or pasted into documents: walks through a text, lets each reader try,
//! and combines the results.

mod chatter;
mod group;
pub(crate) mod invocation;
pub(crate) mod part;
mod place;
pub(crate) mod plain;
pub(crate) mod quantity;
mod runs;

use crate::tools::{self, Printed};
use crate::{FileOutcome, ImportOutcome, Imported};
use dyno_form::lines::{self, LineKind, TextLine};
use dyno_form::table;
use dyno_words::Problem;
use part::TextPart;
use place::{Follower, TextPlace};

/// Reads a text, if it contains anything of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    let lines = lines::lines(bytes)?;
    let parts = parts(&lines);
    if parts.is_empty() {
        return started_only(name, &lines);
    }
    let mut imported = runs::runs(name, group::group(parts));
    imported.files = vec![FileOutcome { file: name.to_owned(), outcome: outcome(&imported) }];
    Some(imported)
}

/// A log that a tool began and that has no result of it.
fn started_only(name: &str, lines: &[TextLine]) -> Option<Imported> {
    let (line, tool) =
        lines.iter().find_map(|line| Some((line.number, chatter::started(&line.text)?)))?;
    let outcome = ImportOutcome::Empty { tool: tool.to_owned() };
    Some(Imported {
        problems: vec![Problem::NoResultPrinted.with([tool]).at(line)],
        files: vec![FileOutcome { file: name.to_owned(), outcome }],
        ..Imported::default()
    })
}

fn outcome(imported: &Imported) -> ImportOutcome {
    let mut tools = imported.runs.iter().filter_map(|run| run.summary.run.origin.as_ref());
    let levels = imported.runs.iter().map(|run| run.summary.levels.len()).sum();
    match tools.next() {
        Some(origin) if levels > 0 => ImportOutcome::Read {
            tool: origin.tool.clone(),
            sure: origin.recognised.as_ref().map(|recognised| recognised.sure),
            levels,
        },
        origin => ImportOutcome::Empty { tool: origin.map(|o| o.tool.clone()).unwrap_or_default() },
    }
}

/// All parts that were found, with their places.
fn parts(lines: &[TextLine]) -> Vec<(TextPart, TextPlace)> {
    let mut parts = Vec::new();
    let mut follower = Follower::of(lines);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = matches!(line.kind, LineKind::Text | LineKind::Code) && !line.text.is_empty();
        let rest = lines.get(at..).unwrap_or_default();
        let table = if text { table::table(rest) } else { None };
        let found = tools::printed().find_map(|reader| match (reader, &table) {
            (Printed::Table(read), Some((table, taken))) => Some((read(table)?, *taken)),
            (Printed::Block(read), _) if text => read(rest, follower.ahead()),
            _ => None,
        });
        match (found, table) {
            (Some((mut part, taken)), _) => {
                if part.levels.is_empty() && part.findings.is_empty() {
                    let empty = Problem::Empty.with([part.form, part.tool]);
                    part.findings.push(empty.at(line.number));
                }
                parts.push((part, follower.found()));
                at += taken.max(1);
            }
            (None, Some((_, taken))) => {
                rest.iter().take(taken).for_each(|line| follower.skip(line));
                at += taken.max(1);
            }
            (None, None) => {
                follower.pass(line);
                at += 1;
            }
        }
    }
    parts
}
