//! Where in the data something is.

use std::fmt;
use std::sync::Arc;

use dyno_model::{Language, Localized, Message, message};

/// A place in a data file, as messages show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    file: Arc<Message>,
    spot: Spot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Line(u64),
    Element {
        line: u64,
        number: u64,
    },
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    Row(u64),
}

impl At {
    /// A line, counted from 1.
    pub(crate) fn line(file: &Arc<Message>, line: u64) -> Self {
        Self { file: file.clone(), spot: Spot::Line(line) }
    }

    /// An element of a JSON array, counted from 1, which begins on `line`.
    pub(super) fn element(file: &Arc<Message>, line: u64, number: u64) -> Self {
        Self { file: file.clone(), spot: Spot::Element { line, number } }
    }

    /// A row of a table without lines, counted from 1.
    #[cfg(feature = "parquet")]
    pub(super) fn row(file: &Arc<Message>, row: u64) -> Self {
        Self { file: file.clone(), spot: Spot::Row(row) }
    }

    /// The same place, `lines` further down.
    pub(super) fn below(&self, lines: u64) -> Self {
        let spot = match self.spot {
            Spot::Line(line) => Spot::Line(line + lines),
            Spot::Element { line, number } => Spot::Element { line: line + lines, number },
            Spot::Row(row) => Spot::Row(row),
        };
        Self { file: self.file.clone(), spot }
    }
}

impl Localized for At {
    fn fmt_in(&self, f: &mut fmt::Formatter<'_>, language: Language) -> fmt::Result {
        let file = &self.file;
        let said = match self.spot {
            Spot::Line(line) => message!("{file}:{line}", "{file}:{line}"),
            Spot::Element { line, number } => {
                message!("{file}:{line} (element {number})", "{file}:{line}（第 {number} 个元素）")
            }
            Spot::Row(row) => message!("{file}, row {row}", "{file} 第 {row} 行"),
        };
        said.fmt_in(f, language)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_in(f, Language::English)
    }
}
