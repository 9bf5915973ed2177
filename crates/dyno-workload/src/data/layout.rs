//! The layout of a file, recognised from its first bytes.

use dyno_model::{Message, message};
use serde_json::{Map, Value};

use super::conversation::is_message;
use super::csv;
use super::fields::MESSAGES;
use super::header::{self, Table, is_usual};
use super::lines::{LineOf, LineRecords, WholeText};
use super::record::Records;
use super::source::Source;
use super::spec::{DataKind, DataSpec};
use super::split::{Values, Within};

/// How many bytes of a file are used to recognise its layout.
pub(super) const HEAD: usize = 1024 * 1024;

/// How records follow each other in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataLayout {
    /// One prompt per line.
    TextLines,
    /// One prompt.
    WholeText,
    /// One JSON value per line.
    JsonLines {
        /// Lines before the first.
        header: u8,
    },
    /// The elements of one JSON array.
    JsonArray,
    /// The elements of the first array of objects in one JSON object.
    JsonMember,
    /// JSON values one after another, over any number of lines.
    JsonValues,
    /// A table, mostly with a header.
    Csv(Table),
    /// A Parquet table.
    Parquet,
}

impl DataLayout {
    /// What it is called.
    pub(super) fn said(self) -> Message {
        match self {
            Self::TextLines => message!("one prompt per line", "每行一个提示词"),
            Self::WholeText => message!("one prompt", "单个提示词"),
            Self::JsonLines { .. } => message!("JSON lines", "JSON lines"),
            Self::JsonArray => message!("a JSON array", "JSON 数组"),
            Self::JsonMember => message!("an array in a JSON object", "JSON 对象中的数组"),
            Self::JsonValues => message!("JSON values", "多个 JSON 值"),
            Self::Csv(Table { named: false, .. }) => {
                message!("a table of questions without column names", "没有列名的题目表格")
            }
            Self::Csv(Table { delimiter: b';', .. }) => {
                message!("a table separated by semicolons", "分号分隔的表格")
            }
            Self::Csv(Table { delimiter: b'\t', .. }) => {
                message!("a table separated by tabs", "制表符分隔的表格")
            }
            Self::Csv(_) => message!("a table separated by commas", "逗号分隔的表格"),
            Self::Parquet => message!("a Parquet table", "Parquet 表格"),
        }
    }

    /// The lines before the first record, in words.
    pub(super) fn skipped(self) -> Option<Message> {
        let lines = match self {
            Self::JsonLines { header } => header,
            Self::Csv(table) => table.skip,
            _ => 0,
        };
        match lines {
            0 => None,
            1 => Some(message!("line 1 skipped, a header", "跳过第 1 行（文件头）")),
            lines => Some(message!(
                "lines 1 to {lines} skipped, a header",
                "跳过第 1 到 {lines} 行（文件头）"
            )),
        }
    }

    /// The records of a stream that is laid out like this.
    pub(super) fn records(self, source: Source) -> Box<dyn Records> {
        match self {
            Self::TextLines => Box::new(LineRecords::new(source, LineOf::Text, 0)),
            Self::JsonLines { header } => {
                Box::new(LineRecords::new(source, LineOf::Json, header.into()))
            }
            Self::JsonArray => Box::new(Values::new(source, Within::Array)),
            Self::JsonMember => Box::new(Values::new(source, Within::Member)),
            Self::JsonValues => Box::new(Values::new(source, Within::File)),
            Self::Csv(table) => Box::new(csv::Rows::new(source, table)),
            Self::WholeText | Self::Parquet => Box::new(WholeText::new(source)),
        }
    }
}

/// The first bytes of a file.
pub(super) struct DataHead<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether they are the whole file.
    pub(super) whole: bool,
    /// The file's name.
    pub(super) name: &'a str,
}

impl<'a> DataHead<'a> {
    /// The first byte that is not blank.
    pub(super) fn first(&self) -> Option<u8> {
        self.bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    /// Lines that are whole and not blank.
    fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        let whole = match (self.whole, memchr::memrchr(b'\n', self.bytes)) {
            (false, Some(end)) => &self.bytes[..end],
            (false, None) => &[],
            (true, _) => self.bytes,
        };
        whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
    }

    /// Whether lines are JSON objects or arrays: the first one, or most of the first few.
    fn lines_are_json(&self) -> bool {
        if self.lines().next().is_none() {
            // A line longer than the head: JSON if it begins so.
            return matches!(self.first(), Some(b'{' | b'['));
        }
        let is_json = |line: &[u8]| {
            matches!(line.first(), Some(b'{' | b'['))
                && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
        };
        let good = self.lines().take(20).filter(|line| is_json(line)).count();
        self.lines().next().is_some_and(is_json) || good * 2 > self.lines().take(20).count()
    }

    /// The layout of a file, whether its kind was named or not.
    pub(super) fn layout(&self, spec: &DataSpec) -> DataLayout {
        match self.shape(spec.kind) {
            DataLayout::JsonLines { .. } | DataLayout::JsonValues
                if self.is_one_object_of_records(spec) =>
            {
                DataLayout::JsonMember
            }
            DataLayout::JsonLines { .. } => {
                DataLayout::JsonLines { header: self.json_header(spec) }
            }
            layout => layout,
        }
    }

