//! The counters of a run in progress. Writers never wait; a reader sees each counter right, and
//! all of them together only roughly.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared between the run, which counts, and the progress thread, which looks.
#[derive(Debug)]
pub(crate) struct Live {
    zero: Instant,
    /// Requests that have ended in this level, in whatever way.
    pub(crate) done: AtomicU64,
    /// Of those, the ones that failed.
    pub(crate) failed: AtomicU64,
    /// Output tokens or events seen in this level.
    pub(crate) tokens: AtomicU64,
    /// Requests in flight.
    pub(crate) in_flight: AtomicU64,
    planned: AtomicU64,
    level: AtomicU64,
    levels: AtomicU64,
    started_ms: AtomicU64,
    /// Milliseconds of sending planned; 0: not bounded by time.
    duration_ms: AtomicU64,
    label: Mutex<String>,
}

/// What the counters said at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) at: Duration,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) tokens: u64,
    pub(crate) in_flight: u64,
    pub(crate) planned: Option<u64>,
    pub(crate) level: u64,
    pub(crate) levels: u64,
    pub(crate) elapsed: Duration,
    pub(crate) duration: Option<Duration>,
    pub(crate) label: String,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            zero: Instant::now(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            planned: AtomicU64::new(0),
            level: AtomicU64::new(0),
            levels: AtomicU64::new(0),
            started_ms: AtomicU64::new(0),
            duration_ms: AtomicU64::new(0),
            label: Mutex::default(),
        }
    }
}

impl Live {
    /// Starts the counters again for level `index` (from 0) of `of`. `planned` and `duration` are
    /// what bounds it, as far as known.
    pub(crate) fn begin_level(
        &self,
        index: usize,
        of: usize,
        label: &str,
        planned: Option<u64>,
        duration: Option<Duration>,
    ) {
        for counter in [&self.done, &self.failed, &self.tokens, &self.in_flight] {
            counter.store(0, Relaxed);
        }
        self.planned.store(planned.unwrap_or(0), Relaxed);
        self.duration_ms.store(duration.map_or(0, ms), Relaxed);
        self.started_ms.store(ms(self.zero.elapsed()), Relaxed);
        label.clone_into(&mut self.label.lock().unwrap_or_else(PoisonError::into_inner));
        self.level.store(index as u64, Relaxed);
        self.levels.store(of as u64, Relaxed);
    }

    /// What the counters say now.
    pub(super) fn look(&self) -> Seen {
        let at = self.zero.elapsed();
        let unless_zero = |value: u64| (value != 0).then_some(value);
        Seen {
            at,
            done: self.done.load(Relaxed),
            failed: self.failed.load(Relaxed),
            tokens: self.tokens.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            planned: unless_zero(self.planned.load(Relaxed)),
            level: self.level.load(Relaxed),
            levels: self.levels.load(Relaxed),
            elapsed: at.saturating_sub(Duration::from_millis(self.started_ms.load(Relaxed))),
            duration: unless_zero(self.duration_ms.load(Relaxed)).map(Duration::from_millis),
            label: self.label.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis() as u64
}
