//! Monotonic nanoseconds from a common start.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Counts nanoseconds since it was started, and knows the wall-clock time of that moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: Instant,
    anchor_unix_ns: u64,
}

impl Clock {
    /// Starts counting now.
    pub fn start() -> Self {
        Self { zero: Instant::now(), anchor_unix_ns: unix_ns() }
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> u64 {
        self.zero.elapsed().as_nanos() as u64
    }

    /// Wall-clock time of the start, in nanoseconds since 1970.
    pub fn anchor_unix_ns(&self) -> u64 {
        self.anchor_unix_ns
    }

    /// How far the wall clock has moved against this one since the start.
    pub fn wall_drift_ns(&self) -> i64 {
        unix_ns() as i64 - (self.anchor_unix_ns + self.now()) as i64
    }

    /// The instant that [`Clock::now`] would give as `at`.
    pub fn instant(&self, at: u64) -> Instant {
        self.zero + Duration::from_nanos(at)
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
