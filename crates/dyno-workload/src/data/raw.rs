//! The raw records of a file, for kinds of data that are not prompts.

use std::path::Path;

use dyno_model::{Message, message};
use serde_json::Value;

use super::at::At;
use super::dataset::{DataPlace, layout};
use super::error::DataError;
use super::layout::DataLayout;
use super::record::Records;
use super::source::Compression;
use super::spec::{DataKind, DataSpec};
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

impl Iterator for Raw {
    type Item = Result<(At, Value), DataError>;

    /// The next record and where it is. After a skippable error, the next call continues
    /// behind the bad record.
    fn next(&mut self) -> Option<Self::Item> {
        self.records.next().map(|read| read.map(|record| (record.at, record.value)))
    }
}
