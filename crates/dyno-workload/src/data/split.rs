//! Cuts a stream into its JSON values without loading it: the elements of one array, or values
//! one after another. Only strings, escapes and brackets are scanned here; each value is then parsed
//! separately, so that one bad element does not end the file.

use std::io::{self, BufRead};

use dyno_model::{Message, message};

use super::at::At;
use super::error::DataError;
use super::lines::not_utf8;
use super::record::{MAX_RECORD, Record, Records, json, too_long};
use super::source::{Origin, Source};

/// What contains the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// One array.
    Array,
    /// The first array of objects in one object. What the object holds besides is skipped.
    Member,
    /// The file itself, one after another.
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Open,
    FirstOrClose,
    Value,
    CommaOrClose,
    Nothing,
}

/// JSON values of a stream.
pub(super) struct Values {
    reader: Box<dyn BufRead + Send>,
    origin: Origin,
    within: Within,
    expect: Expect,
    line: u64,
    number: u64,
    piece: Vec<u8>,
    ended: bool,
}

/// The scanner of one value.
struct Outline {
    depth: u32,
    in_string: bool,
    escaped: bool,
    scalar: bool,
}

impl Outline {
    fn begin(byte: u8) -> Self {
        let depth = u32::from(matches!(byte, b'{' | b'['));
        let in_string = byte == b'"';
        Self { depth, in_string, escaped: false, scalar: depth == 0 && !in_string }
    }

    /// Takes a byte. `Some(true)`: it is the last of the piece; `Some(false)`: the piece ended
    /// before it.
    fn take(&mut self, byte: u8) -> Option<bool> {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_string = false;
                    return (self.depth == 0).then_some(true);
                }
                _ => {}
            }
            return None;
        }
        if self.scalar {
            let ends = matches!(byte, b',' | b']' | b'}' | b'[' | b'{' | b'"');
            return (ends || byte.is_ascii_whitespace()).then_some(false);
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                return (self.depth == 0).then_some(true);
            }
            _ => {}
        }
        None
    }
}

impl Values {
    pub(super) fn new(source: Source, within: Within) -> Self {
        let Source { reader, origin, .. } = source;
        let expect = if within == Within::File { Expect::Value } else { Expect::Open };
        let piece = Vec::new();
        Self { reader, origin, within, expect, line: 1, number: 0, piece, ended: false }
    }

