//! Tables of Markdown and of terminals, as rows of cells.

use super::lines::TextLine;
use dyno_model::Diagnostic;
use dyno_words::{Problem, values};

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its rows; the first may be a header.
    pub rows: Vec<Row>,
    /// How many rows there are above the first rule within it; 0 where there is none.
    pub header: usize,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its line, from 1.
    pub line: u64,
    /// Its cells, without space around them.
    pub cells: Vec<String>,
}

impl Row {
    /// Whether it has as many cells as there are columns; if not, that is reported.
    pub fn has_cells(&self, count: usize, findings: &mut Vec<Diagnostic>) -> Option<()> {
        if self.cells.len() == count {
            return Some(());
        }
        let values = values![self.cells.len(), count, self.shown()];
        findings.push(Problem::RowCells.with(values).at(self.line));
        None
    }

    /// The row as it is, for messages.
    pub fn shown(&self) -> String {
        let text = self.cells.join(" | ");
        let mut shown: String = text.chars().take(120).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        shown
    }

    /// The first cell.
    pub fn name(&self) -> &str {
        self.cells.first().map(String::as_str).unwrap_or_default()
    }
}

impl Table {
    /// The name of each column: the cells of the header's rows, which a narrow terminal may have wrapped.
    pub fn heads(&self) -> Vec<String> {
        let header = &self.rows[..self.header.clamp(1, self.rows.len())];
        let columns = header.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        let cell = |column: usize| header.iter().filter_map(move |row| row.cells.get(column));
        let words = |column| cell(column).map(String::as_str).filter(|cell| !cell.is_empty());
        (0..columns).map(|column| words(column).collect::<Vec<_>>().join(" ")).collect()
    }

    /// The rows below the header. A row with nothing but a name continues the name of the one above.
    pub fn unwrapped(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for row in self.rows.iter().skip(self.header.max(1)) {
            let bare = row.cells.iter().skip(1).all(String::is_empty);
            match rows.last_mut().and_then(|above| above.cells.first_mut()) {
                Some(above) if bare && !row.name().is_empty() => {
                    above.push(' ');
                    above.push_str(row.name());
                }
                _ => rows.push(row.clone()),
            }
        }
        rows
    }
}

/// The table that starts with the first of these lines, and how many lines it takes.
pub fn table(lines: &[TextLine]) -> Option<(Table, usize)> {
    let first = lines.first()?;
    let open = !first.text.starts_with('|');
    if open && !begins_open(lines) {
        return None;
    }
    let mut rows = Vec::new();
    let mut header = 0;
    let mut taken = 0;
    for line in lines {
        let text = line.text.as_str();
        if line.kind != first.kind || text.is_empty() {
            break;
        }
        if is_rule(text) {
            header = if header == 0 { rows.len() } else { header };
        } else if text.starts_with('|') || (open && text.contains('|')) {
            rows.push(Row { line: line.number, cells: cells(text) });
        } else if header == 0 || !goes_on(&lines[taken..], rows.last()) {
            break;
        }
        taken += 1;
    }
    (!rows.is_empty()).then_some((Table { rows, header }, taken))
}

/// Lines of a log that may stand between two rows of a table.
const BETWEEN: usize = 40;

/// Whether a row of the same table follows the lines of a log that begin here.
fn goes_on(lines: &[TextLine], above: Option<&Row>) -> bool {
    let next = lines.iter().take(BETWEEN + 1).position(|line| line.text.starts_with('|'));
    let Some(next) = next else { return false };
    let logged = |line: &TextLine| line.text.contains(": ") && !line.text.starts_with('#');
    let same =
        |row: &TextLine| above.is_some_and(|above| above.cells.len() == cells(&row.text).len());
    // A table with its own header is another one.
    let begins = lines.get(next + 1).is_some_and(|line| is_rule(&line.text));
    lines[..next].iter().all(logged) && same(&lines[next]) && !is_rule(&lines[next].text) && !begins
}

/// A table whose rows have no line at their ends, or a grid that starts with its frame.
fn begins_open(lines: &[TextLine]) -> bool {
    let (Some(first), Some(second)) = (lines.first(), lines.get(1)) else { return false };
    if is_rule(&first.text) {
        return second.text.starts_with('|');
    }
    first.text.contains('|') && second.text.contains('|') && is_rule(&second.text)
}

/// A line of a frame.
fn is_rule(text: &str) -> bool {
    let drawn = |c: char| matches!(c, '-' | '=' | '+' | '|' | ':' | ' ' | '\u{2500}'..='\u{257f}');
    text.chars().filter(|c| matches!(c, '-' | '=' | '\u{2500}'..='\u{257f}')).count() >= 3
        && text.chars().all(drawn)
        || is_short_rule(text)
}

/// `|-|-|`, as it may be written by hand.
fn is_short_rule(text: &str) -> bool {
    text.starts_with('|')
        && text.contains('-')
        && text.chars().all(|c| matches!(c, '-' | '|' | ':' | ' '))
        && cells(text).iter().all(|cell| cell.contains('-') && !cell.contains(' '))
}

/// The cells of a row; `\|` does not end one.
pub fn cells(text: &str) -> Vec<String> {
    let text = text.strip_prefix('|').unwrap_or(text);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        match cells.last_mut() {
            Some(_) if c == '|' && !escaped => cells.push(String::new()),
            Some(last) => last.push(c),
            None => {}
        }
        escaped = c == '\\' && !escaped;
    }
    if text.ends_with('|') && !text.ends_with("\\|") {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn of(text: &str) -> Option<(Vec<Vec<String>>, usize, usize)> {
        let lines = lines(text.as_bytes()).unwrap();
        let (table, taken) = table(&lines)?;
        Some((table.rows.into_iter().map(|row| row.cells).collect(), table.header, taken))
    }

    #[test]
    fn tables_of_any_frame() {
        let expected = vec![vec!["a".to_owned(), "b".into()], vec!["1".into(), "".into()]];
        assert_eq!(of("| a | b |\n|:-:|---|\n|1||\n\nc"), Some((expected.clone(), 1, 3)));
        let open = vec![vec!["a".to_owned(), "b".into()], vec!["1".into(), "2".into()]];
        assert_eq!(of("a | b\n--- | ---\n1 | 2"), Some((open, 1, 3)));
        assert_eq!(of("+---+---+\n| a | b |\n+===+===+\n| 1 | |\n+---+---+"), {
            Some((expected.clone(), 1, 5))
        });
        assert_eq!(of("| a | b |\n| 1 |  |"), Some((expected, 0, 2)));
        assert_eq!(of("100%|###| 5/5\nx"), None);
        assert_eq!(of("no table"), None);
    }

    #[test]
    fn wrapped_names_are_one() {
        let lines = lines(
            "┏━━━┳━━━┓\n┃ a ┃ b ┃\n┃ c ┃   ┃\n┡━━━╇━━━┩\n│ d │ 1 │\n│ e │   │\n└───┴───┘"
                .as_bytes(),
        );
        let (table, taken) = table(&lines.unwrap()).unwrap();
        assert_eq!((table.heads(), taken), (vec!["a c".to_owned(), "b".into()], 7));
        let rows: Vec<Vec<String>> = table.unwrapped().into_iter().map(|row| row.cells).collect();
        assert_eq!(rows, [["d e", "1"]]);
    }

    #[test]
    fn an_escaped_line_ends_no_cell() {
        assert_eq!(of("|a\\|b|c|").map(|(rows, _, _)| rows[0].len()), Some(2));
    }
}
