//! Comma-separated values as RFC 4180 has them, and as spreadsheets write them: quotes, line ends
//! inside quotes, CRLF, and `;` or tabs in the place of commas.

use std::collections::HashSet;
use std::io::{self, BufRead};
use std::sync::Arc;

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::at::At;
use super::error::DataError;
use super::header::{CHOICES, Table};
use super::lines::not_utf8;
use super::record::{MAX_RECORD, Record, Records, too_long};
use super::source::{Origin, Source};

/// The delimiter that a header line uses: whichever of `,`, `;` and tab occurs most outside
/// quotes.
pub(super) fn delimiter(header: &[u8]) -> u8 {
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in header {
        quoted ^= *byte == b'"';
        for (delimiter, count) in &mut counts {
            *count += usize::from(!quoted && byte == delimiter);
        }
    }
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

/// Rows of a table, as objects whose keys are the header's.
pub(super) struct Rows {
    reader: Box<dyn BufRead + Send>,
    origin: Origin,
    table: Table,
    header: Option<Vec<String>>,
    header_line: Option<u64>,
    /// Whether any row has had as many fields as the header.
    any_fits: bool,
    line: u64,
    blank: u64,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Plain,
    Quoted,
    QuoteInQuoted,
    Spoiled,
}

/// One row as it was written.
struct Row {
    line: u64,
    fields: Vec<Vec<u8>>,
    wrong: Option<(u64, Message, Message)>,
}

fn put_in_quotes() -> Message {
    message!(
        "put the field in quotes and double the quotes inside it",
        "请给该字段加上引号，其中的引号写两遍"
    )
}

impl Rows {
    /// A table that begins like this.
    pub(super) fn new(source: Source, table: Table) -> Self {
        let Source { reader, origin, .. } = source;
        Self {
            reader,
            origin,
            table,
            header: None,
            header_line: None,
            any_fits: false,
            line: 1,
            blank: 0,
            ended: false,
        }
    }

    /// The rows of a few bytes.
    fn of_bytes(bytes: &[u8], delimiter: u8, name: &str) -> Self {
        let origin = Origin { name: Arc::new(Message::quoted(name)), compression: None };
        let reader: Box<dyn BufRead + Send> = Box::new(io::Cursor::new(bytes.to_vec()));
        let source = Source { reader, origin, parquet: false };
        Self::new(source, Table { delimiter, skip: 0, named: true })
    }

    fn at(&self, line: u64) -> At {
        At::line(&self.origin.name, line)
    }

    /// The next row that is not blank.
    fn row(&mut self) -> Result<Option<Row>, DataError> {
        loop {
            let Some(row) = self.any_row()? else { return Ok(None) };
            let blank = row.fields.len() == 1 && row.fields[0].is_empty() && row.wrong.is_none();
            if !blank {
                return Ok(Some(row));
            }
            self.blank += 1;
        }
    }

    fn any_row(&mut self) -> Result<Option<Row>, DataError> {
        let mut row = Row { line: self.line, fields: Vec::new(), wrong: None };
        let mut field = Vec::new();
        let mut state = State::Start;
        let (mut size, mut opened) = (0_usize, self.line);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.origin.failed(error, self.line - 1)),
            };
            if chunk.is_empty() {
                if state == State::Quoted {
                    let at = At::line(&self.origin.name, opened);
                    return Err(DataError::Broken {
                        at,
                        what: message!(
                            "a quote opens here and does not close before the file ends",
                            "此处的引号直到文件末尾都没有闭合"
                        ),
                        fix: put_in_quotes(),
                    });
                }
                if row.fields.is_empty() && field.is_empty() && size == 0 {
                    return Ok(None);
                }
                return self.whole(row, field, size);
            }
            let mut used = 0;
            let mut ended = false;
            for byte in chunk {
                used += 1;
                size += 1;
                self.line += u64::from(*byte == b'\n');
                let too_big = size > MAX_RECORD;
                state = match (state, *byte) {
                    (State::Quoted, b'"') => State::QuoteInQuoted,
                    (State::QuoteInQuoted, b'"') => {
                        field.push(b'"');
                        State::Quoted
                    }
                    (State::Quoted, byte) => {
                        if !too_big {
                            field.push(byte);
                        }
                        State::Quoted
                    }
                    (_, b'\n') => {
                        ended = true;
                        break;
                    }
                    (State::Spoiled, _) => State::Spoiled,
                    (_, byte) if byte == self.table.delimiter => {
                        row.fields.push(std::mem::take(&mut field));
                        State::Start
                    }
                    (State::Start, b'"') => {
                        opened = self.line;
                        State::Quoted
                    }
                    (State::QuoteInQuoted, b'\r') => State::QuoteInQuoted,
                    (State::QuoteInQuoted, _) => {
                        let what = message!("text follows a closing quote", "右引号之后还有文字");
                        row.wrong = Some((self.line, what, put_in_quotes()));
                        State::Spoiled
                    }
                    (_, byte) => {
                        if !too_big {
                            field.push(byte);
                        }
                        State::Plain
                    }
                };
            }
            self.reader.consume(used);
            if ended {
                if state != State::QuoteInQuoted && field.last() == Some(&b'\r') {
                    field.pop();
                }
                return self.whole(row, field, size);
            }
        }
    }

    fn whole(&self, mut row: Row, last: Vec<u8>, size: usize) -> Result<Option<Row>, DataError> {
        row.fields.push(last);
        match size > MAX_RECORD {
            true => Err(too_long(&self.at(row.line), message!("the row", "该行"))),
            false => Ok(Some(row)),
        }
    }

    /// The names of the columns; those without one are named by their place.
    fn header(&mut self) -> Result<Option<Vec<String>>, DataError> {
        for _ in 0..self.table.skip {
            let skipped = self.reader.skip_until(b'\n');
            skipped.map_err(|error| self.origin.failed(error, self.line - 1))?;
            self.line += 1;
        }
        if !self.table.named {
            return Ok(Some(CHOICES.map(String::from).to_vec()));
        }
        let Some(row) = self.row()? else { return Ok(None) };
        self.header_line = Some(row.line);
        let at = self.at(row.line);
        let broken = |what, fix| DataError::Broken { at: at.clone(), what, fix };
        if let Some((_, what, fix)) = row.wrong {
            return Err(broken(message!("in the header, {what}", "表头中，{what}"), fix));
        }
        let mut names: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for (index, field) in row.fields.into_iter().enumerate() {
            let name = String::from_utf8(field)
                .map_err(|error| not_utf8(at.clone(), error.utf8_error().valid_up_to()))?;
            let name = match name.trim() {
                "" => format!("column {}", index + 1),
                name => name.to_string(),
            };
            if !seen.insert(name.clone()) {
                let what = message!("the column {name:?} is there twice", "列 {name:?} 出现了两次");
                return Err(broken(what, message!("rename one", "请重命名其中一列")));
            }
            names.push(name);
        }
        Ok(Some(names))
    }

    fn step(&mut self) -> Result<Option<Record>, DataError> {
        if self.header.is_none() {
            self.header = self.header()?;
        }
        let Some(row) = self.row()? else { return Ok(None) };
        let Some(header) = &self.header else { return Ok(None) };
        let at = self.at(row.line);
        if let Some((line, what, fix)) = row.wrong {
            return Err(DataError::bad(&self.at(line), what, fix));
        }
        if row.fields.len() != header.len() {
            let of = header.len();
            let what = match row.fields.len() {
                1 => message!(
                    "the row has 1 field and the header {of}",
                    "该行有 1 个字段，而表头有 {of} 个"
                ),
                has => message!(
                    "the row has {has} fields and the header {of}",
                    "该行有 {has} 个字段，而表头有 {of} 个"
                ),
            };
            // The line above the first row may be no header at all.
            let fix = match self.header_line.filter(|_| !self.any_fits) {
                Some(line) => message!(
                    "quote fields that hold the delimiter, or remove line {line} if it is a title",
                    "请给含分隔符的字段加引号；若第 {line} 行是标题，请删除该行"
                ),
                None => {
                    message!("quote fields that hold the delimiter", "请给含分隔符的字段加上引号")
                }
            };
            return Err(DataError::bad(&at, what, fix));
        }
        self.any_fits = true;
        let mut object = Map::new();
        for (name, field) in header.iter().zip(row.fields) {
            let text = String::from_utf8(field)
                .map_err(|error| not_utf8(at.clone(), error.utf8_error().valid_up_to()))?;
            object.insert(name.clone(), Value::String(text));
        }
        Ok(Some(Record { at, value: Value::Object(object) }))
    }
}