    /// The next byte, without taking it.
    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.origin.failed(error, self.line - 1)),
            }
        }
    }

    fn broken(&self, what: Message, fix: Message) -> DataError {
        DataError::Broken { at: At::line(&self.origin.name, self.line), what, fix }
    }

    /// Moves on to the first byte of the next value. None at the end.
    fn seek(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            let Some(byte) = self.peek()? else {
                return match self.expect {
                    Expect::Value if self.within == Within::File => Ok(None),
                    Expect::Nothing => Ok(None),
                    _ => Err(self.broken(
                        message!(
                            "the array does not end after element {}",
                            "数组在第 {} 个元素之后没有结束",
                            self.number
                        ),
                        message!(
                            "the file seems to be cut off: fetch it again, or close it with ]",
                            "文件似乎不完整：请重新下载，或用 ] 结束"
                        ),
                    )),
                };
            };
            if byte.is_ascii_whitespace() {
                self.line += u64::from(byte == b'\n');
                self.reader.consume(1);
                continue;
            }
            self.expect = match (self.expect, byte) {
                (Expect::Open, b'[') => Expect::FirstOrClose,
                (Expect::FirstOrClose | Expect::CommaOrClose, b']') => Expect::Nothing,
                (Expect::CommaOrClose, b',') => Expect::Value,
                (Expect::FirstOrClose | Expect::Value, byte)
                    if !matches!(byte, b',' | b']' | b'}') =>
                {
                    return Ok(Some(byte));
                }
                (expect, byte) => {
                    let found = char::from(byte);
                    let what = match expect {
                        Expect::Open => message!(
                            "expected [ and found {found:?}",
                            "此处应为 [，实际为 {found:?}"
                        ),
                        Expect::CommaOrClose => message!(
                            "expected , or ] after element {} and found {found:?}",
                            "第 {} 个元素之后应为 , 或 ]，实际为 {found:?}",
                            self.number
                        ),
                        Expect::Nothing => message!(
                            "the array has ended, and {found:?} follows",
                            "数组已结束，其后还有 {found:?}"
                        ),
                        _ => message!(
                            "expected a value and found {found:?}",
                            "此处应有一个值，实际为 {found:?}"
                        ),
                    };
                    let fix = message!(
                        "correct it by hand, or write one object a line",
                        "请手动更正，或每行写一个对象"
                    );
                    return Err(self.broken(what, fix));
                }
            };
            self.reader.consume(1);
            if self.within == Within::Member && self.expect == Expect::Nothing {
                return Ok(None);
            }
        }
    }

    /// Takes the value that begins at the next byte. False when it was too long to keep.
    fn collect(&mut self, first: u8) -> Result<bool, DataError> {
        self.piece.clear();
        self.piece.push(first);
        self.reader.consume(1);
        self.collect_rest(Outline::begin(first))
    }

    fn collect_rest(&mut self, mut outline: Outline) -> Result<bool, DataError> {
        let began = self.line;
        let mut long = false;
        loop {
            if self.peek()?.is_none() {
                if outline.scalar {
                    return Ok(!long);
                }
                self.line = began;
                let number = self.number;
                return Err(self.broken(
                    message!(
                        "value {number} begins here and does not end before the file does",
                        "第 {number} 个值从此处开始，直到文件末尾都没有结束"
                    ),
                    message!(
                        "the file seems to be cut off: fetch it again, or remove the value",
                        "文件似乎不完整：请重新下载，或删除该值"
                    ),
                ));
            }
            // Filled by `peek` above.
            let chunk = self.reader.fill_buf().unwrap_or_default();
            let end = chunk.iter().enumerate().find_map(|(at, byte)| {
                outline.take(*byte).map(|included| at + usize::from(included))
            });
            let part = &chunk[..end.unwrap_or(chunk.len())];
            self.line += memchr::memchr_iter(b'\n', part).count() as u64;
            long |= self.piece.len() + part.len() > MAX_RECORD;
            if !long {
                self.piece.extend_from_slice(part);
            }
            let used = part.len();
            self.reader.consume(used);
            if end.is_some() {
                return Ok(!long);
            }
        }
    }

    /// The next byte that is not blank, without taking it.
    fn peek_filled(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => {
                    self.line += u64::from(byte == b'\n');
                    self.reader.consume(1);
                }
                next => return Ok(next),
            }
        }
    }

    /// Takes a byte that must come next.
    fn take_one_of(&mut self, wanted: &[u8]) -> Result<u8, DataError> {
        match self.peek_filled()? {
            Some(byte) if wanted.contains(&byte) => {
                self.reader.consume(1);
                Ok(byte)
            }
            _ => Err(self.broken(
                message!(
                    "expected a name, a value or the end of the JSON object",
                    "此处应为 JSON 对象的名称、值或结尾"
                ),
                message!(
                    "the file seems to be cut off: fetch it again, or write one object a line",
                    "文件似乎被截断：请重新获取，或每行写一个对象"
                ),
            )),
        }
    }

    /// Moves on to the first array of objects in the object.
    fn open_member(&mut self) -> Result<(), DataError> {
        self.take_one_of(b"{")?;
        loop {
            let quote = self.take_one_of(b"\"")?;
            self.collect_rest(Outline::begin(quote))?;
            self.take_one_of(b":")?;
            match self.peek_filled()? {
                Some(b'[') => {
                    self.reader.consume(1);
                    if self.peek_filled()? == Some(b'{') {
                        self.expect = Expect::FirstOrClose;
                        return Ok(());
                    }
                    self.collect_rest(Outline::begin(b'['))?;
                }
                Some(first) => drop(self.collect(first)?),
                None => {}
            }
            self.piece.clear();
            self.take_one_of(b",")?;
        }
    }

    fn step(&mut self) -> Result<Option<Record>, DataError> {
        match (self.within, self.expect) {
            (Within::Member, Expect::Open) => self.open_member()?,
            (Within::Member, Expect::Nothing) => return Ok(None),
            _ => {}
        }
        let Some(first) = self.seek()? else { return Ok(None) };
        self.number += 1;
        let at = match self.within {
            Within::Array | Within::Member => {
                At::element(&self.origin.name, self.line, self.number)
            }
            Within::File => At::line(&self.origin.name, self.line),
        };
        let kept = self.collect(first)?;
        if self.within != Within::File {
            self.expect = Expect::CommaOrClose;
        }
        if !kept {
            self.piece = Vec::new();
            return Err(too_long(&at, message!("the value", "该值")));
        }
        match str::from_utf8(&self.piece) {
            Ok(text) => json(at, text).map(Some),
            Err(error) => Err(not_utf8(at, error.valid_up_to())),
        }
    }
}

impl Records for Values {
    fn next(&mut self) -> Option<Result<Record, DataError>> {
        if self.ended {
            return None;
        }
        let step = self.step().transpose();
        self.ended = match &step {
            None => true,
            Some(Err(error)) => !error.is_skippable(),
            Some(Ok(_)) => false,
        };
        step
    }
}
