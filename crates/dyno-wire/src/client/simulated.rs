//! The instrument in a simulated loop: whatever the order of packets, polls, reads and stalls, the
//! range it gives for a packet contains the packet's arrival time.

use super::instrument::{Instrument, Read, Seen};
use dyno_model::Nanos;
use dyno_net::WallOffset;
use proptest::prelude::*;

const AHEAD: i64 = 1_700_000_000_000_000_000;
/// By how much a reading of the wall clock may be wrong.
const ERROR: u64 = 200;
const SOCKETS: usize = 4;
/// How long a poll sleeps at most.
const TICK: Nanos = 10_000_000;
/// What waking takes besides.
const WAKING: Nanos = 40_000;

/// One step of the simulation, and the time since the last.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A packet arrives at a socket.
    Packet(usize),
    /// The loop polls: at most `batch` sockets are reported, and each read takes at most `room`
    /// packets. `late` is how long each step takes.
    Iterate { batch: usize, room: usize, late: Nanos },
    /// The loop sleeps until a packet arrives at a socket after `idle`, waits for a CPU for `delay`, and is
    /// stopped for `stop`; then it reads all sockets.
    Sleep { idle: Nanos, socket: usize, delay: Nanos, stop: Nanos },
    /// The wall clock is slewed by this much; the loop then reads all sockets.
    Slew(i64),
}

fn step() -> impl Strategy<Value = (Nanos, Step)> {
    let late = prop_oneof![6 => 0..5_000_u64, 1 => 0..300_000_000_u64];
    let delay = prop_oneof![3 => 0..20_000_u64, 2 => 0..50_000_000_u64];
    // A stop that ends before the sleep would have is not noticed.
    let stop = prop_oneof![3 => Just(0_u64), 1 => TICK..300_000_000_u64];
    let what = prop_oneof![
        4 => (0..SOCKETS).prop_map(Step::Packet),
        4 => (1..=SOCKETS + 1, 1..4_usize, late)
            .prop_map(|(batch, room, late)| Step::Iterate { batch, room, late }),
        3 => (0..TICK, 0..SOCKETS, delay, stop)
            .prop_map(|(idle, socket, delay, stop)| Step::Sleep { idle, socket, delay, stop }),
        1 => (-1_000..1_000_i64).prop_map(Step::Slew),
    ];
    (1..2_000_000_u64, what)
}

/// When a packet arrived, and its timestamp.
#[derive(Debug, Clone, Copy)]
struct Packet {
    at: Nanos,
    stamp: u64,
}

#[derive(Default)]
struct Socket {
    seen: Seen,
    /// Packets that have not been read.
    waiting: Vec<Packet>,
}

struct Loop {
    now: Nanos,
    ahead: i64,
    instrument: Instrument,
    sockets: [Socket; SOCKETS],
    /// The first socket that the next poll reports: epoll goes round.
    next: usize,
    /// The last iteration left something to be read.
    unsettled: bool,
    stamps: bool,
    read: usize,
    /// Time that the loop's thread has waited for a CPU.
    waited: Nanos,
}

impl Loop {
    fn new(stamps: bool) -> Self {
        let instrument = Instrument::new(0, WallOffset { ahead: AHEAD, error: ERROR });
        let sockets = Default::default();
        let ahead = AHEAD;
        Self {
            now: 0,
            ahead,
            instrument,
            sockets,
            next: 0,
            unsettled: false,
            stamps,
            read: 0,
            waited: 0,
        }
    }

    fn packet(&mut self, socket: usize, at: Nanos) {
        let stamp = (at as i64 + self.ahead) as u64;
        self.sockets[socket].waiting.push(Packet { at, stamp });
    }

    /// Time passes; packets arrive meanwhile at a busy socket.
    fn pass(&mut self, time: Nanos, busy: Option<usize>) {
        if let Some(socket) = busy.filter(|_| time >= 3) {
            self.packet(socket, self.now + time / 3);
            self.packet(socket, self.now + time / 3 * 2);
        }
        self.now += time;
    }

    fn poll(&mut self, batch: usize, late: Nanos, busy: Option<usize>) -> Vec<usize> {
        let entered = self.now;
        self.pass(late, busy);
        let order = (0..SOCKETS).map(|i| (i + self.next) % SOCKETS);
        let ready: Vec<usize> = order.filter(|i| !self.sockets[*i].waiting.is_empty()).collect();
        let reported: Vec<usize> = ready.into_iter().take(batch).collect();
        self.next = reported.last().map_or(self.next, |last| last + 1);
        self.pass(late / 2, busy);
        let offset = WallOffset { ahead: self.ahead, error: ERROR };
        self.instrument.polled(entered, reported.len() < batch);
        self.instrument.offset(self.now, offset);
        reported
    }

