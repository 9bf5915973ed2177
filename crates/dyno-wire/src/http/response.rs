//! Reads a response piece by piece.

use super::HttpError;
use super::body::{Body, BodyPart};
use super::head::{MAX_HEAD, ResponseHead};

/// The next piece of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The headers.
    Head(Box<ResponseHead>),
    /// Part of the body.
    Data(&'a [u8]),
    /// The end of the body.
    End,
}

#[derive(Debug)]
enum State {
    Head(Vec<u8>),
    Body(Body),
    Done,
}

/// Reads one response.
#[derive(Debug)]
pub struct ResponseReader {
    state: State,
}

impl Default for ResponseReader {
    fn default() -> Self {
        Self { state: State::Head(Vec::new()) }
    }
}

impl ResponseReader {
    /// The next piece from the front of `input`; absent when more input is needed.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, HttpError> {
        loop {
            match &mut self.state {
                State::Head(partial) => {
                    let Some(head) = take_head(partial, input)? else {
                        return Ok(None);
                    };
                    if (100..200).contains(&head.status) && head.status != 101 {
                        self.state = State::Head(Vec::new());
                        continue;
                    }
                    self.state = State::Body(Body::new(head.framing));
                    return Ok(Some(Piece::Head(Box::new(head))));
                }
                State::Body(body) => {
                    return match body.next(input)? {
                        BodyPart::Data(data) => Ok(Some(Piece::Data(data))),
                        BodyPart::More => Ok(None),
                        BodyPart::End => {
                            self.state = State::Done;
                            Ok(Some(Piece::End))
                        }
                    };
                }
                State::Done => return Ok(None),
            }
        }
    }

    /// The connection was closed: whether that is a valid end of the body.
    pub fn close(&mut self) -> bool {
        let proper = matches!(&self.state, State::Body(body) if body.ends_by_close());
        if proper {
            self.state = State::Done;
        }
        proper
    }
}

fn take_head(partial: &mut Vec<u8>, input: &mut &[u8]) -> Result<Option<ResponseHead>, HttpError> {
    let too_long = Err(HttpError::HeadTooLong(MAX_HEAD));
    if partial.is_empty()
        && let Some((head, length)) = ResponseHead::parse(input)?
    {
        *input = &input[length..];
        return if length > MAX_HEAD { too_long } else { Ok(Some(head)) };
    }
    let before = partial.len();
    partial.extend_from_slice(input);
    let parsed = ResponseHead::parse(partial)?;
    match parsed {
        Some((_, length)) if length > MAX_HEAD => too_long,
        Some((head, length)) => {
            *input = &input[length - before..];
            Ok(Some(head))
        }
        None if partial.len() > MAX_HEAD => too_long,
        None => {
            *input = &[];
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, body and whether the end was seen, with the response cut into parts of `size`.
    fn read(bytes: &[u8], size: usize) -> Result<(u16, Vec<u8>, bool), HttpError> {
        let mut reader = ResponseReader::default();
        let (mut status, mut body, mut end) = (0, Vec::new(), false);
        for part in bytes.chunks(size) {
            let mut input = part;
            while let Some(piece) = reader.next(&mut input)? {
                match piece {
                    Piece::Head(head) => status = head.status,
                    Piece::Data(data) => body.extend_from_slice(data),
                    Piece::End => end = true,
                }
            }
        }
        Ok((status, body, end))
    }

    #[test]
    fn every_framing_reads_the_same_however_it_is_cut() {
        let answers: [(&[u8], bool); 5] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n",
                true,
            ),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nhe\n3\nllo\n0\n\n", true),
            (b"HTTP/1.0 200 OK\r\n\r\nhello", false),
            (
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                true,
            ),
        ];
        for (answer, ends) in answers {
            for size in 1..=answer.len() {
                assert_eq!(read(answer, size), Ok((200, b"hello".to_vec(), ends)));
            }
        }
    }

    #[test]
    fn an_empty_body_ends_at_once() {
        assert_eq!(
            read(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", 9),
            Ok((500, vec![], true))
        );
        assert_eq!(read(b"HTTP/1.1 204 None\r\n\r\n", 100), Ok((204, vec![], true)));
    }

    #[test]
    fn damaged_framing_is_named() {
        let bad = |bytes: &[u8]| read(bytes, 7).unwrap_err().to_string();
        assert!(bad(b"SSH-2.0-OpenSSH_9.2\r\n\r\n").contains("not HTTP"));
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let with = |rest: &[u8]| bad(&[&head, rest].concat());
        assert!(with(b"zz\r\n").contains("`zz` is not a chunk size"));
        assert!(with(b"1\r\nab\r\n").contains("longer than its size"));
        assert!(with(&[b'1'; 20_000]).contains("does not end"));
        assert!(with(b"fffffffffffffffff\r\n").contains("not a chunk size"));
        assert!(bad(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n").contains("not a number"));
    }

    #[test]
    fn only_a_body_that_ends_by_close_may_end_by_close() {
        for (head, proper) in [("", true), ("Content-Length: 3\r\n", false)] {
            let mut reader = ResponseReader::default();
            let bytes = format!("HTTP/1.1 200 OK\r\n{head}\r\nab");
            let mut input = bytes.as_bytes();
            while reader.next(&mut input).unwrap().is_some() {}
            assert_eq!(reader.close(), proper);
        }
    }

    #[test]
    fn limits_do_not_depend_on_how_the_bytes_are_cut() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let large = [
            format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "b".repeat(MAX_HEAD)),
            format!("{chunked}1;{}\r\na\r\n0\r\n\r\n", "x".repeat(20_000)),
            format!("{chunked}0\r\nA: {}\r\n\r\n", "b".repeat(20_000)),
        ];
        for bytes in &large {
            let refused = read(bytes.as_bytes(), 1000).unwrap_err();
            assert_eq!(read(bytes.as_bytes(), bytes.len()), Err(refused));
        }
    }

    #[test]
    fn a_head_that_does_not_end_is_refused() {
        let mut endless = b"HTTP/1.1 200 OK\r\n".to_vec();
        endless.extend(b"A: b\r\n".repeat(20_000));
        assert!(read(&endless, 4096).is_err());
    }
}
