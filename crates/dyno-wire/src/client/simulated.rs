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

/// One step of the simulation, and the time since the last.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A packet arrives at a socket.
    Packet(usize),
    /// The loop polls: at most `batch` sockets are reported, and each read takes at most `room`
    /// packets. `late` is how long each step takes.
    Iterate { batch: usize, room: usize, late: Nanos },
    /// The wall clock is slewed by this much; the loop then reads all sockets.
    Slew(i64),
}

fn step() -> impl Strategy<Value = (Nanos, Step)> {
    let late = prop_oneof![6 => 0..5_000_u64, 1 => 0..300_000_000_u64];
    let what = prop_oneof![
        4 => (0..SOCKETS).prop_map(Step::Packet),
        4 => (1..=SOCKETS + 1, 1..4_usize, late)
            .prop_map(|(batch, room, late)| Step::Iterate { batch, room, late }),
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
}

impl Loop {
    fn new(stamps: bool) -> Self {
        let instrument = Instrument::new(0, WallOffset { ahead: AHEAD, error: ERROR });
        let sockets = Default::default();
        let ahead = AHEAD;
        Self { now: 0, ahead, instrument, sockets, next: 0, unsettled: false, stamps, read: 0 }
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

    /// Polls and reads; an error if a range does not hold.
    fn iterate(
        &mut self,
        (batch, room, late): (usize, usize, Nanos),
        busy: Option<usize>,
    ) -> Result<(), TestCaseError> {
        let reported = self.poll(batch, late, busy);
        let mut before = self.now;
        for index in reported {
            self.pass(late / 3, busy);
            let socket = &mut self.sockets[index];
            let most = room.min(socket.waiting.len());
            let taken: Vec<Packet> = socket.waiting.drain(..most).collect();
            self.now += late / 3 + 1;
            let (Some(first), Some(last)) = (taken.first(), taken.last()) else { continue };
            let stamp = self.stamps.then_some(last.stamp);
            let read = Read { before, after: self.now, full: taken.len() == room, stamp };
            let (arrival, stamped) = self.instrument.read(&mut socket.seen, read);
            before = self.now;
            self.read += 1;
            prop_assert!(stamped == self.stamps, "{arrival:?}");
            prop_assert!(arrival.after <= first.at, "{taken:?} {arrival:?}");
            prop_assert!(last.at <= arrival.at, "{taken:?} {arrival:?}");
            prop_assert!(arrival.at <= self.now, "read before it came: {arrival:?}");
            let earliest = arrival.at - arrival.loose;
            prop_assert!(earliest <= last.at, "the last of {taken:?} {arrival:?}");
            prop_assert!(arrival.after <= earliest, "{arrival:?}");
            // With timestamps, the last packet's time is known however late the loop was.
            prop_assert!(!self.stamps || arrival.loose <= 2 * ERROR + 4_000, "{arrival:?}");
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
