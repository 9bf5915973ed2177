//! The framing of a record file: the magic line, and the length and checksum of each frame.

use crate::payload;
use dyno_model::frame::{Frame, RunHeader};

/// The format of the frames that this version writes, and the newest it reads.
pub const FORMAT: u32 = 1;

/// A frame's payload is never larger than this.
pub const MAX_FRAME: usize = 64 << 20;

pub(crate) const MAGIC: &[u8] = b"dyno.records/1\n";
pub(crate) const PREFIX: usize = 8;

/// The prefix of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) length: u32,
    pub(crate) crc: u32,
}

impl Prefix {
    pub(crate) fn of(payload: &[u8]) -> Self {
        Self { length: payload.len() as u32, crc: crc32fast::hash(payload) }
    }

    pub(crate) fn to_bytes(self) -> [u8; PREFIX] {
        let [a, b, c, d] = self.length.to_le_bytes();
        let [e, f, g, h] = self.crc.to_le_bytes();
        [a, b, c, d, e, f, g, h]
    }

    pub(crate) fn from_bytes([a, b, c, d, e, f, g, h]: [u8; PREFIX]) -> Self {
        Self { length: u32::from_le_bytes([a, b, c, d]), crc: u32::from_le_bytes([e, f, g, h]) }
    }
}

/// Appends the payload that `fill` writes, as a frame. If it is larger than `limit`, leaves `out`
/// unchanged and returns false.
pub(crate) fn put_framed(out: &mut Vec<u8>, limit: usize, fill: impl FnOnce(&mut Vec<u8>)) -> bool {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX]);
    fill(out);
    let payload = start + PREFIX;
    if out.len() - payload > limit.min(MAX_FRAME) {
        out.truncate(start);
        return false;
    }
    let prefix = Prefix::of(&out[payload..]);
    out[start..payload].copy_from_slice(&prefix.to_bytes());
    true
}

/// Appends `frame`, unless it is too large.
pub(crate) fn put_frame(out: &mut Vec<u8>, limit: usize, frame: &Frame) -> bool {
    put_framed(out, limit, |out| payload::encode(frame, out))
}

/// The start of a record file: the magic line and the header.
pub(crate) fn opening(header: &RunHeader) -> Result<Vec<u8>, serde_json::Error> {
    let json = serde_json::to_vec(&RunHeader { format: FORMAT, ..header.clone() })?;
    let mut out = MAGIC.to_vec();
    put_framed(&mut out, MAX_FRAME, |out| out.extend_from_slice(&json));
    Ok(out)
}

/// A whole record file in memory, as [`Recorder`](crate::Recorder) would write it; for tests
/// and tools. A frame above [`MAX_FRAME`] is left out.
pub fn encode_file(header: &RunHeader, frames: &[Frame]) -> Result<Vec<u8>, serde_json::Error> {
    let mut out = opening(header)?;
    for frame in frames {
        put_frame(&mut out, MAX_FRAME, frame);
    }
    Ok(out)
}
