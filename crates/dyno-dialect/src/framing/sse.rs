//! An incremental decoder of server-sent events, by the specification: any line end, comments,
//! fields with or without the space, several `data` lines, a byte-order mark, and events that
//! are split anywhere. An event within one read is returned without copying.

use super::{TooLarge, WireFrame};

/// Decoder state between reads.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    kind: Vec<u8>,
    /// The last line ended with CR: an LF that follows belongs to it.
    skip_lf: bool,
    started: bool,
    /// Lines that are no field, up to [`MAX_STRAY`] bytes.
    stray: Vec<u8>,
    /// `data` and `kind` belong to the event returned last and must be cleared before the next.
    stale: bool,
}

/// How much text outside of events is kept.
const MAX_STRAY: usize = 2048;
/// The names of fields.
const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
const BOM: &[u8] = b"\xef\xbb\xbf";
/// How most events begin.
const DATA: &[u8] = b"data:";

impl SseDecoder {
    /// A decoder that refuses lines, and events, of more than `limit` bytes, wherever they are cut.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            kind: Vec::new(),
            skip_lf: false,
            started: false,
            stray: Vec::new(),
            stale: false,
        }
    }

    /// The next event completed by `input`, which is advanced past it; absent once all of `input`
    /// has been consumed.
    pub fn next<'d, 'i: 'd>(
        &'d mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<WireFrame<'d>>, TooLarge> {
        if self.stale {
            self.data.clear();
            self.kind.clear();
            self.has_data = false;
            self.stale = false;
        }
        loop {
            if self.skip_lf && !input.is_empty() {
                self.skip_lf = false;
                if input[0] == b'\n' {
                    *input = &input[1..];
                }
            }
            if self.line.is_empty()
                && !self.has_data
                && self.kind.is_empty()
                && self.started
                && let Some((line, data, rest)) = whole_event(input)
            {
                self.check(line)?;
                *input = rest;
                return Ok(Some(WireFrame { kind: b"", data }));
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', input) else {
                self.hold(input)?;
                *input = &[];
                return Ok(None);
            };
            let (line, rest) = input.split_at(end);
            self.skip_lf = rest[0] == b'\r';
            *input = &rest[1..];
            if self.take_line(line)? {
                self.stale = true;
                return Ok(Some(WireFrame { kind: &self.kind, data: &self.data }));
            }
        }
    }

    /// Bytes of memory that it holds.
    pub fn holds(&self) -> usize {
        self.line.capacity() + self.data.capacity() + self.kind.capacity()
    }

    /// The data so far of an event that is not complete, without its missing line end. Empty if the
    /// stream is between two events.
    pub fn pending(&self) -> Vec<u8> {
        let mut data = if self.stale { Vec::new() } else { self.data.clone() };
        if let Some(value) = field_value(&self.line, b"data") {
            data.extend_from_slice(value);
        }
        data
    }

    /// Text outside of events: lines that are neither a field nor a comment, and an unfinished one.
    pub fn stray(&self) -> Vec<u8> {
        let mut text = self.stray.clone();
        let line = self.line.strip_prefix(BOM).unwrap_or(&self.line);
        let begins_one = FIELDS.iter().any(|name| name.starts_with(line));
        if !begins_one && !is_field(line) {
            add_line(&mut text, line);
        }
        text
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        self.check(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check(&self, size: usize) -> Result<(), TooLarge> {
        if size > self.limit { Err(TooLarge(self.limit)) } else { Ok(()) }
    }

    /// Processes a line that ends with `tail`; whether it completed an event.
    fn take_line(&mut self, tail: &[u8]) -> Result<bool, TooLarge> {
        if self.line.is_empty() && self.started {
            self.check(tail.len())?;
            return self.interpret(tail);
        }
        self.hold(tail)?;
        let line = std::mem::take(&mut self.line);
        let mut content = line.as_slice();
        if !self.started {
            self.started = true;
            content = content.strip_prefix(BOM).unwrap_or(content);
        }
        let complete = self.interpret(content)?;
        // Keep the buffer: streams with large events fill it again and again.
        self.line = line;
        self.line.clear();
        Ok(complete)
    }

    fn interpret(&mut self, line: &[u8]) -> Result<bool, TooLarge> {
        if line.is_empty() {
            let complete = self.has_data;
            if !complete {
                self.kind.clear();
            }
            return Ok(complete);
        }
        if let Some(value) = field_value(line, b"data") {
            self.check(self.data.len() + usize::from(self.has_data) + value.len())?;
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        } else if let Some(value) = field_value(line, b"event") {
            self.kind.clear();
            self.kind.extend_from_slice(value);
        } else if !is_field(line) {
            add_line(&mut self.stray, line);
        }
        Ok(false)
    }
}

/// Whether a line is a field that events have, or a comment.
fn is_field(line: &[u8]) -> bool {
    line.starts_with(b":") || FIELDS.iter().any(|name| field_value(line, name).is_some())
}

/// Adds a line to a text, as far as there is room.
fn add_line(text: &mut Vec<u8>, line: &[u8]) {
    if !text.is_empty() && text.len() < MAX_STRAY {
        text.push(b'\n');
    }
    let room = MAX_STRAY.saturating_sub(text.len()).min(line.len());
    text.extend_from_slice(&line[..room]);
}

/// The value of a line that has the given field name.
fn field_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    match rest {
        [] => Some(rest),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// The length of the line, the data and what follows, if `input` begins with one `data` line and the
/// empty line after it.
fn whole_event(input: &[u8]) -> Option<(usize, &[u8], &[u8])> {
    let line = input.strip_prefix(DATA)?;
    let end = memchr::memchr2(b'\n', b'\r', line)?;
    let (value, rest) = line.split_at(end);
    let rest = match rest {
        [b'\n', b'\n', rest @ ..] | [b'\r', b'\n', b'\r', b'\n', rest @ ..] => rest,
        _ => return None,
    };
    Some((DATA.len() + end, value.strip_prefix(b" ").unwrap_or(value), rest))
}
