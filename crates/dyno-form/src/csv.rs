//! Tables of comma-separated values: quotes, doubled quotes, any line ending, a byte order mark.

use crate::json::without_mark;
use csv::{ReaderBuilder, StringRecord};

/// The most cells that are read.
const MOST_CELLS: usize = 4_000_000;

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvRow {
    /// Its line, from 1.
    pub line: u64,
    /// Its cells, as they are.
    pub cells: Vec<String>,
}

/// The lines of a table; none if it is not text. Empty ones are left out.
pub fn rows(bytes: &[u8]) -> Vec<CsvRow> {
    let bytes = without_mark(bytes);
    if std::str::from_utf8(bytes).is_err() {
        return Vec::new();
    }
    let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut seen = 0;
    let few = |row: &CsvRow| {
        let go_on = seen <= MOST_CELLS;
        seen += row.cells.len();
        go_on
    };
    reader.into_records().map_while(|record| row(bytes, &record.ok()?)).take_while(few).collect()
}

fn row(bytes: &[u8], record: &StringRecord) -> Option<CsvRow> {
    let from = record.position()?;
    // The reader counts empty lines to the row below them.
    let above = bytes.get(usize::try_from(from.byte()).ok()?..)?;
    let above = above.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let line = from.line() + above.filter(|byte| **byte == b'\n').count() as u64;
    Some(CsvRow { line, cells: record.iter().map(str::to_owned).collect() })
}

/// A number as people write it: `1,234.5`, with blanks around it, or nothing.
pub fn number(cell: &str) -> Option<f64> {
    let plain: String = cell.trim().chars().filter(|c| *c != ',').collect();
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `Request Latency (ms)` as its name and its unit.
pub fn name_and_unit(heading: &str) -> (&str, Option<&str>) {
    let heading = heading.trim();
    match heading.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((name, unit)) => (name.trim(), Some(unit.trim())),
        None => (heading, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        rows(text.as_bytes()).into_iter().map(|row| row.cells).collect()
    }

    #[test]
    fn quotes_and_line_endings() {
        let text = "\u{feff}a,\"b, \"\"c\"\"\"\r\n\"1\n2\",3";
        assert_eq!(cells(text), [["a", "b, \"c\""], ["1\n2", "3"]]);
        let rows = rows(b"x\n\"1\n2\"\ny\n");
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 2, 4]);
        let rows = super::rows(b"\r\nx\r\n\r\n\"1\r\n2\"\r\n\n\ny,");
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4, 8]);
        assert_eq!(rows[2].cells, ["y", ""]);
    }

    #[test]
    fn numbers_with_thousands() {
        assert_eq!(number(" 1,234.5 "), Some(1234.5));
        assert_eq!(number("-"), None);
        assert_eq!(number("inf"), None);
    }

    #[test]
    fn units_stand_in_parentheses() {
        assert_eq!(name_and_unit("FTL(ave)(s)"), ("FTL(ave)", Some("s")));
        assert_eq!(name_and_unit("Request Count"), ("Request Count", None));
    }
}
