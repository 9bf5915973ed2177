//! The queue between the driver and the writer thread: bounded by count and by memory, and
//! cheap for the sender.
//!
//! The writer checks it at every tick, so a sender wakes it only when the queue fills up early: the
//! usual cost of sending is an uncontended lock and a push.

use crate::writer::WrittenFile;
use dyno_model::Message;
use dyno_model::frame::Frame;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The capacity of the queue, in addition to the batch that the writer is processing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueLimits {
    pub(crate) frames: usize,
    pub(crate) bytes: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { frames: 4096, bytes: 16 << 20 }
    }
}

#[derive(Default)]
struct State {
    frames: Vec<Frame>,
    bytes: usize,
    /// Number of senders waiting for room.
    blocked: usize,
    /// Callers of [`Queue::ask`], and those to be answered after the current batch.
    asking: Vec<Sender<WrittenFile>>,
    due: Vec<Sender<WrittenFile>>,
    /// The writer has been woken and has not run yet.
    woken: bool,
    closed: bool,
}

pub(crate) struct Queue {
    state: Mutex<State>,
    limits: QueueLimits,
    work: Condvar,
    room: Condvar,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self { state: Mutex::default(), limits, work: Condvar::new(), room: Condvar::new() }
    }

    /// Appends a frame, waiting for room if the queue is full. After [`Queue::close`], frames are
    /// dropped.
    pub(crate) fn push(&self, frame: Frame) {
        let size = memory_of(&frame);
        let mut state = self.lock();
        while !state.closed && self.is_full(&state, size) {
            state.blocked += 1;
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.blocked -= 1;
        }
        if state.closed {
            return;
        }
        state.frames.push(frame);
        state.bytes += size;
        let filling_up =
            state.frames.len() * 4 >= self.limits.frames || state.bytes * 4 >= self.limits.bytes;
        if filling_up && !state.woken {
            state.woken = true;
            drop(state);
            self.work.notify_one();
        }
    }

    /// Wakes the writer, which answers once it has processed all frames pushed before; there is no
    /// answer after [`Queue::close`].
    pub(crate) fn ask(&self) -> Receiver<WrittenFile> {
        let (asking, answer) = channel();
        let mut state = self.lock();
        if !state.closed {
            state.asking.push(asking);
            state.woken = true;
            self.work.notify_one();
        }
        answer
    }

    /// The callers to answer after the current batch.
    pub(crate) fn due(&self) -> Vec<Sender<WrittenFile>> {
        std::mem::take(&mut self.lock().due)
    }

    /// Moves all waiting frames into `batch`, which is empty, after `tick` or earlier if the
    /// queue fills up; false once the queue is closed and this was the last of it.
    pub(crate) fn take(&self, batch: &mut Vec<Frame>, tick: Duration) -> bool {
        let state = self.lock();
        let (mut state, _) = self
            .work
            .wait_timeout_while(state, tick, |state| !state.woken && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut state.frames, batch);
        let asking = std::mem::take(&mut state.asking);
        state.due.extend(asking);
        state.bytes = 0;
        state.woken = false;
        let open = !state.closed;
        let blocked = state.blocked > 0;
        drop(state);
        if blocked {
            self.room.notify_all();
        }
        open
    }

    /// Accepts no more frames and questions; waiting frames can still be taken.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.asking.clear();
        state.due.clear();
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
    }

    /// An empty queue accepts any frame, because one above the limit would wait forever.
    fn is_full(&self, state: &State, size: usize) -> bool {
        !state.frames.is_empty()
            && (state.frames.len() >= self.limits.frames || state.bytes + size > self.limits.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn blocked(&self) -> usize {
        self.lock().blocked
    }
}

/// The approximate memory of a frame.
fn memory_of(frame: &Frame) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match frame {
        Frame::Request(record) => {
            size_of_val(frame)
                + size_of_val(&**record)
                + record.chunks.bytes().len()
                + size_of_val(record.chunks.odd())
                + size_of_val(record.chunks.loose())
                + text(&record.finish_reason)
                + record.detail.iter().flat_map(Message::texts).map(str::len).sum::<usize>()
                + text(&record.text)
        }
        Frame::LevelEnd(_) => 16 << 10,
        Frame::LevelChosen(_) => 4 << 10,
        Frame::LevelStart(_) | Frame::Server(_) | Frame::RunEnd(_) => size_of_val(frame),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::frame::LevelStart;
    use dyno_model::record::{Phase, RequestRecord};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Instant;

    fn frame(level: u32) -> Frame {
        Frame::LevelStart(LevelStart { level, started: 0 })
    }

    fn wait_until_blocked(queue: &Queue) {
        let given_up = Instant::now() + Duration::from_secs(20);
        while queue.blocked() == 0 {
            assert!(Instant::now() < given_up, "no sender ever waited");
            thread::yield_now();
        }
    }

    #[test]
    fn a_full_queue_blocks_and_keeps_the_order() {
        let queue = Queue::new(QueueLimits { frames: 4, bytes: 1 << 20 });
        let pushed = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                for level in 0..8 {
                    queue.push(frame(level));
                    pushed.fetch_add(1, Ordering::SeqCst);
                }
            });
            wait_until_blocked(&queue);
            assert_eq!(pushed.load(Ordering::SeqCst), 4);
            let mut batch = Vec::new();
            assert!(queue.take(&mut batch, Duration::ZERO));
            assert_eq!(batch, (0..4).map(frame).collect::<Vec<_>>());
        });
        let mut batch = Vec::new();
        queue.close();
        assert!(!queue.take(&mut batch, Duration::from_secs(60)));
        assert_eq!(batch, (4..8).map(frame).collect::<Vec<_>>());
    }

    #[test]
    fn memory_is_bounded_too_and_a_huge_frame_still_passes() {
        let with_text = |bytes: usize| {
            let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
            record.text = Some("x".repeat(bytes));
            Frame::Request(Box::new(record))
        };
        let queue = Queue::new(QueueLimits { frames: 1000, bytes: 10_000 });
        queue.push(with_text(1_000_000));
        thread::scope(|scope| {
            scope.spawn(|| queue.push(with_text(10)));
            wait_until_blocked(&queue);
            let mut batch = Vec::new();
            queue.take(&mut batch, Duration::ZERO);
            assert_eq!(batch.len(), 1);
        });
    }

    #[test]
    fn closing_lets_a_blocked_sender_go() {
        let queue = Queue::new(QueueLimits { frames: 1, bytes: 1 << 20 });
        queue.push(frame(0));
        thread::scope(|scope| {
            scope.spawn(|| queue.push(frame(1)));
            wait_until_blocked(&queue);
            queue.close();
        });
    }
}
