//! The work of the writer thread: encodes and writes frames, and survives disk errors.
//!
//! The buffer always starts with a complete frame. When writing fails, the file is truncated to its
//! last complete frame, and everything after it stays in the buffer for another attempt; frames that
//! could never be written are returned at the end.

use crate::error::RecordError;
use crate::file::{MAX_FRAME, PREFIX, Prefix, put_frame};
use crate::payload;
use dyno_model::Message;
use dyno_model::frame::Frame;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where the bytes go.
pub(crate) trait Sink: Write + Send {
    /// Truncates the file to `length` bytes; the next write continues there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Waits until everything is on disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file opened for appending.
impl Sink for File {
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The result of a recording.
#[derive(Debug)]
pub struct FinishedFile {
    /// Frames that are in the file.
    pub frames_written: u64,
    /// Frames that could not be written, in order, so that they can still be reported.
    pub unwritten: Vec<Frame>,
    /// Requests that fitted neither on disk nor in memory.
    pub lost: u64,
    /// The error, if the writer did not recover from it.
    pub error: Option<RecordError>,
    /// Holds the lock that marks the run as being written: keep it until the summary is saved.
    pub held: Option<File>,
}

/// The position of an ongoing recording.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenFile {
    /// Length of the file up to its last complete frame.
    pub length: u64,
    /// The frames after that, which are not on disk yet.
    pub rest: Vec<Frame>,
}

/// The current problem, for the user.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    raised: AtomicBool,
    losing: AtomicBool,
    message: Mutex<Option<Message>>,
}

impl Trouble {
    pub(crate) fn message(&self) -> Option<Message> {
        if !self.raised.load(Ordering::Acquire) {
            return None;
        }
        self.message.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Memory is full, too: records are being lost.
    pub(crate) fn is_losing(&self) -> bool {
        self.losing.load(Ordering::Acquire)
    }

    fn set(&self, message: Option<Message>) {
        let raised = message.is_some();
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = message;
        self.raised.store(raised, Ordering::Release);
    }
}

/// Limits on buffering and retries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteLimits {
    /// Bytes to buffer before writing.
    pub(crate) buffer: usize,
    /// Bytes to keep in memory while the disk fails.
    pub(crate) kept: usize,
    /// Largest payload.
    pub(crate) frame: usize,
    /// Pause between attempts after a failure.
    pub(crate) retry: Duration,
}

impl Default for WriteLimits {
    fn default() -> Self {
        Self { buffer: 256 << 10, kept: 64 << 20, frame: MAX_FRAME, retry: Duration::from_secs(1) }
    }
}

pub(crate) struct Writer<S> {
    sink: S,
    path: PathBuf,
    limits: WriteLimits,
    trouble: Arc<Trouble>,
    /// Complete frames that are not all in the file.
    buffer: Vec<u8>,
    /// How much of the buffer is already in the file, beyond `file_length`.
    accepted: usize,
    /// Length of the file up to its last complete frame.
    file_length: u64,
    written: u64,
    lost: u64,
    sync_due: bool,
    failed: Option<(io::Error, Instant)>,
    too_large: Option<RecordError>,
}

impl<S: Sink> Writer<S> {
    /// Continues a file of `file_length` bytes.
    pub(crate) fn new(
        sink: S,
        path: PathBuf,
        file_length: u64,
        limits: WriteLimits,
        trouble: Arc<Trouble>,
    ) -> Self {
        Self {
            sink,
            path,
            limits,
            trouble,
            buffer: Vec::new(),
            accepted: 0,
            file_length,
            written: 0,
            lost: 0,
            sync_due: false,
            failed: None,
            too_large: None,
        }
    }

    /// Adds a frame to the buffer, and writes if that is full.
    pub(crate) fn add(&mut self, frame: Frame) {
        let before = self.buffer.len();
        if !put_frame(&mut self.buffer, self.limits.frame, &frame) {
            self.add_without_text(frame);
            return;
        }
        let is_request = matches!(frame, Frame::Request(_));
        if is_request && self.failed.is_some() && self.buffer.len() > self.limits.kept {
            self.buffer.truncate(before);
            self.lost += 1;
            self.trouble.losing.store(true, Ordering::Release);
            return;
        }
        self.sync_due |= matches!(frame, Frame::LevelEnd(_) | Frame::RunEnd(_));
        if self.buffer.len() >= self.limits.buffer {
            self.flush();
        }
    }

