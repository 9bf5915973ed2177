//! What the client sees of itself: whether it was late, and why.

use dyno_model::frame::ClientHealth;
use dyno_model::lag::LagHistogram;
use dyno_model::{MS, Nanos};
use dyno_net::{Clock, thread_cpu_ns};

const TICK: Nanos = 10 * MS;
/// The loop stood still if it was away for longer.
const STALL: Nanos = 2 * MS;

/// Lags since the last time they were taken.
#[derive(Debug)]
pub(super) struct Health {
    read_delay: LagHistogram,
    timer_lag: LagHistogram,
    missed_ticks: u64,
    unstamped_reads: u64,
    blind: Nanos,
    longest_stall: Nanos,
    /// When the last poll returned.
    polled: Nanos,
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
            read_delay: LagHistogram::default(),
            timer_lag: LagHistogram::default(),
            missed_ticks: 0,
            unstamped_reads: 0,
            blind: 0,
            longest_stall: 0,
            polled: since,
            out_of_files: 0,
            out_of_ports: 0,
            tick: since + TICK,
            heard: since,
            since,
            cpu: thread_cpu_ns(),
            drift: clock.wall_drift_ns(),
        }
    }

    /// A socket read ended at `read` with what had come at `came`.
    pub(super) fn on_read(&mut self, came: Nanos, read: Nanos, stamped: bool) {
        if stamped {
            self.read_delay.record(read.saturating_sub(came));
        } else {
            self.unstamped_reads += 1;
        }
        self.heard = read;
    }

    /// The poll that was entered at `entered` to wait until `deadline` has returned.
    pub(super) fn on_poll(&mut self, entered: Nanos, deadline: Nanos, now: Nanos) {
        // Away from the last poll's return to this one's entry, and while it overslept.
        let away = entered.saturating_sub(self.polled) + now.saturating_sub(deadline.max(entered));
        if away > STALL {
            self.blind += away;
            self.longest_stall = self.longest_stall.max(away);
        }
        self.polled = now;
        // Each tick counts by itself: a stall of 300 ms is 30 of them, not one.
        while now >= self.tick {
            let late = now - self.tick;
            self.timer_lag.record(late);
            self.missed_ticks += u64::from(late >= TICK);
            self.tick += TICK;
        }
    }

    /// What was seen since the last call.
    pub(super) fn take(&mut self, clock: &Clock) -> ClientHealth {
        let old = std::mem::replace(self, Self::new(clock));
        ClientHealth {
            read_lag: LagHistogram::default(),
            read_delay: old.read_delay,
            timer_lag: old.timer_lag,
            missed_ticks: old.missed_ticks,
            unstamped_reads: old.unstamped_reads,
            blind_ns: old.blind,
            longest_stall_ns: old.longest_stall,
            // The driver's to say.
            awaited_prompts_ns: 0,
            awaited_records_ns: 0,
            cpu_ns: self.cpu.saturating_sub(old.cpu),
            wall_ns: self.since.saturating_sub(old.since),
            out_of_files: old.out_of_files,
            out_of_ports: old.out_of_ports,
            clock_step_ns: self.drift - old.drift,
        }
    }
}
