//! Monotonic nanoseconds from a common start.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A reading of both clocks was not interrupted if it took less than this.
const CLOSE_ENOUGH: u64 = 1_000;

/// How far the wall clock is ahead of a [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallOffset {
    /// Wall clock less this clock, in nanoseconds.
    pub ahead: i64,
    /// By how much that may be wrong, either way.
    pub error: u64,
}

/// Counts nanoseconds since it was started, and knows the wall-clock time of that moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    begun: Instant,
    /// Its value when it was started.
    from: u64,
    anchor_unix_ns: u64,
}

impl Clock {
    /// Starts counting now.
    pub fn start() -> Self {
        let mut clock = Self { begun: Instant::now(), from: 0, anchor_unix_ns: 0 };
        clock.anchor_unix_ns = clock.wall_offset().ahead.max(0) as u64;
        clock
    }

    /// Continues the clock of an earlier process that was started at `anchor_unix_ns`: it shows what
    /// that clock would show now, and at least `from`.
    pub fn resume(anchor_unix_ns: u64, from: u64) -> Self {
        let from = unix_ns().saturating_sub(anchor_unix_ns).max(from);
        Self { begun: Instant::now(), from, anchor_unix_ns }
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.from + self.begun.elapsed().as_nanos() as u64
    }

    /// Wall-clock time of the start, in nanoseconds since 1970.
    pub fn anchor_unix_ns(&self) -> u64 {
        self.anchor_unix_ns
    }

    /// How far the wall clock has moved against this one since the start.
    pub fn wall_drift_ns(&self) -> i64 {
        unix_ns() as i64 - (self.anchor_unix_ns + self.now()) as i64
    }

    /// How far the wall clock is ahead of this one now. The reading is repeated if it was
    /// interrupted.
    pub fn wall_offset(&self) -> WallOffset {
        let mut best = self.wall_offset_once();
        for _ in 0..2 {
            if best.error < CLOSE_ENOUGH {
                break;
            }
            let again = self.wall_offset_once();
            if again.error < best.error {
                best = again;
            }
        }
        best
    }

    fn wall_offset_once(&self) -> WallOffset {
        let before = self.now();
        let wall = unix_ns();
        let between = self.now() - before;
        let ahead = wall as i64 - (before + between / 2) as i64;
        WallOffset { ahead, error: between / 2 + 1 }
    }
}

fn unix_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// CPU time that the calling thread has used.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
