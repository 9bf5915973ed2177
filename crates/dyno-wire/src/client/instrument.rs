//! When bytes arrived, and how exactly that is known, by the polls, reads and kernel timestamps of the
//! loop. It has no sockets and no clock: all times are passed in.

use dyno_model::Nanos;
use dyno_net::WallOffset;

/// A timestamp is ignored if it is later than its read, or earlier than the socket was known to be
/// empty, by more than this.
const TOLERANCE: Nanos = 20_000;
/// What a thread that wakes from a poll may take until it has read the clock, and a packet until it has woken
/// it, beyond what the scheduler counts as waiting: its own system call, and interrupts.
const WAKING: Nanos = 100_000;
/// How often the wall clock's offset is read.
const OFFSET_EVERY: Nanos = 500_000;
/// The wall clock is slewed by at most this share of the time; a larger change means it was set.
const SLEWED: f64 = 0.001;

/// When the bytes of one read arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalTime {
    /// None of them had arrived before.
    pub after: Nanos,
    /// All of them had arrived by then.
    pub at: Nanos,
    /// How much earlier than `at` the last of them may have arrived.
    pub last_byte_slack: Nanos,
}

impl ArrivalTime {
    /// Bytes whose arrival time is known exactly.
    pub fn exactly(at: Nanos) -> Self {
        Self { after: at, at, last_byte_slack: 0 }
    }

    /// How much earlier than `at` any of them may have arrived.
    pub fn spread(&self) -> Nanos {
        self.at.saturating_sub(self.after)
    }
}

/// What the polls and reads say about one socket.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// The last poll that reported it.
    poll: u64,
    /// When it was last known to be empty.
    empty: Nanos,
}

impl Seen {
    /// The server cannot have sent anything before.
    pub(super) fn empty_at(&mut self, time: Nanos) {
        self.empty = self.empty.max(time);
    }
}

/// The wall clock relative to the loop's clock, in this iteration.
#[derive(Debug, Clone, Copy)]
struct Wall {
    ahead: i64,
    /// By how much a timestamp may be wrong on the loop's clock; absent where the wall clock was set.
    error: Option<Nanos>,
    read: Nanos,
}

/// One read of the loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    /// The clock before it and after it.
    pub(super) before: Nanos,
    pub(super) after: Nanos,
    /// It filled its buffer, so there may have been more.
    pub(super) full: bool,
    /// The kernel's timestamp of the last byte.
    pub(super) stamp: Option<u64>,
}

/// Derives arrival times from polls, reads and timestamps.
#[derive(Debug)]
pub(super) struct Instrument {
    /// The current poll.
    poll: u64,
    entered: Nanos,
    room: bool,
    /// The last poll before it that could report all sockets, and when it was entered.
    complete: (u64, Nanos),
    /// Until then the current poll slept, so that no socket had anything to be read.
    slept_until: Nanos,
    /// Time that the thread had waited for a CPU in all when that was last looked at.
    waited: Option<Nanos>,
    wall: Wall,
}

impl Instrument {
    pub(super) fn new(now: Nanos, offset: WallOffset) -> Self {
        let wall = Wall { ahead: offset.ahead, error: Some(offset.error), read: now };
        Self {
            poll: 1,
            entered: now,
            room: false,
            complete: (0, 0),
            slept_until: 0,
            waited: None,
            wall,
        }
    }

    /// A poll that was entered at `entered` has returned; `room` if it could have reported more
    /// sockets than it did.
    pub(super) fn polled(&mut self, entered: Nanos, room: bool) {
        if self.room {
            self.complete = (self.poll, self.entered);
        }
        self.poll += 1;
        (self.entered, self.room) = (entered, room);
        self.slept_until = 0;
    }

    /// The current poll returned at `polled`, after a sleep of at most until `deadline`; the thread has waited
    /// for a CPU for `waited` in all. The first packet at any socket ends a sleep, and what follows until
    /// the return is time on a CPU or waiting for one. A process that was stopped meanwhile is not counted as
    /// waiting, but returns after its deadline.
    pub(super) fn slept(&mut self, polled: Nanos, deadline: Nanos, waited: Option<Nanos>) {
        let before = std::mem::replace(&mut self.waited, waited);
        let Some((before, waited)) = before.zip(waited) else { return };
        let woken = polled.saturating_sub(waited.saturating_sub(before) + WAKING);
        if woken > self.entered && woken <= deadline {
            self.slept_until = woken;
        }
    }

    /// A read of the current iteration brought bytes with this timestamp: whatever came before a sleep ended
    /// contradicts it.
    pub(super) fn stamp(&mut self, stamp: Option<u64>) {
        let stamped = self.wall.error.zip(stamp);
        let early = stamped.map(|(error, stamp)| {
            (stamp as i64).saturating_sub(self.wall.ahead).max(0) as u64 + error + TOLERANCE
        });
        if early.is_some_and(|early| early < self.slept_until) {
            self.slept_until = 0;
        }
    }

