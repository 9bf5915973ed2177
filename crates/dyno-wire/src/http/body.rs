//! The body of a response, delimited by chunks, by length or by the end of the connection.

use super::HttpError;
use super::head::BodyFraming;
use dyno_model::message;

const MAX_LINE: usize = 16 << 10;

/// How much of a body is missing.
#[derive(Debug)]
pub(super) enum Body {
    Chunked(Chunked),
    Length(u64),
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the line with a chunk's size.
    Size,
    /// In a chunk's data, so many bytes to go.
    Data(u64),
    /// Between a chunk's data and the next size.
    DataEnd,
    /// After the last chunk.
    Trailer,
    Done,
}

/// Reader of chunked bodies.
#[derive(Debug)]
pub(super) struct Chunked {
    state: State,
    /// The part of a line from earlier reads.
    line: Vec<u8>,
}

/// The next part of a body.
pub(super) enum BodyPart<'a> {
    Data(&'a [u8]),
    End,
    More,
}

impl Body {
    pub(super) fn new(framing: BodyFraming) -> Self {
        match framing {
            BodyFraming::Chunked => Self::Chunked(Chunked { state: State::Size, line: Vec::new() }),
            BodyFraming::Length(length) => Self::Length(length),
            BodyFraming::Close => Self::Close,
        }
    }

    pub(super) fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<BodyPart<'a>, HttpError> {
        match self {
            Self::Chunked(chunked) => chunked.next(input),
            Self::Length(0) => Ok(BodyPart::End),
            Self::Length(left) => Ok(take(input, left)),
            Self::Close => {
                let mut endless = u64::MAX;
                Ok(take(input, &mut endless))
            }
        }
    }

    /// Whether the body may end here with the connection.
    pub(super) fn ends_by_close(&self) -> bool {
        matches!(self, Self::Close)
    }
}

fn take<'a>(input: &mut &'a [u8], left: &mut u64) -> BodyPart<'a> {
    if input.is_empty() {
        return BodyPart::More;
    }
    let length = (*left).min(input.len() as u64) as usize;
    let (data, rest) = input.split_at(length);
    *input = rest;
    *left -= length as u64;
    BodyPart::Data(data)
}

impl Chunked {
    fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<BodyPart<'a>, HttpError> {
        loop {
            match &mut self.state {
                State::Done => return Ok(BodyPart::End),
                State::Data(0) => self.state = State::DataEnd,
                State::Data(left) => return Ok(take(input, left)),
                State::Size => {
                    let Some(size) = self.with_line(input, parse_size)? else {
                        return Ok(BodyPart::More);
                    };
                    self.state = if size == 0 { State::Trailer } else { State::Data(size) };
                }
                State::DataEnd => {
                    let ended = self.with_line(input, |line| match line {
                        b"" => Ok(()),
                        _ => Err(HttpError::Chunk(message!(
                            "a chunk is longer than its size",
                            "一个块超过其声明的大小"
                        ))),
                    })?;
                    if ended.is_none() {
                        return Ok(BodyPart::More);
                    }
                    self.state = State::Size;
                }
                State::Trailer => {
                    let Some(last) = self.with_line(input, |line| Ok(line.is_empty()))? else {
                        return Ok(BodyPart::More);
                    };
                    if last {
                        self.state = State::Done;
                    }
                }
            }
        }
    }

    /// Passes the next complete line to `read`, without its end; absent if it is not complete.
    fn with_line<T>(
        &mut self,
        input: &mut &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, HttpError>,
    ) -> Result<Option<T>, HttpError> {
        let end = memchr::memchr(b'\n', input);
        if self.line.len() + end.unwrap_or(input.len()) > MAX_LINE {
            return Err(HttpError::Chunk(message!(
                "a line of the framing does not end",
                "分块的一行没有结尾"
            )));
        }
        let Some(end) = end else {
            self.line.extend_from_slice(input);
            *input = &[];
            return Ok(None);
        };
        let (line, rest) = input.split_at(end);
        *input = &rest[1..];
        let value = if self.line.is_empty() {
            read(line.strip_suffix(b"\r").unwrap_or(line))
        } else {
            self.line.extend_from_slice(line);
            let value = read(self.line.strip_suffix(b"\r").unwrap_or(&self.line));
            self.line.clear();
            value
        };
        value.map(Some)
    }
}

fn parse_size(line: &[u8]) -> Result<u64, HttpError> {
    let end = line.iter().position(|b| *b == b';').unwrap_or(line.len());
    let digits = line[..end].trim_ascii();
    let bad = || {
        let shown = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
        let shown = shown.escape_debug();
        HttpError::Chunk(message!("`{shown}` is not a chunk size", "`{shown}` 不是块大小"))
    };
    if digits.is_empty() || digits.len() > 15 {
        return Err(bad());
    }
    digits.iter().try_fold(0_u64, |size, byte| {
        let digit = (*byte as char).to_digit(16).ok_or_else(bad)?;
        Ok(size << 4 | u64::from(digit))
    })
}