impl Records for Rows {
    fn next(&mut self) -> Option<Result<Record, DataError>> {
        if self.ended {
            return None;
        }
        let step = self.step().transpose();
        self.ended = match &step {
            None => true,
            Some(Err(error)) => !error.is_skippable() || self.header.is_none(),
            Some(Ok(_)) => false,
        };
        step
    }

    fn blank(&self) -> u64 {
        self.blank
    }
}

/// The names in a header line, for a first look at a file.
pub(super) fn names(header: &str, name: &str) -> Vec<String> {
    let delimiter = delimiter(header.as_bytes());
    Rows::of_bytes(header.as_bytes(), delimiter, name).header().ok().flatten().unwrap_or_default()
}

/// The first rows of a table as they are written, for a first look at a file.
pub(super) fn first_rows(bytes: &[u8], delimiter: u8, most: usize, name: &str) -> Vec<Vec<String>> {
    let mut rows = Rows::of_bytes(bytes, delimiter, name);
    let row = || rows.row().ok().flatten();
    let texts = |row: Row| {
        row.fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    };
    std::iter::from_fn(row).take(most).map(texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// L4: the time grew with the square of the number of columns, 20 s for 100,000.
    #[test]
    fn many_columns_are_read_at_once() {
        let header: Vec<String> =
            (0..100_000).map(|n| format!("a long name of column {n}")).collect();
        let start = Instant::now();
        assert_eq!(names(&header.join(","), "a.csv").len(), 100_000);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(names("a,b,a", "a.csv").is_empty());
    }
}
