//! Tables as Parquet files: row groups are written as they fill, so that memory does not grow
//! with the number of rows.

use super::column::{Cell, Kind, Rows};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// A row group is written when it has this many rows, or this many bytes of text.
const GROUP_ROWS: usize = 20_000;
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// The present values of a column.
enum Values {
    Whole(Vec<i64>),
    Number(Vec<f64>),
    Truth(Vec<bool>),
    Text(Vec<ByteArray>),
}

/// A column of the row group that is being filled.
struct Buffer {
    values: Values,
    /// 1 for a present value, 0 for an absent one.
    levels: Vec<i16>,
}

impl Buffer {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Whole => Values::Whole(vec![]),
            Kind::Number => Values::Number(vec![]),
            Kind::Truth => Values::Truth(vec![]),
            Kind::Text => Values::Text(vec![]),
        };
        Self { values, levels: vec![] }
    }

    fn push(&mut self, cell: Option<Cell>) {
        let there = match (&mut self.values, cell) {
            (Values::Whole(values), Some(Cell::Whole(value))) => {
                let value = i64::try_from(value).ok();
                values.extend(value);
                value.is_some()
            }
            (Values::Number(values), Some(Cell::Number(value))) => {
                values.push(value);
                true
            }
            (Values::Truth(values), Some(Cell::Truth(value))) => {
                values.push(value);
                true
            }
            (Values::Text(values), Some(Cell::Own(text) | Cell::Text(text))) => {
                values.push(text.into_bytes().into());
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(there));
    }

    fn clear(&mut self) {
        self.levels.clear();
        match &mut self.values {
            Values::Whole(values) => values.clear(),
            Values::Number(values) => values.clear(),
            Values::Truth(values) => values.clear(),
            Values::Text(values) => values.clear(),
        }
    }

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = Some(self.levels.as_slice());
        match (writer, &self.values) {
            (ColumnWriter::Int64ColumnWriter(writer), Values::Whole(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            (ColumnWriter::BoolColumnWriter(writer), Values::Truth(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            _ => return Err(ParquetError::General("a column is of another type".into())),
        }
        Ok(())
    }
}

/// A file that is being written.
pub(super) struct Parquet<'a> {
    out: &'a mut dyn Write,
    /// Writes into memory, from where each row group is passed on.
    writer: SerializedFileWriter<Vec<u8>>,
    buffers: Vec<Buffer>,
    rows: usize,
    bytes: usize,
}

impl<'a> Parquet<'a> {
    /// Starts a file with these columns.
    pub(super) fn open(out: &'a mut dyn Write, headings: Vec<(String, Kind)>) -> io::Result<Self> {
        let fields: Result<Vec<Arc<Type>>> = headings.iter().map(field).collect();
        let schema = fields.and_then(|fields| {
            Type::group_type_builder("dyno").with_fields(fields).build().map(Arc::new)
        });
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("dyno {}", env!("CARGO_PKG_VERSION")))
            .build();
        let writer = SerializedFileWriter::new(vec![], schema?, Arc::new(properties))?;
        let buffers = headings.into_iter().map(|(_, kind)| Buffer::new(kind)).collect();
        Ok(Self { out, writer, buffers, rows: 0, bytes: 0 })
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows > 0 {
            let mut group = self.writer.next_row_group()?;
            for buffer in &mut self.buffers {
                let column = group.next_column()?;
                let mut column =
                    column.ok_or_else(|| ParquetError::General("a column too many".into()))?;
                buffer.write(column.untyped())?;
                column.close()?;
                buffer.clear();
            }
            group.close()?;
            (self.rows, self.bytes) = (0, 0);
        }
        self.hand_on()
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.writer.flush()?;
        self.out.write_all(&std::mem::take(self.writer.inner_mut()))
    }
}

impl Rows for Parquet<'_> {
    fn row(&mut self, cells: Vec<Option<Cell>>) -> io::Result<()> {
        for (buffer, cell) in self.buffers.iter_mut().zip(cells) {
            if let Some(Cell::Own(text) | Cell::Text(text)) = &cell {
                self.bytes += text.len();
            }
            buffer.push(cell);
        }
        self.rows += 1;
        match self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()?;
        self.writer.finish()?;
        self.hand_on()
    }
}

/// A column that may be null.
fn field((name, kind): &(String, Kind)) -> Result<Arc<Type>> {
    let (physical, logical) = match kind {
        Kind::Whole => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Truth => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let builder = Type::primitive_type_builder(name, physical);
    let builder = builder.with_logical_type(logical).with_repetition(Repetition::OPTIONAL);
    builder.build().map(Arc::new)
}
