//! Tables of typed columns, for CSV and Parquet.

use std::io;

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Whole(u64),
    Number(f64),
    Truth(bool),
    /// Text from Dyno.
    Own(String),
    /// Untrusted text.
    Text(String),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Number,
    Truth,
    Text,
}

/// A destination for rows.
pub(super) trait Rows {
    /// The next row, with a cell or nothing for each column.
    fn row(&mut self, cells: Vec<Option<Cell>>) -> io::Result<()>;

    /// Writes the remaining rows.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

type Of<R, T> = Box<dyn Fn(&R) -> Option<T>>;

enum Value<R> {
    Whole(Of<R, u64>),
    Number(Of<R, f64>),
    Truth(Of<R, bool>),
    Own(Of<R, String>),
    Text(Of<R, String>),
}

/// A column of a table whose rows are made of `R`.
pub(crate) struct Column<R> {
    name: String,
    value: Value<R>,
}

impl<R> Column<R> {
    fn new(name: impl Into<String>, value: Value<R>) -> Self {
        Self { name: name.into(), value }
    }

    /// Whole numbers.
    pub(crate) fn whole<T: Into<u64>>(
        name: impl Into<String>,
        of: impl Fn(&R) -> Option<T> + 'static,
    ) -> Self {
        Self::new(name, Value::Whole(Box::new(move |row| of(row).map(Into::into))))
    }

    /// Numbers of any size.
    pub(crate) fn number(
        name: impl Into<String>,
        of: impl Fn(&R) -> Option<f64> + 'static,
    ) -> Self {
        Self::new(name, Value::Number(Box::new(of)))
    }

    /// Yes or no.
    pub(crate) fn truth(name: &str, of: impl Fn(&R) -> Option<bool> + 'static) -> Self {
        Self::new(name, Value::Truth(Box::new(of)))
    }

    /// Text from Dyno.
    pub(crate) fn own<T: ToString>(name: &str, of: impl Fn(&R) -> Option<T> + 'static) -> Self {
        Self::new(name, Value::Own(Box::new(move |row| of(row).map(|word| word.to_string()))))
    }

    /// Untrusted text.
    pub(crate) fn text(name: &str, of: impl Fn(&R) -> Option<String> + 'static) -> Self {
        Self::new(name, Value::Text(Box::new(of)))
    }

    /// Its name and type.
    pub(super) fn heading(&self) -> (String, Kind) {
        let kind = match self.value {
            Value::Whole(_) => Kind::Whole,
            Value::Number(_) => Kind::Number,
            Value::Truth(_) => Kind::Truth,
            Value::Own(_) | Value::Text(_) => Kind::Text,
        };
        (self.name.clone(), kind)
    }

    /// Its cell in a row; nothing for an absent value.
    pub(super) fn cell(&self, row: &R) -> Option<Cell> {
        match &self.value {
            Value::Whole(of) => of(row).map(Cell::Whole),
            Value::Number(of) => of(row).map(Cell::Number),
            Value::Truth(of) => of(row).map(Cell::Truth),
            Value::Own(of) => of(row).map(Cell::Own),
            Value::Text(of) => of(row).map(Cell::Text),
        }
    }
}
