//! Tables by RFC 4180, with an empty field for an absent value.

use super::column::{Cell, Kind, Rows};
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
    pub(super) fn open(out: &'a mut dyn Write, headings: Vec<(String, Kind)>) -> io::Result<Self> {
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
mod tests;
