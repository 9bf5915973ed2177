//! The raw records of a file, for kinds of data that are not prompts.

use std::path::Path;

use dyno_model::{Message, message};
use serde_json::Value;

use super::at::At;
use super::csv;
use super::dataset::{DataPlace, layout};
use super::error::DataError;
use super::header;
use super::layout::{DataLayout, HEAD};
use super::lines::{LineOf, LineRecords};
use super::record::Records;
use super::source::{Compression, Source};
use super::spec::{DataKind, DataSpec};
use super::split::{Values, Within};
use super::stdin;

/// The records of a file, one at a time, whatever its layout and its compression.
pub(crate) struct Raw {
    name: Message,
    compression: Option<Compression>,
    layout: DataLayout,
    records: Box<dyn Records>,
}

impl Raw {
    /// A file. With `has_fields` lines that are not JSON are a table, whatever its columns are called.
    pub(crate) fn open(path: &Path, has_fields: bool) -> Result<Self, DataError> {
        Self::at(&stdin::place(path)?, has_fields)
    }

    /// A file that is in memory already.
    pub(crate) fn from_bytes(
        name: &str,
        bytes: &[u8],
        has_fields: bool,
    ) -> Result<Self, DataError> {
        Self::at(&DataPlace::Memory(Message::quoted(name), bytes.into()), has_fields)
    }

    fn at(place: &DataPlace, has_fields: bool) -> Result<Self, DataError> {
        let source = place.source()?;
        let compression = source.origin.compression;
        let layout = match layout(place, &DataSpec::default(), source)? {
            DataLayout::TextLines | DataLayout::WholeText if has_fields => {
                let table = DataSpec { kind: Some(DataKind::Csv), ..DataSpec::default() };
                layout(place, &table, place.source()?)?
            }
            layout => layout,
        };
        Ok(Self { name: place.name(), compression, layout, records: place.records(layout, None)? })
    }

    /// A file whose records are whole JSON values or the rows of a table: an object is never taken for a
    /// list of what it contains.
    pub(crate) fn whole(path: &Path) -> Result<Self, DataError> {
        Self::whole_at(&stdin::place(path)?)
    }

    /// The same of a file that is in memory already.
    pub(crate) fn whole_from_bytes(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        Self::whole_at(&DataPlace::Memory(Message::quoted(name), bytes.into()))
    }

    pub(super) fn whole_at(place: &DataPlace) -> Result<Self, DataError> {
        let source = place.source()?;
        let compression = source.origin.compression;
        if source.parquet {
            let columns = DataLayout::Parquet;
            let records = place.records(columns, None)?;
            return Ok(Self { name: place.name(), compression, layout: columns, records });
        }
        let (bytes, whole) = source.head(HEAD)?;
        let layout = whole_values(&bytes, whole);
        let source: Source = place.source()?;
        let records: Box<dyn Records> = match layout {
            DataLayout::JsonArray => Box::new(Values::new(source, Within::Array)),
            DataLayout::JsonValues => Box::new(Values::new(source, Within::File)),
            DataLayout::Csv(table) => Box::new(csv::Rows::new(source, table)),
            _ => Box::new(LineRecords::new(source, LineOf::Json, 0)),
        };
        Ok(Self { name: place.name(), compression, layout, records })
    }

    /// The file's name in messages.
    pub(crate) fn name(&self) -> &Message {
        &self.name
    }

    /// How the file is compressed.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// How its records follow each other, in words.
    pub(crate) fn layout(&self) -> Message {
        let layout = self.layout.said();
        match self.layout.skipped() {
            Some(skipped) => message!("{layout} ({skipped})", "{layout}（{skipped}）"),
            None => layout,
        }
    }
}

/// The layout of values that are taken whole, from the first bytes of a file.
fn whole_values(head: &[u8], whole: bool) -> DataLayout {
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'[') => DataLayout::JsonArray,
        Some(b'{') => {
            // Lines of an object over several lines are indented. A line longer than the head may be
            // either: values read both.
            let is_value = |line: &[u8]| {
                line.first() == Some(&b'{')
                    && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
            };
            let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').take(8).collect();
            if !whole && lines.len() < 8 {
                lines.pop();
            }
            match lines.into_iter().any(is_value) {
                true => DataLayout::JsonLines { header: 0 },
                false => DataLayout::JsonValues,
            }
        }
        _ => DataLayout::Csv(header::of_table(head, "")),
    }
}

impl Iterator for Raw {
    type Item = Result<(At, Value), DataError>;

    /// The next record and where it is. After a skippable error, the next call continues
    /// behind the bad record.
    fn next(&mut self) -> Option<Self::Item> {
        self.records.next().map(|read| read.map(|record| (record.at, record.value)))
    }
}
