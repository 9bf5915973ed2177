//! Lines of text: bounded, valid UTF-8 or an error, and the records made of them.

use std::io::{self, BufRead};

use dyno_model::message;
use serde_json::Value;

use super::at::At;
use super::error::DataError;
use super::record::{MAX_RECORD, Record, Records, json, too_long};
use super::source::{Origin, Source};

/// Lines, without their ends.
pub(super) struct Lines {
    reader: Box<dyn BufRead + Send>,
    origin: Origin,
    number: u64,
    line: Vec<u8>,
    ended: bool,
}

impl Lines {
    pub(super) fn new(source: Source) -> Self {
        let Source { reader, origin, .. } = source;
        Self { reader, origin, number: 0, line: Vec::new(), ended: false }
    }

    /// The next line and its number.
    pub(super) fn next(&mut self) -> Option<Result<(At, &str), DataError>> {
        if self.ended {
            return None;
        }
        self.line.clear();
        let mut long = false;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.origin.failed(error, self.number)));
                }
            };
            if chunk.is_empty() {
                self.ended = true;
                if self.line.is_empty() && !long {
                    return None;
                }
                break;
            }
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            long |= self.line.len() + part.len() > MAX_RECORD;
            if !long {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number += 1;
        let at = At::line(&self.origin.name, self.number);
        if long {
            self.line = Vec::new();
            return Some(Err(too_long(&at, message!("the line", "该行"))));
        }
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Some(match str::from_utf8(line) {
            Ok(line) => Ok((at, line)),
            Err(error) => Err(not_utf8(at, error.valid_up_to())),
        })
    }
}

/// The error for bytes that are not UTF-8.
pub(super) fn not_utf8(at: At, before: usize) -> DataError {
    let what = message!("invalid UTF-8 at byte {}", "第 {} 字节不是有效的 UTF-8", before + 1);
    DataError::Encoding { at, what, from: "GB18030" }
}

/// What each line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOf {
    /// A prompt.
    Text,
    /// A JSON value.
    Json,
}

/// One record per line. Blank lines are counted and skipped.
pub(super) struct LineRecords {
    lines: Lines,
    of: LineOf,
    /// Lines before the first record.
    header: u64,
    blank: u64,
}

impl LineRecords {
    pub(super) fn new(source: Source, of: LineOf, header: u64) -> Self {
        Self { lines: Lines::new(source), of, header, blank: 0 }
    }
}

impl Records for LineRecords {
    fn next(&mut self) -> Option<Result<Record, DataError>> {
        while self.lines.number < self.header {
            drop(self.lines.next()?);
        }
        loop {
            match self.lines.next()? {
                Ok((_, line)) if line.trim().is_empty() => self.blank += 1,
                Ok((at, line)) => {
                    return Some(match self.of {
                        LineOf::Text => Ok(Record { at, value: Value::String(line.into()) }),
                        LineOf::Json => json(at, line),
                    });
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn blank(&self) -> u64 {
        self.blank
    }
}

/// The whole text as one record.
pub(super) struct WholeText(Option<Lines>);

impl WholeText {
    pub(super) fn new(source: Source) -> Self {
        Self(Some(Lines::new(source)))
    }
}

impl Records for WholeText {
    fn next(&mut self) -> Option<Result<Record, DataError>> {
        let mut lines = self.0.take()?;
        let mut text = String::new();
        while let Some(line) = lines.next() {
            match line {
                Ok((at, line)) if text.len() + line.len() > MAX_RECORD => {
                    return Some(Err(too_long(&at, message!("the prompt", "提示词"))));
                }
                Ok((_, line)) => {
                    text.push_str(line);
                    text.push('\n');
                }
                Err(error) => return Some(Err(error)),
            }
        }
        let at = At::line(&lines.origin.name, 1);
        let prompt = text.trim_end();
        (!prompt.is_empty()).then(|| Ok(Record { at, value: Value::String(prompt.into()) }))
    }
}
