//! Request bodies in chunked encoding.

use super::http::{MAX_BODY, Unreadable, unreadable};

#[derive(Debug, Default, Clone, Copy)]
enum Expect {
    #[default]
    Size,
    Data(usize),
    DataEnd,
    Trailer,
}

/// A body that is being received.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    /// What has come so far.
    pub(super) body: Vec<u8>,
    expect: Expect,
}

impl Chunked {
    /// Consumes what it can from the front of the buffer; returns whether the body is complete.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) -> Result<bool, Unreadable> {
        let mut at = 0;
        let complete = loop {
            match self.step(&buffer[at..])? {
                Step::Used(used) => at += used,
                Step::Last(used) => {
                    at += used;
                    break true;
                }
                Step::NeedMore => break false,
            }
        };
        buffer.drain(..at);
        Ok(complete)
    }

    fn step(&mut self, rest: &[u8]) -> Result<Step, Unreadable> {
        match self.expect {
            Expect::Size => match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((used, 0))) => {
                    self.expect = Expect::Trailer;
                    Ok(Step::Used(used))
                }
                Ok(httparse::Status::Complete((used, size))) => {
                    if size > (MAX_BODY - self.body.len()) as u64 {
                        return unreadable(413, "The request body is larger than 32 MiB.");
                    }
                    self.expect = Expect::Data(size as usize);
                    Ok(Step::Used(used))
                }
                Ok(httparse::Status::Partial) if rest.len() < 1024 => Ok(Step::NeedMore),
                _ => unreadable(400, "The request body has an invalid chunk size."),
            },
            Expect::Data(_) if rest.is_empty() => Ok(Step::NeedMore),
            Expect::Data(left) => {
                let used = left.min(rest.len());
                self.body.extend_from_slice(&rest[..used]);
                self.expect =
                    if used == left { Expect::DataEnd } else { Expect::Data(left - used) };
                Ok(Step::Used(used))
            }
            Expect::DataEnd if rest.len() < 2 => Ok(Step::NeedMore),
            Expect::DataEnd if rest.starts_with(b"\r\n") => {
                self.expect = Expect::Size;
                Ok(Step::Used(2))
            }
            Expect::DataEnd => {
                unreadable(400, "A chunk of the request body does not end with CR LF.")
            }
            Expect::Trailer => match rest.windows(2).position(|pair| pair == b"\r\n") {
                Some(0) => Ok(Step::Last(2)),
                Some(end) => Ok(Step::Used(end + 2)),
                None if rest.len() < 8192 => Ok(Step::NeedMore),
                None => unreadable(431, "The request trailer is too long."),
            },
        }
    }
}

enum Step {
    Used(usize),
    Last(usize),
    NeedMore,
}
