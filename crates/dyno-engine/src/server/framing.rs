//! Server-sent events and HTTP chunks as bytes, plain or with the quirks of real servers.

use super::head::Transfer;
use crate::fault::{Quirk, Quirks};
use std::io::Write;

const STRIDE: usize = 37;

/// Bytes for one connection, with marks between separate writes. Reused from write to write.
#[derive(Debug, Default)]
pub(super) struct Burst {
    bytes: Vec<u8>,
    marks: Vec<usize>,
    json: Vec<u8>,
    sse: Vec<u8>,
}

impl Burst {
    /// Empties it, and frees the memory of an unusually large event.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.marks.clear();
        for vec in [&mut self.bytes, &mut self.json, &mut self.sse] {
            if vec.capacity() > 1 << 20 {
                *vec = Vec::new();
            }
        }
    }

    /// What follows goes in a separate write.
    pub(super) fn flush(&mut self) {
        self.marks.push(self.bytes.len());
    }

    /// The writes, in order.
    pub(super) fn writes(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.marks.iter().copied().chain([self.bytes.len()]);
        let starts = [0].into_iter().chain(self.marks.iter().copied());
        starts.zip(ends).map(|(start, end)| &self.bytes[start..end]).filter(|w| !w.is_empty())
    }
}

/// How one stream is framed, and how far it is.
#[derive(Debug)]
pub(super) struct Framing {
    quirks: Quirks,
    transfer: Transfer,
    events: u32,
    opened: bool,
    /// Bytes of the next event that went out with the last one.
    ahead: usize,
}

impl Framing {
    /// A stream that has not begun.
    pub(super) fn new(quirks: Quirks, transfer: Transfer) -> Self {
        Self { quirks, transfer, events: 0, opened: false, ahead: 0 }
    }

    /// One event with the data that `render` writes.
    pub(super) fn event(&mut self, burst: &mut Burst, render: impl FnOnce(&mut Vec<u8>)) {
        let start = burst.bytes.len();
        burst.json.clear();
        render(&mut burst.json);
        burst.sse.clear();
        let begin = self.sse(&burst.json, &mut burst.sse);
        let from = self.lead(&burst.json, &mut burst.sse, begin);
        self.body(&burst.sse[from..], &mut burst.bytes);
        if self.quirks.has(Quirk::Split) {
            split_marks(&burst.bytes, start, &mut burst.marks);
        }
    }

    /// The first half of an event, as if the sender had died.
    pub(super) fn half_event(&mut self, burst: &mut Burst, render: impl FnOnce(&mut Vec<u8>)) {
        burst.json.clear();
        render(&mut burst.json);
        burst.sse.clear();
        self.sse(&burst.json, &mut burst.sse);
        self.body(&burst.sse[..burst.sse.len() / 2], &mut burst.bytes);
    }

    /// A comment, which is not an event.
    pub(super) fn comment(&mut self, burst: &mut Burst) {
        burst.sse.clear();
        self.open(&mut burst.sse);
        burst.sse.extend_from_slice(b": ping");
        burst.sse.extend_from_slice(self.line_end());
        burst.sse.extend_from_slice(self.line_end());
        self.body(&burst.sse, &mut burst.bytes);
    }

    /// The end of the body.
    pub(super) fn end(&self, burst: &mut Burst) {
        if self.transfer == Transfer::Chunked {
            burst.bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }

    /// A chunk with an invalid size.
    pub(super) fn bad_chunk(&self, burst: &mut Burst) {
        burst.bytes.extend_from_slice(b"zz\r\ndata: {}\n\n\r\n");
    }

    /// Lets HTTP chunks end inside an event without delaying one: all events of a stream begin
    /// alike, so the first bytes of the next can go ahead. Where this event's own rest begins.
    fn lead(&mut self, data: &[u8], sse: &mut Vec<u8>, begin: usize) -> usize {
        let from = std::mem::take(&mut self.ahead);
        let more = data != b"[DONE]" && !self.quirks.has(Quirk::NoDone);
        if more && self.quirks.has(Quirk::ChunkSplit) {
            self.ahead = 2;
            sse.extend_from_within(begin..begin + self.ahead);
        }
        from
    }

    fn line_end(&self) -> &'static [u8] {
        match () {
            () if self.quirks.has(Quirk::Crlf) => b"\r\n",
            () if self.quirks.has(Quirk::Cr) => b"\r",
            () => b"\n",
        }
    }

    fn open(&mut self, sse: &mut Vec<u8>) {
        if !self.opened && self.quirks.has(Quirk::Bom) {
            sse.extend_from_slice("\u{feff}".as_bytes());
        }
        self.opened = true;
    }

