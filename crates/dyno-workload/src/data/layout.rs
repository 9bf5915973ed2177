//! The layout of a file, recognised from its first bytes.

use std::fmt;

use serde_json::Value;

use super::conversation::is_message;
use super::csv;
use super::fields::{MESSAGES, PROMPTS, TRACES};
use super::lines::{LineOf, LineRecords, WholeText};
use super::record::Records;
use super::source::Source;
use super::spec::Kind;
use super::split::{Values, Within};

/// How many bytes of a file are used to recognise its layout.
pub(super) const HEAD: usize = 1024 * 1024;

/// How records follow each other in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One prompt per line.
    TextLines,
    /// One prompt.
    WholeText,
    /// One JSON value per line.
    JsonLines,
    /// The elements of one JSON array.
    JsonArray,
    /// JSON values one after another, over any number of lines.
    JsonValues,
    /// A table with a header.
    Csv { delimiter: u8 },
    /// A Parquet table.
    Parquet,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TextLines => "one prompt per line",
            Self::WholeText => "one prompt",
            Self::JsonLines => "JSON lines",
            Self::JsonArray => "a JSON array",
            Self::JsonValues => "JSON values",
            Self::Csv { delimiter: b';' } => "a table separated by semicolons",
            Self::Csv { delimiter: b'\t' } => "a table separated by tabs",
            Self::Csv { .. } => "a table separated by commas",
            Self::Parquet => "a Parquet table",
        })
    }
}

impl Layout {
    /// The records of a stream that is laid out like this.
    pub(super) fn records(self, source: Source) -> Box<dyn Records> {
        match self {
            Self::TextLines => Box::new(LineRecords::new(source, LineOf::Text)),
            Self::JsonLines => Box::new(LineRecords::new(source, LineOf::Json)),
            Self::JsonArray => Box::new(Values::new(source, Within::Array)),
            Self::JsonValues => Box::new(Values::new(source, Within::File)),
            Self::Csv { delimiter } => Box::new(csv::Rows::new(source, delimiter)),
            Self::WholeText | Self::Parquet => Box::new(WholeText::new(source)),
        }
    }
}

/// The first bytes of a file.
pub(super) struct Head<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether they are the whole file.
    pub(super) whole: bool,
    /// The file's name.
    pub(super) name: &'a str,
}

impl<'a> Head<'a> {
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
    pub(super) fn layout(&self, kind: Option<Kind>) -> Layout {
        match kind {
            Some(Kind::Csv) => Layout::Csv { delimiter: self.delimiter() },
            Some(Kind::Parquet) => Layout::Parquet,
            Some(Kind::Lines) => self.lines_layout(),
            Some(Kind::Long) => match self.first() {
                Some(b'{' | b'[') if self.json() != Layout::JsonValues => self.json(),
                _ => Layout::WholeText,
            },
            Some(Kind::Session) if self.is_table_of_conversations() => {
                Layout::Csv { delimiter: self.delimiter() }
            }
            Some(_) => self.json(),
            None if matches!(self.first(), Some(b'{')) => self.json(),
            None if matches!(self.first(), Some(b'[')) && self.begins_with_json() => self.json(),
            None if self.is_csv() => Layout::Csv { delimiter: self.delimiter() },
            None => self.lines_layout(),
        }
    }

    fn lines_layout(&self) -> Layout {
        if self.lines_are_json() { Layout::JsonLines } else { Layout::TextLines }
    }

    /// `[` begins a JSON array, and not a prompt such as `[INST] …`.
    fn begins_with_json(&self) -> bool {
        let mut bytes = self.bytes.trim_ascii_start().iter().skip(1);
        let next = bytes.find(|byte| !byte.is_ascii_whitespace());
        matches!(next, None | Some(b'{' | b'[' | b'"' | b']'))
    }

    fn json(&self) -> Layout {
        match self.first() {
            Some(b'[') => match self.first_element() {
                Some(Value::Object(object)) if is_message(&object) => self.json_lines_or_values(),
                _ if self.first_line_is_array() && self.lines().nth(1).is_some() => {
                    Layout::JsonLines
                }
                _ => Layout::JsonArray,
            },
            Some(b'{') => self.json_lines_or_values(),
            _ => Layout::JsonLines,
        }
    }

    /// Whether the first line is an array all by itself, rather than the beginning of one.
    fn first_line_is_array(&self) -> bool {
        self.lines().next().is_some_and(|line| {
            line.first() == Some(&b'[')
                && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
        })
    }

    fn json_lines_or_values(&self) -> Layout {
        if !self.lines_are_json() && self.first_value_spans_lines() {
            return Layout::JsonValues;
        }
        Layout::JsonLines
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

    fn header(&self) -> &'a [u8] {
        let bytes = self.bytes.trim_ascii_start();
        &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())]
    }

    fn delimiter(&self) -> u8 {
        csv::delimiter(self.header())
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
            && columns.iter().any(|column| {
                let mut names = PROMPTS.iter().chain(&MESSAGES).chain(&TRACES);
                names.any(|name| column.eq_ignore_ascii_case(name))
            })
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
