//! The client's measurements of its own delays: whether it was late, and why.

use dyno_model::frame::ClientHealth;
use dyno_model::lag::DelayHistogram;
use dyno_model::{MS, Nanos};
use dyno_net::{Clock, thread_cpu_ns};

const TICK: Nanos = 10 * MS;
/// The loop has stalled if it did not poll for longer.
const STALL: Nanos = 2 * MS;

/// Delays since they were last taken.
#[derive(Debug)]
pub(super) struct Health {
    read_delay: DelayHistogram,
    timer_lag: DelayHistogram,
    missed_ticks: u64,
    unstamped_reads: u64,
    blind: Nanos,
    longest_stall: Nanos,
    /// When the last poll returned.
    polled: Nanos,
    pub(super) out_of_files: u64,
    pub(super) out_of_ports: u64,
    pub(super) unasked: u64,
    /// When the 10 ms timer is due.
    pub(super) tick: Nanos,
    /// When data last arrived.
    pub(super) heard: Nanos,
    since: Nanos,
    cpu: u64,
    drift: i64,
}

impl Health {
    pub(super) fn new(clock: &Clock) -> Self {
        let since = clock.now();
        Self {
            read_delay: DelayHistogram::default(),
            timer_lag: DelayHistogram::default(),
            missed_ticks: 0,
            unstamped_reads: 0,
            blind: 0,
            longest_stall: 0,
            polled: since,
            out_of_files: 0,
            out_of_ports: 0,
            unasked: 0,
            tick: since + TICK,
            heard: since,
            since,
            cpu: thread_cpu_ns(),
            drift: clock.wall_drift_ns(),
        }
    }

    /// A socket read ended at `read`, with data that arrived at `came`.
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
        // From the return of the last poll to the entry of this one, and past its deadline.
        let away = entered.saturating_sub(self.polled) + now.saturating_sub(deadline.max(entered));
        if away > STALL {
            self.blind += away;
            self.longest_stall = self.longest_stall.max(away);
        }
        self.polled = now;
        // Each tick is counted: a stall of 300 ms is 30 late ticks, not one.
        while now >= self.tick {
            let late = now - self.tick;
            self.timer_lag.record(late);
            self.missed_ticks += u64::from(late >= TICK);
            self.tick += TICK;
        }
    }

    /// The measurements since the last call.
    pub(super) fn take(&mut self, clock: &Clock) -> ClientHealth {
        let old = std::mem::replace(self, Self::new(clock));
        ClientHealth {
            read_lag: DelayHistogram::default(),
            read_delay: old.read_delay,
            timer_lag: old.timer_lag,
            missed_ticks: old.missed_ticks,
            unstamped_reads: old.unstamped_reads,
            blind_ns: old.blind,
            longest_stall_ns: old.longest_stall,
            // Filled in by the driver.
            awaited_prompts_ns: 0,
            awaited_records_ns: 0,
            paused_ns: 0,
            pauses: 0,
            behind_ns: 0,
            skipped_idle_ns: 0,
            cpu_ns: self.cpu.saturating_sub(old.cpu),
            wall_ns: self.since.saturating_sub(old.since),
            out_of_files: old.out_of_files,
            out_of_ports: old.out_of_ports,
            unasked: old.unasked,
            clock_step_ns: self.drift - old.drift,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1_000;

    /// The measurements of a loop that polls every millisecond for half a second, and at `at` returns
    /// too late by so much.
    fn stalled(at: Nanos, late: Nanos) -> ClientHealth {
        let clock = Clock::start();
        let mut health = Health::new(&clock);
        let begun = health.polled;
        let end = begun + 500 * MS;
        let mut now = begun;
        while now < end {
            let deadline = now + MS;
            let back = if now - begun == at { deadline + late } else { deadline + 20 * US };
            health.on_poll(now, deadline, back);
            // The next poll is entered at once, on the next millisecond.
            now = begun + (back - begun).next_multiple_of(MS);
        }
        health.take(&clock)
    }

    #[test]
    fn a_loop_that_is_never_away_is_not_blind() {
        let health = stalled(Nanos::MAX, 0);
        assert_eq!((health.blind_ns, health.longest_stall_ns, health.missed_ticks), (0, 0, 0));
        assert!(health.timer_lag.count() >= 49, "{}", health.timer_lag.count());
    }

    #[test]
    fn a_stall_is_as_many_missed_ticks_as_it_has() {
        let health = stalled(100 * MS, 300 * MS);
        assert!((300 * MS..302 * MS).contains(&health.blind_ns), "{}", health.blind_ns);
        assert_eq!(health.longest_stall_ns, health.blind_ns);
        assert!((28..=30).contains(&health.missed_ticks), "{}", health.missed_ticks);
        // One sample for each tick, late or not: the stall is most of them.
        assert!(health.timer_lag.count() >= 49, "{}", health.timer_lag.count());
        let median = health.timer_lag.quantile(0.5).unwrap();
        assert!(median > 20 * MS, "{median}");
    }

    #[test]
    fn what_is_done_between_two_polls_counts_as_well() {
        let clock = Clock::start();
        let mut health = Health::new(&clock);
        let begun = health.polled;
        health.on_poll(begun, begun + MS, begun + MS);
        // Fifty milliseconds of work, then a poll that returns at once.
        health.on_poll(begun + 51 * MS, begun + 52 * MS, begun + 51 * MS + 10 * US);
        let seen = health.take(&clock);
        assert_eq!((seen.blind_ns, seen.longest_stall_ns), (50 * MS, 50 * MS));
        assert_eq!(seen.missed_ticks, 4);
    }

    #[test]
    fn reads_are_counted_by_whether_the_kernel_stamped_them() {
        let clock = Clock::start();
        let mut health = Health::new(&clock);
        health.on_read(MS, 3 * MS, true);
        health.on_read(MS, 4 * MS, false);
        assert_eq!(health.heard, 4 * MS);
        let seen = health.take(&clock);
        assert_eq!((seen.read_delay.count(), seen.unstamped_reads), (1, 1));
        assert!(seen.read_delay.max().unwrap() >= 2 * MS);
        assert_eq!(health.take(&clock).unstamped_reads, 0, "taken is taken");
    }
}