    /// Writes an event; where it begins, after the stream's own opening.
    fn sse(&mut self, data: &[u8], sse: &mut Vec<u8>) -> usize {
        self.open(sse);
        let begin = sse.len();
        if self.quirks == Quirks::default() {
            sse.extend_from_slice(b"data: ");
            sse.extend_from_slice(data);
            sse.extend_from_slice(b"\n\n");
            return begin;
        }
        let (end, number) = (self.line_end(), self.events);
        self.events += 1;
        let comment = |sse: &mut Vec<u8>| {
            if self.quirks.has(Quirk::Comments) {
                sse.extend_from_slice(b": ping");
                sse.extend_from_slice(end);
            }
        };
        if self.quirks.has(Quirk::Comments) {
            comment(sse);
            sse.extend_from_slice(end);
            comment(sse);
        }
        if self.quirks.has(Quirk::EventLines) {
            let id = format!("id: {number}");
            for line in ["event: message", &id, "retry: 3000"] {
                sse.extend_from_slice(line.as_bytes());
                sse.extend_from_slice(end);
            }
        }
        let (first, second) = data.split_at(self.line_cut(data));
        for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
            let field: &[u8] = if self.quirks.has(Quirk::NoSpace) { b"data:" } else { b"data: " };
            sse.extend_from_slice(field);
            sse.extend_from_slice(part);
            sse.extend_from_slice(end);
            comment(sse);
        }
        sse.extend_from_slice(end);
        begin
    }

    /// Where JSON may have a line break: after its first field, whose value has no comma.
    fn line_cut(&self, data: &[u8]) -> usize {
        if !self.quirks.has(Quirk::Multiline) || data.first() != Some(&b'{') {
            return data.len();
        }
        let id_end = data.windows(11).position(|w| w == b"\",\"object\":").map(|at| at + 2);
        id_end.unwrap_or(1)
    }

    fn body(&self, sse: &[u8], out: &mut Vec<u8>) {
        if self.transfer == Transfer::Close {
            out.extend_from_slice(sse);
        } else if self.quirks.has(Quirk::ChunkSplit) {
            for (i, piece) in sse.chunks(STRIDE).enumerate() {
                let extension = if i % 2 == 0 { ";part=odd" } else { "" };
                let _ = write!(out, "{:04X}{extension}\r\n", piece.len());
                out.extend_from_slice(piece);
                out.extend_from_slice(b"\r\n");
            }
        } else {
            put_hex(out, sse.len());
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(sse);
            out.extend_from_slice(b"\r\n");
        }
    }
}

fn put_hex(out: &mut Vec<u8>, n: usize) {
    let digits = (usize::BITS - n.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        out.push(b"0123456789abcdef"[(n >> (4 * place)) & 15]);
    }
}

/// Marks that put one event, which begins at `start`, in three writes: the first ends early, the
/// second inside the first character of several bytes.
fn split_marks(bytes: &[u8], start: usize, marks: &mut Vec<usize>) {
    let event = &bytes[start..];
    let inside = event.iter().position(|b| !b.is_ascii()).map(|at| at + 1);
    let second = inside.unwrap_or(event.len() * 2 / 3);
    if start > 0 {
        marks.push(start);
    }
    marks.extend([start + second / 2, start + second]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(quirks: &[Quirk], transfer: Transfer) -> Burst {
        let mut set = Quirks::default();
        quirks.iter().for_each(|q| set.insert(*q));
        let mut framing = Framing::new(set, transfer);
        let mut burst = Burst::default();
        for data in [r#"{"id":"a","object":"é"}"#, "[DONE]"] {
            framing.event(&mut burst, |out| out.extend_from_slice(data.as_bytes()));
        }
        framing.end(&mut burst);
        burst
    }

    fn text(quirks: &[Quirk]) -> String {
        String::from_utf8(framed(quirks, Transfer::Close).bytes).unwrap()
    }

    #[test]
    fn each_quirk_gives_the_promised_bytes() {
        let json = r#"{"id":"a","object":"é"}"#;
        assert_eq!(text(&[]), format!("data: {json}\n\ndata: [DONE]\n\n"));
        assert_eq!(text(&[Quirk::Crlf]), format!("data: {json}\r\n\r\ndata: [DONE]\r\n\r\n"));
        assert_eq!(text(&[Quirk::Cr]), format!("data: {json}\r\rdata: [DONE]\r\r"));
        assert_eq!(text(&[Quirk::NoSpace]), format!("data:{json}\n\ndata:[DONE]\n\n"));
        assert_eq!(text(&[Quirk::Bom]), format!("\u{feff}data: {json}\n\ndata: [DONE]\n\n"));
        let multiline = "data: {\"id\":\"a\",\ndata: \"object\":\"é\"}\n\ndata: [DONE]\n\n";
        assert_eq!(text(&[Quirk::Multiline]), multiline);
        let lines = "event: message\nid: 0\nretry: 3000\ndata: {";
        assert!(text(&[Quirk::EventLines]).starts_with(lines));
        let comments = format!(": ping\n\n: ping\ndata: {json}\n: ping\n\n: ping\n\n");
        assert!(text(&[Quirk::Comments]).starts_with(&comments), "{}", text(&[Quirk::Comments]));
    }

    #[test]
    fn chunks_hold_one_event_each() {
        let burst = framed(&[], Transfer::Chunked);
        let expected =
            "20\r\ndata: {\"id\":\"a\",\"object\":\"é\"}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        assert_eq!(String::from_utf8(burst.bytes).unwrap(), expected);
    }

    #[test]
    fn split_cuts_inside_a_character() {
        let burst = framed(&[Quirk::Split], Transfer::Chunked);
        let writes: Vec<_> = burst.writes().collect();
        assert_eq!(writes.len(), 6);
        assert!(std::str::from_utf8(writes[1]).is_err());
        assert_eq!(writes.concat(), burst.bytes);
    }

    #[test]
    fn sizes_are_hexadecimal() {
        for n in [1, 15, 16, 255, 256, 22_020_096] {
            let mut out = Vec::new();
            put_hex(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{n:x}"));
        }
    }
}
