//! The frames of a stream as bytes: server-sent events, JSON lines or NUL-terminated JSON, plain or
//! with the quirks of real servers. No sockets here.

mod burst;
mod damage;
mod http;

pub use burst::Burst;
pub use damage::StreamDamage;
pub use http::Transfer;

use crate::fault::{Quirk, Quirks};

/// How the frames of a stream are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Server-sent events that have only `data:`.
    Data,
    /// Server-sent events with a name in `event:`.
    Events,
    /// One JSON value in each line.
    Lines,
    /// JSON values that end with a NUL, under the name of server-sent events.
    Nul,
}

impl Frames {
    /// The type of the body.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Data | Self::Events | Self::Nul => "text/event-stream; charset=utf-8",
            Self::Lines => "application/x-ndjson",
        }
    }

    fn is_sse(self) -> bool {
        matches!(self, Self::Data | Self::Events)
    }
}

/// How one stream is framed, and how far it is.
#[derive(Debug)]
pub struct ServedFraming {
    frames: Frames,
    quirks: Quirks,
    transfer: Transfer,
    count: u32,
    opened: bool,
    /// Bytes of the next frame that went out with the last one.
    ahead: usize,
}

/// Where the frames of a stream go.
pub struct Out<'a> {
    framing: &'a mut ServedFraming,
    burst: &'a mut Burst,
    damage: Option<StreamDamage>,
    /// Nothing follows: the sender has died.
    cut: bool,
}

impl Out<'_> {
    /// A frame with the data that `render` writes.
    pub fn frame(&mut self, render: impl FnOnce(&mut Vec<u8>)) {
        self.event("", render);
    }

    /// A frame with a name, where frames have names.
    pub fn event(&mut self, name: &str, render: impl FnOnce(&mut Vec<u8>)) {
        let more = !self.framing.quirks.has(Quirk::NoDone);
        self.put(name, more, render);
    }

    /// The last frame of a stream.
    pub fn last(&mut self, name: &str, render: impl FnOnce(&mut Vec<u8>)) {
        self.put(name, false, render);
    }

    fn put(&mut self, name: &str, more: bool, render: impl FnOnce(&mut Vec<u8>)) {
        let Self { framing, burst, damage, cut } = self;
        if *cut {
            return;
        }
        let start = burst.bytes.len();
        burst.json.clear();
        render(&mut burst.json);
        let half = damage.take().is_some_and(|damage| damage.apply(&mut burst.json));
        if framing.quirks.has(Quirk::Big) {
            damage::pad(&mut burst.json);
        }
        burst.framed.clear();
        let begin = framing.frame(name, &burst.json, &mut burst.framed);
        if half {
            *cut = true;
            let framed = &burst.framed[..burst.framed.len() / 2];
            return framing.transfer.put(framed, false, &mut burst.bytes);
        }
        let from = framing.lead(more, &mut burst.framed, begin);
        let pieces = framing.quirks.has(Quirk::ChunkSplit);
        framing.transfer.put(&burst.framed[from..], pieces, &mut burst.bytes);
        if framing.quirks.has(Quirk::Split) {
            burst.split(start);
        }
    }
}

impl ServedFraming {
    /// A stream that has not begun.
    pub fn new(frames: Frames, quirks: Quirks, transfer: Transfer) -> Self {
        Self { frames, quirks, transfer, count: 0, opened: false, ahead: 0 }
    }

    /// Where frames can be written.
    pub fn out<'a>(&'a mut self, burst: &'a mut Burst) -> Out<'a> {
        Out { framing: self, burst, damage: None, cut: false }
    }

    /// The same, for a first frame that is damaged.
    pub fn damaged<'a>(&'a mut self, burst: &'a mut Burst, damage: StreamDamage) -> Out<'a> {
        Out { framing: self, burst, damage: Some(damage), cut: false }
    }

    /// What is sent only to show that there is somebody: a comment, or an empty line.
    pub fn comment(&mut self, burst: &mut Burst) {
        burst.framed.clear();
        if self.frames.is_sse() {
            self.open(&mut burst.framed);
            burst.framed.extend_from_slice(b": ping");
            burst.framed.extend_from_slice(self.line_end());
        }
        burst.framed.extend_from_slice(self.line_end());
        let pieces = self.quirks.has(Quirk::ChunkSplit);
        self.transfer.put(&burst.framed, pieces, &mut burst.bytes);
    }

