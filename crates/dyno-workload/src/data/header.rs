//! Lines before the first record: comments, titles and objects that describe the file. They are
//! skipped, and the description of the layout says so.

use serde_json::{Map, Value};

use super::csv;
use super::fields::{MESSAGES, PROMPTS, TRACES};
use super::requests;
use super::spec::DataSpec;

/// Lines that may precede the header of a table.
const MOST_LINES: usize = 10;

/// Whether a field or a column has a name by which it is recognised.
pub(super) fn is_usual(name: &str) -> bool {
    let mut names = PROMPTS.iter().chain(&MESSAGES).chain(&TRACES);
    names.any(|usual| name.trim().eq_ignore_ascii_case(usual))
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.starts_with(b"//")
}

/// How many of the lines of a JSON-lines file precede its first record: comments, and an object that
/// has no field in common with the record behind it.
pub(super) fn of_json_lines(lines: &[&[u8]], spec: &DataSpec) -> u8 {
    let filled = |(_, line): &(usize, &&[u8])| !line.trim_ascii().is_empty();
    let mut rest =
        lines.iter().enumerate().filter(filled).map(|(at, line)| (at, line.trim_ascii()));
    let mut rest = rest.by_ref().skip_while(|(_, line)| is_comment(line));
    let (Some((first, line)), next) = (rest.next(), rest.next()) else { return 0 };
    let object = |line: &[u8]| serde_json::from_slice::<Map<String, Value>>(line).ok();
    let described = object(line).zip(next.and_then(|(_, line)| object(line)));
    let skipped = match (described, next) {
        (Some((head, record)), Some((second, _)))
            if is_record(&record, spec)
                && !is_record(&head, spec)
                && !head.keys().any(|name| record.contains_key(name)) =>
        {
            second
        }
        _ => first,
    };
    u8::try_from(skipped).unwrap_or(0)
}

/// Whether an object has a field that is asked for, or one with a usual name.
pub(super) fn is_record(object: &Map<String, Value>, spec: &DataSpec) -> bool {
    let mapping = &spec.mapping;
    let asked = [&mapping.prompt, &mapping.messages, &mapping.context].into_iter().flatten();
    asked.into_iter().any(|field| field.find(object).is_some())
        || object.keys().any(|name| is_usual(name))
        || requests::request_of(object).is_some()
}

/// How a table begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) delimiter: u8,
    /// Lines before the row of names, or before the first row if there are no names.
    pub(super) skip: u8,
    /// Whether there is a row of names. Otherwise the columns are those of [`CHOICES`].
    pub(super) named: bool,
}

/// The columns of a table of questions with four choices each, as they are passed around without a
/// row of names.
pub(super) const CHOICES: [&str; 6] = ["question", "A", "B", "C", "D", "answer"];

/// How a table begins whose first lines these are.
pub(super) fn of_table(bytes: &[u8], name: &str) -> Table {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(MOST_LINES + 1).collect();
    let first = lines.iter().position(|line| !line.trim_ascii().is_empty()).unwrap_or(0);
    let table = |at: usize, delimiter| Table {
        delimiter,
        skip: u8::try_from(at).unwrap_or(0),
        named: true,
    };
    let columns = |at: usize| {
        let line = lines.get(at).copied().unwrap_or_default();
        csv::first_rows(line, csv::delimiter(line), 1, name).pop().unwrap_or_default()
    };
    let is_header = |at: usize| {
        let names = columns(at);
        let alike = at == first || (names.len() > 1 && columns(at + 1).len() == names.len());
        alike && names.iter().any(|name| is_usual(name))
    };
    for (at, line) in lines.iter().enumerate().skip(first) {
        let line = line.trim_ascii();
        // The line of a spreadsheet that names the delimiter of the lines behind it.
        if let Some(delimiter) = stated_delimiter(line) {
            return table(at + 1, delimiter);
        }
        if is_header(at) {
            return table(at, csv::delimiter(line));
        }
        let is_title = columns(at).len() < 2;
        if !line.is_empty() && !is_comment(line) && !is_title {
            break;
        }
    }
    // Comments before names that are not usual; `#id,body` is a row of names.
    let is_remark = |at: &usize| {
        lines.get(*at).is_some_and(|line| line.starts_with(b"#"))
            && columns(*at).len() != columns(at + 1).len()
    };
    let at = (first..lines.len()).find(|at| !is_remark(at)).unwrap_or(first);
    let delimiter = csv::delimiter(lines.get(at).copied().unwrap_or_default());
    let from: usize = lines.iter().take(at).map(|line| line.len() + 1).sum();
    let rows = csv::first_rows(bytes.get(from..).unwrap_or_default(), delimiter, 2, name);
    let is_question = |row: &Vec<String>| {
        row.len() == CHOICES.len()
            && row.last().is_some_and(|last| matches!(last.trim(), "A" | "B" | "C" | "D"))
    };
    let named = rows.is_empty() || !rows.iter().all(is_question);
    Table { named, ..table(at, delimiter) }
}

/// Whether the lines before the row of names cannot be prompts, so that a file is a table whatever its
/// name.
pub(super) fn is_plain(bytes: &[u8], table: Table) -> bool {
    let mut before = bytes.split(|byte| *byte == b'\n').take(table.skip.into());
    before.all(|line| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"#") || stated_delimiter(line).is_some()
    })
}

/// The delimiter that a line of a spreadsheet such as `sep=;` names.
fn stated_delimiter(line: &[u8]) -> Option<u8> {
    match line.trim_ascii().strip_prefix(b"sep=")? {
        [delimiter @ (b',' | b';' | b'\t')] => Some(*delimiter),
        b"" => Some(b'\t'),
        _ => None,
    }
}
