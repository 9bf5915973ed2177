//! Tables of comma-separated values: quotes, doubled quotes, any line ending, a mark before UTF-8.

use super::json::without_mark;

/// The most cells that are looked at.
const MOST_CELLS: usize = 4_000_000;

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Where it begins, from 1.
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
}

/// The lines of a table; none if it is no text.
pub(super) fn rows(bytes: &[u8]) -> Vec<Row> {
    let Ok(text) = std::str::from_utf8(without_mark(bytes)) else { return Vec::new() };
    let (mut rows, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut line, mut began, mut seen) = (false, 1, 1, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\n' {
            line += 1;
        }
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' if quoted || cell.trim().is_empty() => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                cells.push(std::mem::take(&mut cell));
                seen += cells.len();
                rows.push(Row { line: began, cells: std::mem::take(&mut cells) });
                began = line;
                if seen > MOST_CELLS {
                    return rows;
                }
            }
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    if !cell.is_empty() || !cells.is_empty() {
        cells.push(cell);
        rows.push(Row { line: began, cells });
    }
    rows
}

/// A number as people write it: `1,234.5`, with blanks around it, or nothing.
pub(super) fn number(cell: &str) -> Option<f64> {
    let plain: String = cell.trim().chars().filter(|c| *c != ',').collect();
    plain.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// `Request Latency (ms)` as its name and its unit.
pub(super) fn name_and_unit(heading: &str) -> (&str, Option<&str>) {
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
