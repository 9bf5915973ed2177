//! What the client sees of itself: whether it was late, and why.

use dyno_model::frame::ClientHealth;
use dyno_model::lag::LagHistogram;
use dyno_model::{MS, Nanos};
use dyno_net::{Clock, thread_cpu_ns};

const TICK: Nanos = 10 * MS;

/// Lags since the last time they were taken.
#[derive(Debug)]
pub(super) struct Health {
    read_lag: LagHistogram,
    timer_lag: LagHistogram,
    pub(super) out_of_files: u64,
    pub(super) out_of_ports: u64,
    /// When the 10 ms timer is due.
    pub(super) tick: Nanos,
    /// When a socket last gave something.
    pub(super) heard: Nanos,
    since: Nanos,
    cpu: u64,
    drift: i64,
}

impl Health {
    pub(super) fn new(clock: &Clock) -> Self {
        let since = clock.now();
        Self {
            read_lag: LagHistogram::default(),
            timer_lag: LagHistogram::default(),
            out_of_files: 0,
            out_of_ports: 0,
            tick: since + TICK,
            heard: since,
            since,
            cpu: thread_cpu_ns(),
            drift: clock.wall_drift_ns(),
        }
    }

    /// A socket read returned at `at`, in a turn whose poll returned at `polled`.
    pub(super) fn on_read(&mut self, polled: Nanos, at: Nanos) {
        self.read_lag.record(at.saturating_sub(polled));
        self.heard = at;
    }

    /// The poll returned.
    pub(super) fn on_poll(&mut self, now: Nanos) {
        if now >= self.tick {
            self.timer_lag.record(now - self.tick);
            self.tick = now + TICK;
        }
    }

    /// What was seen since the last call.
    pub(super) fn take(&mut self, clock: &Clock) -> ClientHealth {
        let old = std::mem::replace(self, Self::new(clock));
        ClientHealth {
            read_lag: old.read_lag,
            timer_lag: old.timer_lag,
            cpu_ns: self.cpu.saturating_sub(old.cpu),
            wall_ns: self.since.saturating_sub(old.since),
            out_of_files: old.out_of_files,
            out_of_ports: old.out_of_ports,
            clock_step_ns: self.drift - old.drift,
        }
    }
}
