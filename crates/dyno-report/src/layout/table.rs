//! The two formats of tables for programs.

use super::column::{Column, Kind, Rows};
use super::csv::Csv;
use std::io::{self, Write};

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutTable {
    /// Text, by RFC 4180.
    Csv,
    /// Typed columns, compressed, with nulls.
    Parquet,
}

impl LayoutTable {
    /// A whole table: one row for each of `rows`.
    pub(crate) fn write<R>(
        self,
        out: &mut dyn Write,
        columns: &[Column<R>],
        rows: impl Iterator<Item = R>,
    ) -> io::Result<()> {
        let mut table = self.open(out, columns.iter().map(Column::heading).collect())?;
        for row in rows {
            table.row(columns.iter().map(|column| column.cell(&row)).collect())?;
        }
        table.finish()
    }

    /// Starts a table with these columns.
    pub(super) fn open<'a>(
        self,
        out: &'a mut dyn Write,
        headings: Vec<(String, Kind)>,
    ) -> io::Result<Box<dyn Rows + 'a>> {
        match self {
            Self::Csv => Ok(Box::new(Csv::open(out, headings)?)),
            #[cfg(feature = "parquet")]
            Self::Parquet => Ok(Box::new(super::parquet::Parquet::open(out, headings)?)),
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => Err(io::Error::other("this build has no Parquet")),
        }
    }
}