    /// The end of the body.
    pub fn end(&self, burst: &mut Burst) {
        self.transfer.end(&mut burst.bytes);
    }

    /// A chunk with an invalid size.
    pub fn bad_chunk(&self, burst: &mut Burst) {
        burst.bytes.extend_from_slice(b"zz\r\ndata: {}\n\n\r\n");
    }

    /// Lets HTTP chunks end inside a frame without delaying one: all frames of a stream begin
    /// alike, so the first bytes of the next can go ahead. Where this frame's own rest begins.
    fn lead(&mut self, more: bool, framed: &mut Vec<u8>, begin: usize) -> usize {
        let from = std::mem::take(&mut self.ahead);
        if more && self.quirks.has(Quirk::ChunkSplit) {
            self.ahead = 2;
            framed.extend_from_within(begin..begin + self.ahead);
        }
        from
    }

    fn line_end(&self) -> &'static [u8] {
        match () {
            () if self.quirks.has(Quirk::Crlf) => b"\r\n",
            () if self.quirks.has(Quirk::Cr) && self.frames.is_sse() => b"\r",
            () => b"\n",
        }
    }

    fn open(&mut self, out: &mut Vec<u8>) {
        if !self.opened && self.quirks.has(Quirk::Bom) {
            out.extend_from_slice("\u{feff}".as_bytes());
        }
        self.opened = true;
    }

    /// Writes a frame; where it begins, after the stream's own opening.
    fn frame(&mut self, name: &str, data: &[u8], out: &mut Vec<u8>) -> usize {
        match self.frames {
            Frames::Data | Frames::Events => return self.sse(name, data, out),
            Frames::Lines => {
                out.extend_from_slice(data);
                out.extend_from_slice(self.line_end());
            }
            Frames::Nul => {
                out.extend_from_slice(data);
                out.push(0);
            }
        }
        0
    }

    fn sse(&mut self, name: &str, data: &[u8], sse: &mut Vec<u8>) -> usize {
        self.open(sse);
        let begin = sse.len();
        let named = self.frames == Frames::Events && !name.is_empty();
        if self.quirks == Quirks::default() {
            if named {
                sse.extend_from_slice(b"event: ");
                sse.extend_from_slice(name.as_bytes());
                sse.push(b'\n');
            }
            sse.extend_from_slice(b"data: ");
            sse.extend_from_slice(data);
            sse.extend_from_slice(b"\n\n");
            return begin;
        }
        let (end, number) = (self.line_end(), self.count);
        self.count += 1;
        let line = |sse: &mut Vec<u8>, text: &str| {
            sse.extend_from_slice(text.as_bytes());
            sse.extend_from_slice(end);
        };
        let comment = |sse: &mut Vec<u8>| {
            if self.quirks.has(Quirk::Comments) {
                line(sse, ": ping");
            }
        };
        if self.quirks.has(Quirk::Comments) {
            comment(sse);
            line(sse, "");
            comment(sse);
        }
        let lines = self.quirks.has(Quirk::EventLines);
        match (named, lines) {
            (true, _) => line(sse, &format!("event: {name}")),
            (false, true) => line(sse, "event: message"),
            (false, false) => {}
        }
        if lines {
            line(sse, &format!("id: {number}"));
            line(sse, "retry: 3000");
        }
        let (first, second) = data.split_at(self.line_cut(data));
        for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
            let field: &[u8] = if self.quirks.has(Quirk::NoSpace) { b"data:" } else { b"data: " };
            sse.extend_from_slice(field);
            sse.extend_from_slice(part);
            sse.extend_from_slice(end);
            comment(sse);
        }
        line(sse, "");
        begin
    }

    /// Where JSON may have a line break: after a first field that is a text without a comma, else
    /// after the opening bracket.
    fn line_cut(&self, data: &[u8]) -> usize {
        if !self.quirks.has(Quirk::Multiline) || data.first() != Some(&b'{') {
            return data.len();
        }
        let field = data.windows(3).position(|w| w == b"\",\"").map(|at| at + 2);
        field.filter(|at| *at < 64).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"id":"a","object":"é"}"#;

    fn framed(frames: Frames, quirks: &[Quirk], transfer: Transfer) -> Burst {
        let mut set = Quirks::default();
        quirks.iter().for_each(|q| set.insert(*q));
        let mut framing = ServedFraming::new(frames, set, transfer);
        let mut burst = Burst::default();
        let mut out = framing.out(&mut burst);
        out.event("part", |out| out.extend_from_slice(JSON.as_bytes()));
        out.last("end", |out| out.extend_from_slice(b"[DONE]"));
        framing.end(&mut burst);
        burst
    }

    fn text(quirks: &[Quirk]) -> String {
        String::from_utf8(framed(Frames::Data, quirks, Transfer::Close).bytes).unwrap()
    }

    #[test]
    fn each_quirk_gives_the_promised_bytes() {
        assert_eq!(text(&[]), format!("data: {JSON}\n\ndata: [DONE]\n\n"));
        assert_eq!(text(&[Quirk::Crlf]), format!("data: {JSON}\r\n\r\ndata: [DONE]\r\n\r\n"));
        assert_eq!(text(&[Quirk::Cr]), format!("data: {JSON}\r\rdata: [DONE]\r\r"));
        assert_eq!(text(&[Quirk::NoSpace]), format!("data:{JSON}\n\ndata:[DONE]\n\n"));
        assert_eq!(text(&[Quirk::Bom]), format!("\u{feff}data: {JSON}\n\ndata: [DONE]\n\n"));
        let multiline = "data: {\"id\":\"a\",\ndata: \"object\":\"é\"}\n\ndata: [DONE]\n\n";
        assert_eq!(text(&[Quirk::Multiline]), multiline);
        let lines = "event: message\nid: 0\nretry: 3000\ndata: {";
        assert!(text(&[Quirk::EventLines]).starts_with(lines));
        let comments = format!(": ping\n\n: ping\ndata: {JSON}\n: ping\n\n: ping\n\n");
        assert!(text(&[Quirk::Comments]).starts_with(&comments), "{}", text(&[Quirk::Comments]));
    }

    #[test]
    fn each_framing_ends_its_frames_in_its_own_way() {
        let text = |frames, quirks: &[Quirk]| {
            String::from_utf8(framed(frames, quirks, Transfer::Close).bytes).unwrap()
        };
        let events = format!("event: part\ndata: {JSON}\n\nevent: end\ndata: [DONE]\n\n");
        assert_eq!(text(Frames::Events, &[]), events);
        assert_eq!(text(Frames::Events, &[Quirk::Crlf]), events.replace('\n', "\r\n"));
        assert_eq!(text(Frames::Lines, &[]), format!("{JSON}\n[DONE]\n"));
        assert_eq!(text(Frames::Lines, &[Quirk::Crlf]), format!("{JSON}\r\n[DONE]\r\n"));
        assert_eq!(text(Frames::Nul, &[]), format!("{JSON}\0[DONE]\0"));
        // What is said only in server-sent events leaves the others as they are.
        let sse_only = [Quirk::Cr, Quirk::Bom, Quirk::EventLines, Quirk::Multiline, Quirk::NoSpace];
        assert_eq!(text(Frames::Lines, &sse_only), text(Frames::Lines, &[]));
    }

    #[test]
    fn chunks_hold_one_frame_each() {
        let burst = framed(Frames::Data, &[], Transfer::Chunked);
        let expected =
            "20\r\ndata: {\"id\":\"a\",\"object\":\"é\"}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        assert_eq!(String::from_utf8(burst.bytes).unwrap(), expected);
    }

    #[test]
    fn split_cuts_inside_a_character() {
        let burst = framed(Frames::Data, &[Quirk::Split], Transfer::Chunked);
        let writes: Vec<_> = burst.writes().collect();
        assert_eq!(writes.len(), 6);
        assert!(std::str::from_utf8(writes[1]).is_err());
        assert_eq!(writes.concat(), burst.bytes);
    }
}
