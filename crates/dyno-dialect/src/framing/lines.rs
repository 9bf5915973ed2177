//! An incremental decoder of documents that each end with one byte: a line feed (NDJSON) or a NUL.
//! A document within one read is returned without copying; empty ones are skipped.

use super::{TooLarge, WireFrame};

/// Decoder state between reads.
#[derive(Debug)]
pub struct LineDecoder {
    end: u8,
    limit: usize,
    /// The beginning of a document whose end has not arrived.
    held: Vec<u8>,
    /// `held` was returned and must be cleared before the next.
    stale: bool,
}

impl LineDecoder {
    /// A decoder of documents that end with `end` and have at most `limit` bytes.
    pub fn new(end: u8, limit: usize) -> Self {
        Self { end, limit, held: Vec::new(), stale: false }
    }

    /// The next document completed by `input`, which is advanced past it; absent once all of `input`
    /// has been consumed.
    pub fn next<'d, 'i: 'd>(
        &'d mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<WireFrame<'d>>, TooLarge> {
        if std::mem::take(&mut self.stale) {
            self.held.clear();
        }
        loop {
            let Some(at) = memchr::memchr(self.end, input) else {
                self.hold(input)?;
                *input = &[];
                return Ok(None);
            };
            let (line, rest) = input.split_at(at);
            *input = &rest[1..];
            if self.held.is_empty() {
                if line.len() > self.limit {
                    return Err(TooLarge(self.limit));
                }
                let data = line.trim_ascii();
                if !data.is_empty() {
                    return Ok(Some(WireFrame { kind: b"", data }));
                }
                continue;
            }
            self.hold(line)?;
            if self.held.trim_ascii().is_empty() {
                self.held.clear();
                continue;
            }
            self.stale = true;
            return Ok(Some(WireFrame { kind: b"", data: self.held.trim_ascii() }));
        }
    }

    /// Bytes of memory that it holds.
    pub fn holds(&self) -> usize {
        self.held.capacity()
    }

    /// What has arrived of a document whose end has not.
    pub fn pending(&self) -> &[u8] {
        if self.stale { &[] } else { self.held.trim_ascii() }
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.held.len() + bytes.len() > self.limit {
            return Err(TooLarge(self.limit));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(end: u8, parts: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut decoder = LineDecoder::new(end, 1 << 20);
        let mut frames = Vec::new();
        for part in parts {
            let mut input = *part;
            while let Some(frame) = decoder.next(&mut input).unwrap() {
                frames.push(frame.data.to_vec());
            }
        }
        (frames, decoder.pending().to_vec())
    }

    #[test]
    fn documents_lines_ends_and_blank_lines() {
        let (frames, rest) = decode(b'\n', &[b"{\"a\":1}\r\n\n  \n{\"b\"", b":2}\n{\"c"]);
        assert_eq!(frames, [b"{\"a\":1}".to_vec(), b"{\"b\":2}".to_vec()]);
        assert_eq!(rest, b"{\"c");
        let (frames, rest) = decode(0, &[b"{\"text\":[\"a\\nb\"]}\0\0{}", b"\0"]);
        assert_eq!(frames.len(), 2);
        assert!(rest.is_empty());
    }

    #[test]
    fn a_document_that_is_too_large_is_refused_in_one_read_and_in_many() {
        let mut decoder = LineDecoder::new(b'\n', 8);
        assert!(decoder.next(&mut b"123456789\n".as_slice()).is_err());
        let mut decoder = LineDecoder::new(b'\n', 8);
        assert_eq!(decoder.next(&mut b"12345".as_slice()), Ok(None));
        assert_eq!(decoder.next(&mut b"6789".as_slice()), Err(TooLarge(8)));
    }

    const PIECES: &[&[u8]] = &[b"{\"a\":1}", b"\n", b"\r\n", b" ", b"\0", "汉字".as_bytes(), b"x"];

    proptest! {
        #[test]
        fn however_it_is_split_the_documents_are_the_same(
            pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
            cut in any::<prop::sample::Index>(),
            end in prop::sample::select(vec![b'\n', 0]),
        ) {
            let bytes = pieces.concat();
            let (left, right) = bytes.split_at(cut.index(bytes.len() + 1));
            prop_assert_eq!(decode(end, &[left, right]), decode(end, &[&bytes]));
        }
    }
}
