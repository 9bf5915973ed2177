//! Prepares requests ahead of time on a separate thread, bounded in number and in bytes, so that the
//! driver's thread never waits for it and memory does not grow with the run.

use crate::transport::Body;
use crate::trees::TreeMaker;
use crate::work::{Prepare, Sending, Supply, Work};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

const MAX_BYTES: usize = 32 << 20;

struct Queue<B> {
    ready: VecDeque<Work<B>>,
    bytes: usize,
    /// The producer has finished, or has panicked.
    finished: bool,
    /// The consumer is gone.
    closed: bool,
    /// The producer waits for room.
    maker_waits: bool,
}

struct Shared<B> {
    queue: Mutex<Queue<B>>,
    room: Condvar,
    filled: Condvar,
}

impl<B> Shared<B> {
    fn new() -> Self {
        let ready = VecDeque::new();
        let queue = Queue { ready, bytes: 0, finished: false, closed: false, maker_waits: false };
        Self { queue: Mutex::new(queue), room: Condvar::new(), filled: Condvar::new() }
    }
}

fn lock<B>(shared: &Shared<B>) -> MutexGuard<'_, Queue<B>> {
    shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver's end of the queue.
pub struct Lookahead<B> {
    shared: Arc<Shared<B>>,
    thread: Option<JoinHandle<()>>,
    max_items: usize,
}

impl<B> std::fmt::Debug for Lookahead<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookahead").field("max_items", &self.max_items).finish_non_exhaustive()
    }
}

/// Marks the queue as finished even when preparing a payload panics, so that nobody waits forever.
struct FinishOnDrop<B>(Arc<Shared<B>>);

impl<B> Drop for FinishOnDrop<B> {
    fn drop(&mut self) {
        lock(&self.0).finished = true;
        self.0.filled.notify_all();
    }
}

impl<B: Body> Lookahead<B> {
    /// Starts preparing what `items` gives for 0, 1, 2 …, until it gives none, at most `max_items`
    /// ahead of the driver.
    pub fn prepare(
        max_items: usize,
        mut items: impl FnMut(u64) -> Option<Sending> + Send + 'static,
        prepare: impl Prepare<Body = B>,
    ) -> std::io::Result<Self> {
        let prepare = Arc::new(prepare);
        let mut trees = TreeMaker::new(Arc::clone(&prepare));
        Self::start(max_items, move |index| match items(index)? {
            Sending::Single(item, output) => Some(prepare.single(&item, output).into()),
            Sending::Conversation(conversation) => {
                prepare.conversation(&conversation).map(Work::Turns)
            }
            Sending::Tree(prompts) => Some(Work::Turns(trees.turns(prompts))),
        })
    }

    /// The same for work that is prepared by any closure.
    pub fn start<W: Into<Work<B>>>(
        max_items: usize,
        mut make: impl FnMut(u64) -> Option<W> + Send + 'static,
    ) -> std::io::Result<Self> {
        let max_items = max_items.max(1);
        let shared = Arc::new(Shared::new());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("dyno-encode".into()).spawn(move || {
            let finish = FinishOnDrop(theirs);
            for index in 0.. {
                let Some(work) = make(index) else { return };
                let work: Work<B> = work.into();
                let size = work.size();
                let mut queue = lock(&finish.0);
                while !queue.closed
                    && !queue.ready.is_empty()
                    && (queue.ready.len() >= max_items || queue.bytes + size > MAX_BYTES)
                {
                    queue.maker_waits = true;
                    queue = finish.0.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                queue.maker_waits = false;
                if queue.closed {
                    return;
                }
                queue.bytes += size;
                queue.ready.push_back(work);
                // The consumer waits only when it found the queue empty, or for it to fill up.
                if queue.ready.len() == 1 || queue.ready.len() >= max_items {
                    finish.0.filled.notify_all();
                }
            }
        })?;
        Ok(Self { shared, thread: Some(thread), max_items })
    }
}

impl<B: Body> Supply<B> for Lookahead<B> {
    fn fill(&self, wanted: usize) {
        let wanted = wanted.min(self.max_items);
        let mut queue = lock(&self.shared);
        while queue.ready.len() < wanted && !queue.finished && queue.bytes < MAX_BYTES / 2 {
            let (guard, _) = self
                .shared
                .filled
                .wait_timeout(queue, std::time::Duration::from_millis(2))
                .unwrap_or_else(PoisonError::into_inner);
            queue = guard;
        }
    }

    fn take(&mut self) -> Option<Work<B>> {
        let mut queue = lock(&self.shared);
        loop {
            if let Some(work) = queue.ready.pop_front() {
                queue.bytes -= work.size();
                // Wake the producer once for many: a context switch per request would cost more than the work.
                let low = queue.ready.len() <= self.max_items / 2 && queue.bytes <= MAX_BYTES / 2;
                if low && std::mem::take(&mut queue.maker_waits) {
                    self.shared.room.notify_one();
                }
                return Some(work);
            }
            if queue.finished {
                return None;
            }
            queue = self.shared.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<B> Drop for Lookahead<B> {
    fn drop(&mut self) {
        lock(&self.shared).closed = true;
        self.shared.room.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Payload;

    fn payload(body: Vec<u8>) -> Payload<Vec<u8>> {
        Payload { body, ..Payload::default() }
    }

    fn numbered(index: u64) -> Payload<Vec<u8>> {
        payload(index.to_le_bytes().to_vec())
    }

    fn first(work: Work<Vec<u8>>) -> Payload<Vec<u8>> {
        match work {
            Work::Single(payload) => payload,
            Work::Turns(mut turns) => turns.requests.take(0).unwrap().payload,
        }
    }

    #[test]
    fn payloads_come_in_order_and_end() {
        let mut ahead = Lookahead::start(16, |i| (i < 1000).then(|| numbered(i))).unwrap();
        for index in 0..1000_u64 {
            assert_eq!(first(ahead.take().unwrap()), numbered(index));
        }
        assert!(ahead.take().is_none());
    }

    #[test]
    fn an_endless_source_is_bounded_and_stops_when_dropped() {
        let ahead = Lookahead::start(8, |i| Some(numbered(i))).unwrap();
        ahead.fill(100);
        assert!(lock(&ahead.shared).ready.len() <= 8);
        drop(ahead);
    }

    #[test]
    fn a_source_that_panics_ends_the_queue() {
        let mut ahead = Lookahead::start(4, |i| {
            assert!(i < 2, "no more");
            Some(numbered(i))
        })
        .unwrap();
        assert!(ahead.take().is_some() && ahead.take().is_some());
        assert!(ahead.take().is_none());
    }

    #[test]
    fn large_payloads_are_bounded_by_bytes() {
        let mut ahead = Lookahead::start(1000, |_| Some(payload(vec![0; 10 << 20]))).unwrap();
        ahead.fill(1000);
        assert!(lock(&ahead.shared).bytes <= MAX_BYTES);
        assert_eq!(first(ahead.take().unwrap()).body.len(), 10 << 20);
    }
}
