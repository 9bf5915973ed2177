//! Results that tools print, alone or pasted into documents: walks through a text, lets each reader try,
//! and combines the results.

mod evalscope;
mod group;
mod guidellm;
mod lines;
mod matrix;
mod part;
mod pivot;
mod place;
mod plain;
mod quantity;
mod runs;
mod serving;
mod table;

use crate::Imported;
use dyno_words::Problem;
use lines::{Kind, Line};
use part::Part;
use place::{Follower, Place};

/// A reader of blocks: returns the part and how many lines it took; the second argument are the lines
/// before it.
type ReadBlock = fn(&[Line], &[String]) -> Option<(Part, usize)>;

/// A reader of tables or of blocks.
enum Reader {
    Table(fn(&table::Table) -> Option<Part>),
    Block(ReadBlock),
}
use Reader::{Block, Table};

/// What tools print, as shown in messages, with their readers. The first that recognises it reads it.
const TOOLS: [(&str, &[Reader]); 4] = [
    ("tables of guidellm 0.1", &[Table(guidellm::read)]),
    (
        "summary blocks and pivot tables of EvalScope perf",
        &[Block(|lines, _| evalscope::read(lines)), Table(pivot::read)],
    ),
    ("serving benchmark blocks of vLLM and SGLang", &[Block(serving::read)]),
    ("length matrices (input by output length)", &[Table(matrix::read)]),
];

/// What is read here, as shown in messages.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(kind, _)| *kind)
}

/// Reads a text, if it contains anything of a known kind.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Option<Imported> {
    let lines = lines::lines(bytes)?;
    let parts = parts(&lines);
    if parts.is_empty() {
        return None;
    }
    Some(runs::runs(name, group::group(parts)))
}

/// All parts that were found, with their places.
fn parts(lines: &[Line]) -> Vec<(Part, Place)> {
    let mut parts = Vec::new();
    let mut follower = Follower::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let text = matches!(line.kind, Kind::Text | Kind::Code) && !line.text.is_empty();
        let rest = lines.get(at..).unwrap_or_default();
        let table = if text { table::table(rest) } else { None };
        let mut readers = TOOLS.iter().flat_map(|(_, readers)| *readers);
        let found = readers.find_map(|reader| match (reader, &table) {
            (Table(read), Some((table, taken))) => Some((read(table)?, *taken)),
            (Block(read), None) if text => read(rest, follower.ahead()),
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
            (None, Some((_, taken))) => at += taken.max(1),
            (None, None) => {
                follower.pass(line);
                at += 1;
            }
        }
    }
    parts
}
