//! Tables by RFC 4180, with an empty field for an absent value.

use super::column::{Cell, Heading, Rows};
use dyno_words::escape::escape;
use std::io::{self, Write};

/// A field as it is written: quoted where necessary, and never the start of a formula.
fn written(cell: &Option<Cell>) -> String {
    let text = match cell {
        None => return String::new(),
        Some(Cell::Whole(value)) => return value.to_string(),
        Some(Cell::Number(value)) => return value.to_string(),
        Some(Cell::Truth(value)) => return value.to_string(),
        Some(Cell::Own(word)) => return word.clone(),
        Some(Cell::Text(text)) => escape(text, usize::MAX),
    };
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    let quoted = text.contains(['"', ',', '\n', '\r']) || text.trim() != text;
    if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn line(cells: &[Option<Cell>]) -> String {
    cells.iter().map(written).collect::<Vec<_>>().join(",") + "\r\n"
}

/// Rows below their heading.
pub(super) struct Csv<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Csv<'a> {
    /// Writes the heading.
    pub(super) fn open(out: &'a mut dyn Write, headings: Vec<Heading>) -> io::Result<Self> {
        let names: Vec<Option<Cell>> =
            headings.into_iter().map(|(name, _)| Some(Cell::Own(name))).collect();
        out.write_all(line(&names).as_bytes())?;
        Ok(Self { out })
    }
}

impl Rows for Csv<'_> {
    fn row(&mut self, cells: Vec<Option<Cell>>) -> io::Result<()> {
        self.out.write_all(line(&cells).as_bytes())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> String {
        line(&[Some(Cell::Text(text.to_owned()))])
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(text("plain"), "plain\r\n");
        assert_eq!(text("a,b \"c\""), "\"a,b \"\"c\"\"\"\r\n");
        assert_eq!(text("two\nlines"), "two\\nlines\r\n");
        let fields =
            [Some(Cell::Number(-1.5)), None, Some(Cell::Whole(0)), Some(Cell::Truth(true))];
        assert_eq!(line(&fields), "-1.5,,0,true\r\n");
    }

    #[test]
    fn no_text_begins_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\u{3000}=1"] {
            let written = text(formula);
            assert!(written.trim_start_matches('"').starts_with('\''), "{written}");
        }
    }

    /// A reader of RFC 4180 that shares nothing with the writer.
    fn read(line: &str) -> Vec<String> {
        let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(std::mem::take(&mut field)),
                c => field.push(c),
            }
        }
        fields.push(field);
        fields
    }

    proptest! {
        #[test]
        fn any_text_comes_back_in_its_field(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let fields: Vec<Option<Cell>> =
                texts.iter().cloned().map(|text| Some(Cell::Text(text))).collect();
            let written = line(&fields);
            let whole = written.strip_suffix("\r\n").unwrap();
            prop_assert!(!whole.contains(['\r', '\n']));
            let back = read(whole);
            prop_assert_eq!(back.len(), texts.len());
            for (back, text) in back.iter().zip(&texts) {
                prop_assert!(!back.starts_with(['=', '+', '-', '@']));
                let shown = escape(text, usize::MAX);
                let unmarked = back.strip_prefix('\'').unwrap_or(back);
                prop_assert!(*back == shown || unmarked == shown);
            }
        }
    }
}
