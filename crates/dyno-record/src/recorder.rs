//! The recorder: a thread that writes the records during the run.

use crate::dir::{RECORDS, RunDir, failed};
use crate::error::{Doing, RecordError};
use crate::file::opening;
use crate::parts;
use crate::queue::{Queue, QueueLimits};
use crate::writer::{FinishedFile, Sink, Trouble, WriteLimits, Writer, WrittenFile};
use dyno_model::Message;
use dyno_model::frame::{Frame, RunHeader};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the writer checks its queue, so that a record is in the file within 100 ms.
const TICK: Duration = Duration::from_millis(50);

/// For tests: the writer sleeps for this many milliseconds before each batch, with a queue of one
/// frame, so that the sender has to wait for it.
const STALL_FOR_TESTS: &str = "DYNO_TEST_RECORD_STALL_MS";

/// Writes frames to a run's record file, on a separate thread.
pub struct Recorder {
    queue: Arc<Queue>,
    trouble: Arc<Trouble>,
    path: PathBuf,
    thread: Option<JoinHandle<FinishedFile>>,
    /// The file again, with the same lock, which outlives the writer's.
    held: Option<File>,
}

impl Recorder {
    /// Creates the record file and writes its header. If that fails, nothing can be recorded and no
    /// request should be sent. [`RunHeader::format`] is set to the format written.
    pub fn start(dir: &RunDir, header: RunHeader) -> Result<Self, RecordError> {
        Self::start_described(dir, header, || Ok(()))
    }

    /// The same; `describe` saves what belongs to the records, once this run has the directory and before they
    /// begin, so that records without it are never found.
    pub fn start_described(
        dir: &RunDir,
        header: RunHeader,
        describe: impl FnOnce() -> Result<(), RecordError>,
    ) -> Result<Self, RecordError> {
        let path = dir.path().join(RECORDS);
        let opening =
            opening(&header).map_err(|source| RecordError::Json { path: path.clone(), source })?;
        let mut file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(failed(Doing::Create, &path))?;
        // Marks the run as being written. A file system without locks must not stop it.
        lock(&file);
        let held = file.try_clone().ok();
        describe()?;
        std::io::Write::write_all(&mut file, &opening)
            .map_err(|source| RecordError::Write { path: path.clone(), source })?;
        let length = opening.len() as u64;
        let mut recorder =
            Self::with(file, path, length, WriteLimits::default(), QueueLimits::default())?;
        recorder.held = held;
        Ok(recorder)
    }

    /// Continues the record file of an interrupted run, after its last complete frame. Takes over what its
    /// agents have kept, as the records of a level that is incomplete, and removes it there.
    pub fn resume(dir: &RunDir) -> Result<Self, RecordError> {
        let path = dir.path().join(RECORDS);
        let file =
            OpenOptions::new().append(true).open(&path).map_err(failed(Doing::Open, &path))?;
        if !lock(&file) {
            return Err(RecordError::InUse(dir.path().to_owned()));
        }
        let parts = dir.parts();
        parts::wait_for(&parts)?;
        let mut records = dir.all_records()?;
        records.skip_own();
        let length = records.own().whole();
        file.set_len(length).map_err(failed(Doing::Truncate, &path))?;
        let held = file.try_clone().ok();
        let mut recorder =
            Self::with(file, path, length, WriteLimits::default(), QueueLimits::default())?;
        recorder.held = held;
        records.for_each(|frame| recorder.send(frame));
        // What the disk does not take stays where it is.
        if recorder.written().is_some_and(|written| written.rest.is_empty()) {
            parts::remove(&parts)?;
        }
        Ok(recorder)
    }

    pub(crate) fn with(
        sink: impl Sink + 'static,
        path: PathBuf,
        length: u64,
        limits: WriteLimits,
        queue: QueueLimits,
    ) -> Result<Self, RecordError> {
        let stall = std::env::var(STALL_FOR_TESTS).ok().and_then(|ms| ms.parse().ok());
        let stall = stall.map(Duration::from_millis);
        let queue = if stall.is_some() { QueueLimits { frames: 1, ..queue } } else { queue };
        let queue = Arc::new(Queue::new(queue));
        let trouble = Arc::new(Trouble::default());
        let mut writer = Writer::new(sink, path.clone(), length, limits, Arc::clone(&trouble));
        let source = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("dyno-records".into())
            .spawn(move || {
                let source = CloseOnExit(source);
                let mut batch = Vec::new();
                loop {
                    stall.into_iter().for_each(thread::sleep);
                    let open = source.0.take(&mut batch, TICK);
                    batch.drain(..).for_each(|frame| writer.add(frame));
                    if !open {
                        return writer.finish();
                    }
                    writer.flush();
                    // A caller that is gone does not need the answer.
                    source.0.due().iter().for_each(|asked| drop(asked.send(writer.account())));
                }
            })
            .map_err(failed(Doing::StartItsWriter, &path))?;
        Ok(Self { queue, trouble, path, thread: Some(thread), held: None })
    }

    /// Passes a frame to the writer. Waits only when the queue is full, that is, when the disk cannot
    /// keep up; a disk that fails does not make it wait.
    pub fn send(&self, frame: Frame) {
        self.queue.push(frame);
    }

    /// Passes frames to the writer from another thread.
    pub fn sender(&self) -> impl Fn(Frame) + Send + 'static {
        let queue = Arc::clone(&self.queue);
        move |frame| queue.push(frame)
    }

    /// Waits until the writer has processed all frames, and returns its position; nothing if the
    /// writer is gone.
    pub fn written(&self) -> Option<WrittenFile> {
        self.queue.ask().recv().ok()
    }

    /// The current problem with writing, and what to do about it.
    pub fn trouble(&self) -> Option<Message> {
        self.trouble.message()
    }

    /// Whether disk and memory are both full, so that records are being lost.
    pub fn is_losing(&self) -> bool {
        self.trouble.is_losing()
    }

    /// Writes the remaining frames, waits for the disk, and returns the result.
    pub fn finish(mut self) -> FinishedFile {
        self.queue.close();
        let finished = self.thread.take().and_then(|thread| thread.join().ok());
        let finished = finished.unwrap_or_else(|| FinishedFile {
            frames_written: 0,
            unwritten: Vec::new(),
            lost: 0,
            error: Some(RecordError::WriterCrashed(self.path.clone())),
            held: None,
        });
        FinishedFile { held: self.held.take(), ..finished }
    }
}

/// A recorder that is dropped because of an error still writes its frames.
impl Drop for Recorder {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes the lock that marks a run as being written; `false` if another process holds it. Errors of
/// file systems without locks are ignored. `list_runs` holds the lock for a moment, so it is tried
/// several times.
fn lock(file: &File) -> bool {
    for _ in 0..10 {
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return true;
        }
        thread::sleep(TICK);
    }
    false
}

/// However the writer thread ends, no sender must wait for it.
struct CloseOnExit(Arc<Queue>);

impl Drop for CloseOnExit {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests;