    /// The wall clock's offset has to be read again.
    pub(super) fn offset_is_due(&self, now: Nanos) -> bool {
        now.saturating_sub(self.wall.read) >= OFFSET_EVERY
    }

    /// Updates how far the wall clock is ahead.
    pub(super) fn offset(&mut self, now: Nanos, offset: WallOffset) {
        let moved = offset.ahead.abs_diff(self.wall.ahead);
        let passed = now.saturating_sub(self.wall.read);
        let slewed = TOLERANCE + (SLEWED * passed as f64) as u64;
        // Packets since the last reading may have been stamped with either offset.
        let error = (moved <= slewed).then_some(offset.error + moved);
        self.wall = Wall { ahead: offset.ahead, error, read: now };
    }

    /// A read of a socket that the current poll reported: when its bytes arrived, and whether that is
    /// known by the kernel's timestamp.
    pub(super) fn read(&self, seen: &mut Seen, read: Read) -> (ArrivalTime, bool) {
        let (complete, entered) = self.complete;
        if complete > seen.poll {
            seen.empty = seen.empty.max(entered);
        }
        let after = seen.empty.max(self.slept_until).min(read.after);
        seen.poll = self.poll;
        if !read.full {
            seen.empty = seen.empty.max(read.before);
        }
        match self.stamped(read, after) {
            Some(arrival) => (arrival, true),
            None => {
                (ArrivalTime { after, at: read.after, last_byte_slack: read.after - after }, false)
            }
        }
    }