    fn shape(&self, kind: Option<DataKind>) -> DataLayout {
        match kind {
            Some(DataKind::Csv) => self.table(),
            Some(DataKind::Parquet) => DataLayout::Parquet,
            Some(DataKind::Lines) => self.lines_layout(),
            Some(DataKind::Long) => match self.first() {
                Some(b'{' | b'[') if self.json() != DataLayout::JsonValues => self.json(),
                _ => DataLayout::WholeText,
            },
            Some(DataKind::Session) if self.is_table_of_conversations() => self.table(),
            Some(_) => self.json(),
            None if matches!(self.first(), Some(b'{')) => self.json(),
            None if matches!(self.first(), Some(b'[')) && self.begins_with_json() => self.json(),
            None if self.is_csv() => self.table(),
            None => self.lines_layout(),
        }
    }

    fn lines_layout(&self) -> DataLayout {
        if self.lines_are_json() {
            DataLayout::JsonLines { header: 0 }
        } else {
            DataLayout::TextLines
        }
    }

    fn table(&self) -> DataLayout {
        DataLayout::Csv(self.table_head())
    }

    fn table_head(&self) -> Table {
        header::of_table(self.bytes, self.name)
    }

    /// Whether there is one object, which is not itself a record and holds a list of them.
    fn is_one_object_of_records(&self, spec: &DataSpec) -> bool {
        let is_record = |object: &Map<String, Value>| header::is_record(object, spec);
        self.first() == Some(b'{')
            && (self.lines().nth(1).is_none() || !self.lines_are_json())
            && first_within(self.bytes, is_record).is_some_and(|first| is_record(&first))
    }

    /// Lines before the first record of JSON lines.
    fn json_header(&self, spec: &DataSpec) -> u8 {
        let lines: Vec<&[u8]> = self.bytes.split(|byte| *byte == b'\n').take(20).collect();
        header::of_json_lines(&lines, spec)
    }

    /// `[` begins a JSON array, and not a prompt such as `[INST] …`.
    fn begins_with_json(&self) -> bool {
        let mut bytes = self.bytes.trim_ascii_start().iter().skip(1);
        let next = bytes.find(|byte| !byte.is_ascii_whitespace());
        matches!(next, None | Some(b'{' | b'[' | b'"' | b']'))
    }

    fn json(&self) -> DataLayout {
        match self.first() {
            Some(b'[') => match self.first_element() {
                Some(Value::Object(object)) if is_message(&object) => self.json_lines_or_values(),
                _ if self.first_line_is_array() && self.lines().nth(1).is_some() => {
                    DataLayout::JsonLines { header: 0 }
                }
                _ => DataLayout::JsonArray,
            },
            Some(b'{') => self.json_lines_or_values(),
            _ => DataLayout::JsonLines { header: 0 },
        }
    }

    /// Whether the first line is an array all by itself, rather than the beginning of one.
    fn first_line_is_array(&self) -> bool {
        self.lines().next().is_some_and(|line| {
            line.first() == Some(&b'[')
                && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
        })
    }

    fn json_lines_or_values(&self) -> DataLayout {
        if !self.lines_are_json() && self.first_value_spans_lines() {
            return DataLayout::JsonValues;
        }
        DataLayout::JsonLines { header: 0 }
    }

    fn first_value_spans_lines(&self) -> bool {
        let values = serde_json::Deserializer::from_slice(self.bytes);
        match values.into_iter::<serde::de::IgnoredAny>().next() {
            Some(Ok(_)) => true,
            Some(Err(error)) => error.is_eof() && !self.whole,
            None => false,
        }
    }

    fn first_element(&self) -> Option<Value> {
        let open = memchr::memchr(b'[', self.bytes)?;
        let mut values = serde_json::Deserializer::from_slice(&self.bytes[open + 1..]).into_iter();
        values.next()?.ok()
    }

    /// The row of names of a table.
    fn header(&self) -> &'a [u8] {
        let skip = usize::from(self.table_head().skip);
        let mut lines = self.bytes.split(|byte| *byte == b'\n').skip(skip);
        lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
    }

    /// Recognised by its file name, or by a header with a known field.
    fn is_csv(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        if name.ends_with(".csv") || name.ends_with(".tsv") {
            return true;
        }
        let columns = self.columns();
        columns.len() > 1
            && columns.iter().any(|column| is_usual(column))
            && header::is_plain(self.bytes, self.table_head())
    }

    /// A table by its name or its header, also one of a single column.
    fn is_table_of_conversations(&self) -> bool {
        let names =
            |column: &String| MESSAGES.iter().any(|name| column.trim().eq_ignore_ascii_case(name));
        !matches!(self.first(), Some(b'{' | b'['))
            && (self.is_csv() || self.columns().iter().any(names))
    }

    /// The names in the header of a table.
    pub(super) fn columns(&self) -> Vec<String> {
        csv::names(&String::from_utf8_lossy(self.header()), self.name)
    }
}

/// The first object of the first array of objects in the object that bytes begin with. An object that
/// is itself a record, by the test, has none.
fn first_within(
    bytes: &[u8],
    is_record: impl Fn(&Map<String, Value>) -> bool,
) -> Option<Map<String, Value>> {
    if let Some((Value::Object(whole), _)) = value(bytes)
        && is_record(&whole)
    {
        return None;
    }
    let mut rest = bytes.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let (_, after) = value(rest).filter(|(name, _)| name.is_string())?;
        let after = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        if let Some((Value::Object(first), _)) = after.strip_prefix(b"[").and_then(value) {
            return Some(first);
        }
        rest = value(after)?.1.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// The value that bytes begin with, and what is behind it.
fn value(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter();
    let value = values.next()?.ok()?;
    Some((value, bytes.get(values.byte_offset()..)?))
}