    /// Polls and reads.
    fn iterate(
        &mut self,
        (batch, room, late): (usize, usize, Nanos),
        busy: Option<usize>,
    ) -> Result<(), TestCaseError> {
        let reported = self.poll(batch, late, busy);
        self.read(&reported, (room, late), busy)
    }

    /// Sleeps until a packet arrives, and reads.
    fn sleep(
        &mut self,
        (idle, socket): (Nanos, usize),
        [delay, stop]: [Nanos; 2],
        busy: Option<usize>,
    ) -> Result<(), TestCaseError> {
        if self.unsettled || self.sockets.iter().any(|socket| !socket.waiting.is_empty()) {
            return self.iterate((SOCKETS + 1, usize::MAX, 0), busy);
        }
        let entered = self.now;
        self.now += idle;
        self.packet(socket, self.now);
        self.now += WAKING;
        self.pass(delay, busy);
        self.waited += delay;
        self.pass(stop, busy);
        let offset = WallOffset { ahead: self.ahead, error: ERROR };
        self.instrument.polled(entered, true);
        self.instrument.offset(self.now, offset);
        self.instrument.slept(self.now, entered + TICK, Some(self.waited));
        let reported: Vec<usize> =
            (0..SOCKETS).filter(|i| !self.sockets[*i].waiting.is_empty()).collect();
        self.read(&reported, (usize::MAX, 0), busy)
    }

    /// Reads at most `room` packets of each socket; an error if a range does not hold.
    fn read(
        &mut self,
        reported: &[usize],
        (room, late): (usize, Nanos),
        busy: Option<usize>,
    ) -> Result<(), TestCaseError> {
        let (mut before, mut reads) = (self.now, Vec::new());
        for index in reported {
            self.pass(late / 3, busy);
            let socket = &mut self.sockets[*index];
            let most = room.min(socket.waiting.len());
            let taken: Vec<Packet> = socket.waiting.drain(..most).collect();
            self.now += late / 3 + 1;
            let Some(last) = taken.last() else { continue };
            let stamp = self.stamps.then_some(last.stamp);
            let read = Read { before, after: self.now, full: taken.len() == room, stamp };
            self.instrument.stamp(stamp);
            before = self.now;
            reads.push((*index, read, taken));
        }
        for (index, read, taken) in reads {
            let [first, .., last] = [taken[0], taken[taken.len() - 1]];
            let (arrival, stamped) = self.instrument.read(&mut self.sockets[index].seen, read);
            self.read += 1;
            prop_assert!(stamped == self.stamps, "{arrival:?}");
            prop_assert!(arrival.after <= first.at, "{taken:?} {arrival:?}");
            prop_assert!(last.at <= arrival.at, "{taken:?} {arrival:?}");
            prop_assert!(arrival.at <= read.after, "read before it came: {arrival:?}");
            let earliest = arrival.at - arrival.last_byte_slack;
            prop_assert!(earliest <= last.at, "the last of {taken:?} {arrival:?}");
            prop_assert!(arrival.after <= earliest, "{arrival:?}");
            // With timestamps, the last packet's time is known however late the loop was.
            prop_assert!(
                !self.stamps || arrival.last_byte_slack <= 2 * ERROR + 4_000,
                "{arrival:?}"
            );
        }
        self.unsettled = self.sockets.iter().any(|socket| !socket.waiting.is_empty());
        Ok(())
    }
}

proptest! {
    #[test]
    fn the_range_of_a_packet_contains_its_arrival(
        steps in prop::collection::vec(step(), 1..80),
        stamps: bool,
        busy in prop::option::of(0..SOCKETS),
    ) {
        let mut all = Loop::new(stamps);
        let mut packets = 0;
        for (after, step) in steps {
            all.now += after;
            match step {
                Step::Packet(socket) => {
                    all.packet(socket, all.now);
                    packets += 1;
                }
                Step::Iterate { batch, room, late } => all.iterate((batch, room, late), busy)?,
                Step::Sleep { idle, socket, delay, stop } => {
                    all.sleep((idle, socket), [delay, stop], busy)?;
                    packets += 1;
                }
                // The offset is compared with that of the last iteration only: what was left from
                // before may be off by as much as the clock was slewed meanwhile.
                Step::Slew(by) if !all.unsettled => {
                    all.ahead += by;
                    all.iterate((SOCKETS + 1, usize::MAX, 0), None)?;
                }
                Step::Slew(_) => {}
            }
        }
        while all.sockets.iter().any(|socket| !socket.waiting.is_empty()) {
            all.iterate((SOCKETS + 1, 3, 10), None)?;
        }
        prop_assert!(packets == 0 || all.read > 0);
    }
}