    fn stamped(&self, read: Read, after: Nanos) -> Option<ArrivalTime> {
        let error = self.wall.error?;
        let stamp = u64::try_from(i64::try_from(read.stamp?).ok()? - self.wall.ahead).ok()?;
        let [early, late] = [stamp.saturating_sub(error), stamp + error];
        if early > read.after + TOLERANCE || late + TOLERANCE < after {
            return None;
        }
        let at = late.clamp(after, read.after.max(after));
        let last_byte_slack = at.saturating_sub(early.max(after));
        Some(ArrivalTime { after, at, last_byte_slack })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Nanos = 1_000;
    const MS: Nanos = 1_000_000;
    /// The wall clock is this far ahead.
    const AHEAD: i64 = 1_700_000_000_000_000_000;

    fn offset() -> WallOffset {
        WallOffset { ahead: AHEAD, error: 50 }
    }

    fn instrument() -> Instrument {
        Instrument::new(0, offset())
    }

    fn stamp(time: Nanos) -> Option<u64> {
        Some(AHEAD as u64 + time)
    }

    /// Polls every millisecond that report nothing, up to a time.
    fn idle(instrument: &mut Instrument, from: Nanos, to: Nanos) {
        for entered in (from..to).step_by(MS as usize) {
            instrument.polled(entered, true);
            instrument.offset(entered + MS, offset());
        }
    }

    #[test]
    fn a_timestamp_is_the_arrival_time_however_late_the_read() {
        let mut loop_ = instrument();
        idle(&mut loop_, 0, 20 * MS);
        // The process was stopped from 20 to 320 ms; the token arrived at 25 ms.
        loop_.polled(20 * MS, true);
        loop_.offset(320 * MS, offset());
        let mut seen = Seen::default();
        let read =
            Read { before: 320 * MS, after: 320 * MS + 5, full: false, stamp: stamp(25 * MS) };
        let (arrival, stamped) = loop_.read(&mut seen, read);
        assert!(stamped);
        assert_eq!(arrival, ArrivalTime { after: 19 * MS, at: 25 * MS + 50, last_byte_slack: 100 });
        assert_eq!(arrival.spread(), 6 * MS + 50);
    }

    #[test]
    fn without_a_timestamp_the_polls_bound_the_arrival() {
        let mut loop_ = instrument();
        idle(&mut loop_, 0, 20 * MS);
        loop_.polled(20 * MS, true);
        loop_.offset(320 * MS, offset());
        let mut seen = Seen::default();
        let read = Read { before: 320 * MS, after: 320 * MS + 5, full: false, stamp: None };
        let (arrival, stamped) = loop_.read(&mut seen, read);
        assert!(!stamped);
        assert_eq!(
            arrival,
            ArrivalTime { after: 19 * MS, at: 320 * MS + 5, last_byte_slack: 301 * MS + 5 }
        );
    }

    #[test]
    fn a_read_that_did_not_fill_its_buffer_empties_the_socket() {
        let mut loop_ = instrument();
        let mut seen = Seen::default();
        seen.empty_at(3 * MS);
        loop_.polled(4 * MS, true);
        loop_.offset(10 * MS, offset());
        let read = |time: Nanos, full| Read { before: time, after: time + 5, full, stamp: None };
        assert_eq!(loop_.read(&mut seen, read(10 * MS, true)).0.after, 3 * MS);
        // Reported again by the next poll: what was left may have arrived at any time since.
        loop_.polled(11 * MS, true);
        loop_.offset(12 * MS, offset());
        assert_eq!(loop_.read(&mut seen, read(12 * MS, false)).0.after, 3 * MS);
        loop_.polled(13 * MS, true);
        loop_.offset(14 * MS, offset());
        assert_eq!(loop_.read(&mut seen, read(14 * MS, false)).0.after, 12 * MS);
    }

    #[test]
    fn a_poll_that_is_full_says_nothing_about_sockets_it_left_out() {
        let mut loop_ = instrument();
        let mut seen = Seen::default();
        loop_.polled(MS, true);
        loop_.offset(2 * MS, offset());
        loop_.polled(2 * MS, false);
        loop_.offset(3 * MS, offset());
        loop_.polled(3 * MS, true);
        loop_.offset(4 * MS, offset());
        let read = Read { before: 4 * MS, after: 4 * MS + 5, full: false, stamp: None };
        assert_eq!(loop_.read(&mut seen, read).0.after, MS);
    }

    #[test]
    fn timestamps_are_ignored_when_the_wall_clock_was_set() {
        let mut loop_ = instrument();
        idle(&mut loop_, 0, 20 * MS);
        let set = WallOffset { ahead: AHEAD + 5_000_000_000, error: 50 };
        let read =
            |at: Nanos| Read { before: at, after: at + 5, full: false, stamp: stamp(at - US) };
        loop_.polled(20 * MS, true);
        loop_.offset(21 * MS, set);
        let (_, stamped) = loop_.read(&mut Seen::default(), read(21 * MS));
        assert!(!stamped);
        // From then on the new offset holds.
        loop_.polled(21 * MS, true);
        loop_.offset(22 * MS, set);
        let mut later = read(22 * MS);
        later.stamp = later.stamp.map(|stamp| stamp + 5_000_000_000);
        assert!(loop_.read(&mut Seen::default(), later).1);
    }

    /// A poll that was entered at 20 ms and would have slept until 30 ms returned at `returned`, for a packet
    /// at 27 ms; the thread has waited for a CPU for so long. Since when the socket may have had data.
    fn woken(returned: Nanos, waited: Option<Nanos>, other: Option<u64>) -> Nanos {
        let mut loop_ = instrument();
        loop_.slept(0, MS, Some(5 * MS));
        idle(&mut loop_, 0, 20 * MS);
        loop_.polled(20 * MS, true);
        loop_.offset(returned, offset());
        loop_.slept(returned, 30 * MS, waited);
        let read =
            Read { before: returned, after: returned + 5, full: false, stamp: stamp(27 * MS) };
        [other, read.stamp].into_iter().for_each(|stamp| loop_.stamp(stamp));
        loop_.read(&mut Seen::default(), read).0.after
    }

    #[test]
    fn a_sleep_ends_with_the_first_packet() {
        // Nothing had arrived before, but for what waking takes.
        assert_eq!(woken(27 * MS + 30 * US, Some(5 * MS), None), 27 * MS - 70 * US);
        // Other threads had the CPU for 2 ms, or it was another processor's turn.
        assert_eq!(woken(29 * MS, Some(7 * MS), None), 27 * MS - 100 * US);
    }

    #[test]
    fn where_the_end_of_a_sleep_is_not_known_the_last_poll_bounds_the_arrival() {
        assert_eq!(woken(27 * MS + 30 * US, None, None), 19 * MS, "the kernel does not count");
        // Stopped past the end of the sleep.
        assert_eq!(woken(327 * MS, Some(5 * MS), None), 19 * MS);
        // Another socket's packet came before the sleep is said to have ended.
        assert_eq!(woken(29 * MS, Some(5 * MS), stamp(28 * MS)), 19 * MS);
    }

    #[test]
    fn slewing_the_wall_clock_widens_the_range() {
        let mut loop_ = instrument();
        idle(&mut loop_, 0, 20 * MS);
        let slewed = WallOffset { ahead: AHEAD + 3_000, error: 50 };
        loop_.polled(20 * MS, true);
        loop_.offset(21 * MS, slewed);
        let read =
            Read { before: 21 * MS, after: 21 * MS + 50 * US, full: false, stamp: stamp(21 * MS) };
        let (arrival, stamped) = loop_.read(&mut Seen::default(), read);
        assert!(stamped && arrival.last_byte_slack == 6_100, "{arrival:?}");
    }
}