    /// Keeps the measurements of a request whose text is too large.
    fn add_without_text(&mut self, frame: Frame) {
        if let Frame::Request(mut record) = frame {
            self.too_large = Some(RecordError::TooLarge {
                path: self.path.clone(),
                level: record.level,
                index: record.index,
            });
            if record.text.take().is_some() {
                return self.add(Frame::Request(record));
            }
        }
        self.lost += 1;
    }

    /// Writes the buffer, unless the last attempt failed a moment ago.
    pub(crate) fn flush(&mut self) {
        let too_early =
            self.failed.as_ref().is_some_and(|(_, at)| at.elapsed() < self.limits.retry);
        if !too_early {
            self.try_flush();
        }
    }

    fn try_flush(&mut self) {
        let result = self.write_buffer().and_then(|()| self.sync_if_due());
        if let Err(error) = result {
            let message = Message::of(self.write_error(copy_of(&error)));
            self.trouble.set(Some(message));
            self.failed = Some((error, Instant::now()));
        } else if self.failed.take().is_some() {
            self.buffer.shrink_to(self.limits.buffer);
            self.trouble.set(self.lost_error().map(Message::of));
        }
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        while self.accepted < self.buffer.len() {
            match self.sink.write(&self.buffer[self.accepted..]) {
                Ok(0) => return self.keep_the_rest(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.accepted += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.keep_the_rest(error),
            }
        }
        self.settle(self.buffer.len());
        Ok(())
    }

    /// Counts the complete frames in the file as written, and truncates the file after them. If even
    /// that fails, the next attempt continues in mid-frame, which gives the same file.
    fn keep_the_rest(&mut self, error: io::Error) -> io::Result<()> {
        let mut whole = 0;
        while let Some((_, next)) = frame_at(&self.buffer, whole) {
            if next > self.accepted {
                break;
            }
            whole = next;
        }
        self.settle(whole);
        if self.accepted > 0 && self.sink.truncate(self.file_length).is_ok() {
            self.accepted = 0;
        }
        Err(error)
    }

    /// Removes the first `whole` bytes from the buffer, which are complete frames in the file.
    fn settle(&mut self, whole: usize) {
        self.written += frames_in(&self.buffer[..whole]).count() as u64;
        self.buffer.drain(..whole);
        self.accepted -= whole;
        self.file_length += whole as u64;
    }

    fn sync_if_due(&mut self) -> io::Result<()> {
        if self.sync_due {
            self.sink.sync()?;
            self.sync_due = false;
        }
        Ok(())
    }

    /// What is in the file, and what is not.
    pub(crate) fn account(&self) -> WrittenFile {
        let decoded = |payload| payload::decode(payload).ok().flatten();
        let rest = frames_in(&self.buffer).filter_map(decoded).collect();
        WrittenFile { length: self.file_length, rest }
    }

    /// Makes a last attempt, and returns the result.
    pub(crate) fn finish(mut self) -> FinishedFile {
        self.sync_due = true;
        self.try_flush();
        let unwritten = self.account().rest;
        let lost_error = self.lost_error();
        let error = match self.failed.take() {
            Some((source, _)) => Some(self.write_error(source)),
            None => lost_error.or(self.too_large),
        };
        FinishedFile { frames_written: self.written, unwritten, lost: self.lost, error, held: None }
    }

    fn lost_error(&self) -> Option<RecordError> {
        let lost = self.lost;
        (lost > 0).then(|| RecordError::Lost { path: self.path.clone(), lost })
    }

    fn write_error(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }
}

/// The payload of the frame that starts at `start`, and where the next one starts.
fn frame_at(buffer: &[u8], start: usize) -> Option<(&[u8], usize)> {
    let (prefix, rest) = buffer.get(start..)?.split_first_chunk::<PREFIX>()?;
    let length = Prefix::from_bytes(*prefix).length as usize;
    Some((rest.get(..length)?, start + PREFIX + length))
}

fn frames_in(buffer: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let (payload, next) = frame_at(buffer, start)?;
        start = next;
        Some(payload)
    })
}

fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests;
