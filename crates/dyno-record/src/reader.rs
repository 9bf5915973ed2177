//! Reading records back, however the run ended.
//!
//! The reader keeps one frame in memory, does not trust a length before it has read the bytes, and
//! stops at the first damaged frame: everything before it is intact, and the damage is reported.

use crate::error::RecordError;
use crate::file::{FORMAT, MAGIC, MAX_FRAME, PREFIX, Prefix};
use crate::payload;
use dyno_model::frame::{Frame, RunHeader};
use dyno_model::{Localized, Message, message};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Where and how a record file stops being readable.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
#[message(
    "{what} at byte {offset}; what came before is whole",
    "第 {offset} 字节处：{what}；此前的内容完整"
)]
pub struct Damage {
    /// The byte at which the first unreadable frame starts.
    pub offset: u64,
    /// What is wrong with it.
    pub what: Message,
}

/// The frames of a record file, in order.
#[derive(Debug)]
pub struct RecordReader<R = BufReader<File>> {
    source: R,
    header: RunHeader,
    /// Where the next frame starts.
    offset: u64,
    payload: Vec<u8>,
    damage: Option<Damage>,
    over: bool,
    complete: bool,
}

impl<'a> RecordReader<&'a [u8]> {
    /// Reads a record file that is in memory.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, RecordError> {
        Self::new(bytes, Path::new("records.dyno"))
    }
}

impl<R: Read + Seek> RecordReader<R> {
    /// Continues at byte `offset`, where a frame starts.
    pub(crate) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        self.offset = self.source.seek(SeekFrom::Start(offset))?;
        Ok(())
    }
}

impl<R: Read> RecordReader<R> {
    /// Reads records from `source`; errors name `path`.
    pub fn new(mut source: R, path: &Path) -> Result<Self, RecordError> {
        let broken = |what: Message| RecordError::Header { path: path.to_owned(), what };
        let mut payload = Vec::new();
        let magic = read_up_to(&mut source, MAGIC.len(), &mut payload);
        magic.map_err(|error| broken(unreadable(&error)))?;
        if payload != MAGIC {
            return Err(broken(message!(
                "it does not begin like a record file",
                "开头不像记录文件"
            )));
        }
        let read = read_frame(&mut source, &mut payload).map_err(broken)?;
        if !read {
            return Err(broken(message!(
                "it ends before the header",
                "文件头尚未结束，文件就结束了"
            )));
        }
        let header: RunHeader = serde_json::from_slice(&payload).map_err(|error| {
            broken(message!("the header is not valid: {error}", "文件头无效：{error}"))
        })?;
        if header.format > FORMAT {
            return Err(RecordError::Format {
                path: path.to_owned(),
                found: header.format,
                known: FORMAT,
                version: header.version,
            });
        }
        let offset = (MAGIC.len() + PREFIX + payload.len()) as u64;
        Ok(Self { source, header, offset, payload, damage: None, over: false, complete: false })
    }

    /// Which run this is, and which part of it.
    pub fn header(&self) -> &RunHeader {
        &self.header
    }

    /// The damage that ended the reading early; absent if the file ends after a complete frame. Known
    /// once the iterator has ended.
    pub fn damage(&self) -> Option<Damage> {
        self.damage.clone()
    }

    /// Bytes up to the end of the last complete frame. Known once the iterator has ended.
    pub fn whole(&self) -> u64 {
        self.offset
    }

    /// The end of the run was read; otherwise the run is partial. Known once the iterator has
    /// ended.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// The next frame that this version knows; nothing at the end of the file.
    fn advance(&mut self) -> Result<Option<Frame>, Message> {
        while read_frame(&mut self.source, &mut self.payload)? {
            let frame = payload::decode(&self.payload).map_err(|bad| {
                message!("a frame that makes no sense ({})", "帧的内容不合理（{}）", bad.0)
            })?;
            self.offset += (PREFIX + self.payload.len()) as u64;
            if frame.is_some() {
                return Ok(frame);
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for RecordReader<R> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.over {
            return None;
        }
        let frame = self.advance().unwrap_or_else(|what| {
            self.damage = Some(Damage { offset: self.offset, what });
            None
        });
        self.over = frame.is_none();
        self.complete |= matches!(frame, Some(Frame::RunEnd(_)));
        frame
    }
}

/// Reads and checks one frame's payload; false at the end of the file, an error message if the frame
/// is damaged.
pub(crate) fn read_frame(source: &mut impl Read, payload: &mut Vec<u8>) -> Result<bool, Message> {
    read_up_to(source, PREFIX, payload).map_err(|error| unreadable(&error))?;
    if payload.is_empty() {
        return Ok(false);
    }
    let Ok(prefix) = <[u8; PREFIX]>::try_from(payload.as_slice()) else {
        return Err(cut_off());
    };
    let prefix = Prefix::from_bytes(prefix);
    let length = prefix.length as usize;
    if length == 0 || length > MAX_FRAME {
        return Err(message!(
            "a frame with an impossible length ({length} bytes)",
            "帧的长度不可能（{length} 字节）"
        ));
    }
    read_up_to(source, length, payload).map_err(|error| unreadable(&error))?;
    if payload.len() < length {
        return Err(cut_off());
    }
    if Prefix::of(payload) != prefix {
        return Err(message!("a frame whose checksum does not fit", "帧的校验和不符"));
    }
    Ok(true)
}

/// Reads `length` bytes, or as many as there are. Memory grows with the bytes read, not with the
/// claimed length.
fn read_up_to(source: &mut impl Read, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    source.by_ref().take(length as u64).read_to_end(into).map(|_| ())
}

fn unreadable(error: &io::Error) -> Message {
    message!("bytes that cannot be read ({error})", "字节无法读取（{error}）")
}

fn cut_off() -> Message {
    message!("a frame that is cut off", "帧被截断")
}
