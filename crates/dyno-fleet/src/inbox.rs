//! What has arrived from agents and waits for the coordinator, which may be busy for a while. It is bounded
//! for each agent: one that floods the coordinator is given up, and takes nothing from the others.

use crate::message::{FromAgent, decode};
use crate::port::Arrived;
use dyno_model::{Message, message};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An agent sends a beat a second and a piece of records for each order: more than an hour of beats wait.
const MOST_PACKETS: usize = 4_096;
/// Of beats between levels, fewer: nobody may take them for hours, while the other side of a comparison is
/// measured. The last one says all that the others said.
const MOST_IDLE: usize = 256;
/// Many of the largest packets wait.
const MOST_BYTES: usize = 16 << 20;

/// An inbox for so many lines, and where arrivals are put into it.
pub fn inbox(lines: usize) -> (Intake, Inbox) {
    let (put, next) = mpsc::channel();
    let waiting: Arc<[Waiting]> = (0..lines).map(|_| Waiting::default()).collect();
    (Intake { put, waiting: Arc::clone(&waiting) }, Inbox { next, waiting })
}

/// What waits of one line.
#[derive(Debug, Default)]
struct Waiting {
    packets: AtomicUsize,
    bytes: AtomicUsize,
    /// The last beat between levels, where many wait.
    idle: Mutex<Option<Arrived>>,
    /// Nothing more is taken from it.
    closed: AtomicBool,
}

/// Where arrivals are put. A line without an arrival stands for its last beat.
#[derive(Debug, Clone)]
pub struct Intake {
    put: Sender<(usize, Option<Arrived>)>,
    waiting: Arc<[Waiting]>,
}

impl Intake {
    /// Puts an arrival of a line into the inbox; `false` if nothing more is taken from it.
    pub fn put(&self, line: usize, arrived: Arrived) -> bool {
        let Some(waiting) = self.waiting.get(line) else { return false };
        if waiting.closed.load(Ordering::Relaxed) {
            return false;
        }
        if waiting.packets.load(Ordering::Relaxed) >= MOST_IDLE && is_idle(&arrived) {
            let mut idle = waiting.idle.lock().unwrap_or_else(PoisonError::into_inner);
            return idle.replace(arrived).is_some() || self.put.send((line, None)).is_ok();
        }
        let full = waiting.packets.load(Ordering::Relaxed) >= MOST_PACKETS
            || waiting.bytes.load(Ordering::Relaxed) >= MOST_BYTES;
        let arrived = match full {
            true => {
                waiting.closed.store(true, Ordering::Relaxed);
                Arrived { packet: Err(floods()), ..arrived }
            }
            false => arrived,
        };
        waiting.packets.fetch_add(1, Ordering::Relaxed);
        waiting.bytes.fetch_add(size(&arrived), Ordering::Relaxed);
        self.put.send((line, Some(arrived))).is_ok() && !full
    }
}

/// The arrivals of all lines, in their order.
#[derive(Debug)]
pub struct Inbox {
    next: Receiver<(usize, Option<Arrived>)>,
    waiting: Arc<[Waiting]>,
}

impl Inbox {
    /// The next arrival; `None` if there was none until then.
    pub(crate) fn next(&self, until: Instant) -> Option<(usize, Arrived)> {
        let left = until.saturating_duration_since(Instant::now());
        let (line, arrived) = self.next.recv_timeout(left).ok()?;
        let waiting = self.waiting.get(line)?;
        let Some(arrived) = arrived else {
            let idle = waiting.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
            return idle.map(|arrived| (line, arrived));
        };
        waiting.packets.fetch_sub(1, Ordering::Relaxed);
        waiting.bytes.fetch_sub(size(&arrived), Ordering::Relaxed);
        Some((line, arrived))
    }
}

/// Whether it is a beat between levels.
fn is_idle(arrived: &Arrived) -> bool {
    let said = arrived.packet.as_ref().map(|packet| decode::<FromAgent>(packet));
    matches!(said, Ok(Ok((FromAgent::Beat { beat: None, .. }, _))))
}

/// Why an agent that floods the coordinator is given up.
fn floods() -> Message {
    message!("it sends more than the coordinator can take", "它发送的消息超出协调端的处理能力")
}

fn size(arrived: &Arrived) -> usize {
    arrived.packet.as_ref().map_or(0, Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::encode;
    use dyno_model::fleet::Beat;

    fn packet(bytes: usize) -> Arrived {
        Arrived { at: 0, packet: Ok(vec![0; bytes]) }
    }

    /// What waits: how many packets of each line, and why a line was closed.
    fn emptied(inbox: &Inbox) -> ([usize; 2], Vec<(usize, Message)>) {
        let (mut packets, mut closed) = ([0; 2], Vec::new());
        while let Some((line, arrived)) = inbox.next(Instant::now()) {
            match arrived.packet {
                Ok(_) => packets[line] += 1,
                Err(why) => closed.push((line, why)),
            }
        }
        (packets, closed)
    }

    #[test]
    fn one_that_floods_is_given_up_and_the_others_are_heard() {
        for bytes in [10, 100_000] {
            let (intake, inbox) = inbox(2);
            let most = MOST_PACKETS.min(MOST_BYTES.div_ceil(bytes));
            let taken = (0..3 * MOST_PACKETS).filter(|_| intake.put(0, packet(bytes))).count();
            assert!(intake.put(1, packet(1)));
            assert_eq!(taken, most);
            assert_eq!(emptied(&inbox), ([most, 1], vec![(0, floods())]));
            assert!(!intake.put(0, packet(1)), "it stays closed");
        }
    }

    #[test]
    fn beats_between_levels_wait_for_any_time() {
        let (intake, inbox) = inbox(2);
        let beat = |at: u64, beat: Option<Beat>| {
            let said = FromAgent::Beat { number: at, sent: at, received: at, answered: at, beat };
            Arrived { at, packet: Ok(encode(&said, &[]).unwrap()) }
        };
        let days = 3 * 86_400;
        assert!((0..days).all(|second| intake.put(0, beat(second, None))));
        assert!(intake.put(0, packet(9)), "something else is still taken");
        let taken: Vec<u64> = std::iter::from_fn(|| inbox.next(Instant::now()))
            .map(|(_, arrived)| arrived.at)
            .collect();
        assert_eq!(taken.len(), MOST_IDLE + 2);
        assert!(taken.contains(&(days - 1)), "the last one is known");
        assert!((0..100).all(|second| intake.put(0, beat(second, None))), "and it goes on");
        assert_eq!(emptied(&inbox), ([100, 0], Vec::new()));
        let busy = Some(Beat::default());
        let flood = (0..10_000).filter(|second| intake.put(0, beat(*second, busy))).count();
        assert_eq!(flood, MOST_PACKETS, "beats of a level are watched");
    }

    #[test]
    fn what_was_taken_out_makes_room() {
        let (intake, inbox) = inbox(2);
        for _ in 0..5 {
            assert!((0..MOST_PACKETS).all(|_| intake.put(1, packet(1))));
            assert_eq!(emptied(&inbox), ([0, MOST_PACKETS], Vec::new()));
        }
    }
}
