//! One direction-pair of a line over a bus that loses messages when it is interrupted: packets are cut into
//! numbered frames that fit the bus, kept until the other side has them, and repeated when it lacks some.
//! Nothing is sent in addition as long as nothing is lost: every frame says what its sender has received.
//!
//! No I/O and no clock: frames and times are passed in, frames to send are returned.

use super::Id;
use crate::message::MAX_PACKET;
use dyno_model::{Message, message};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Bytes before a frame's part of a packet.
pub(super) const HEADER: usize = 25;
/// The first byte of every frame. Notices are JSON and begin with `{`.
const PART: u8 = 1;
const LAST: u8 = 2;
const ASK: u8 = 3;
const HAVE: u8 = 4;
const BYE: u8 = 5;

/// Beats come every second and confirm what was sent before; what is not confirmed for longer than that may
/// be lost.
const UNCONFIRMED: Duration = Duration::from_millis(1_500);
/// Between questions.
const BETWEEN: Duration = Duration::from_millis(250);
/// What is kept at most for a side that confirms nothing.
const KEPT_FRAMES: usize = 65_536;
const KEPT_BYTES: usize = 64 << 20;

/// A line's end.
#[derive(Debug)]
pub(super) struct Link {
    session: Id,
    /// The number of the last frame that was sent.
    sent: u64,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// The number of the last frame that arrived in order.
    received: u64,
    /// The parts of a packet that is not complete.
    parts: Vec<u8>,
    complained: Option<Instant>,
    asked: Option<Instant>,
    interrupted: bool,
    /// What to say when the other side says that it is gone.
    gone: Message,
    /// It has said so.
    over: bool,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    frame: Vec<u8>,
    since: Instant,
}

/// What came of a frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// A packet is complete, or the line is at its end.
    pub(super) packet: Option<Result<Vec<u8>, Message>>,
    /// Frames to send.
    pub(super) send: Vec<Vec<u8>>,
}

/// The session that a frame belongs to; `None` if it is no frame.
pub(super) fn session_of(frame: &[u8]) -> Option<Id> {
    let (kind, rest) = frame.split_first()?;
    let number = rest.first_chunk::<8>()?;
    ((PART..=BYE).contains(kind) && frame.len() >= HEADER).then(|| Id(u64::from_le_bytes(*number)))
}

/// The last frame of a line, which may be unknown to this side.
pub(super) fn bye(session: Id) -> Vec<u8> {
    framed(BYE, session, 0, 0, &[])
}

fn stuck() -> Message {
    message!("it takes nothing from the bus", "它不再从总线接收消息")
}

fn framed(kind: u8, session: Id, number: u64, received: u64, part: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER + part.len());
    frame.push(kind);
    for field in [session.0, number, received] {
        frame.extend_from_slice(&field.to_le_bytes());
    }
    frame.extend_from_slice(part);
    frame
}

impl Link {
    pub(super) fn new(session: Id, gone: Message) -> Self {
        Self {
            session,
            sent: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
            received: 0,
            parts: Vec::new(),
            complained: None,
            asked: None,
            interrupted: false,
            gone,
            over: false,
        }
    }

    pub(super) fn session(&self) -> Id {
        self.session
    }

    /// Whether anything has arrived.
    pub(super) fn met(&self) -> bool {
        self.received > 0
    }

    /// The frames of a packet, each of at most `most` bytes.
    pub(super) fn push(
        &mut self,
        packet: &[u8],
        most: usize,
        now: Instant,
    ) -> Result<Vec<Vec<u8>>, Message> {
        if self.over {
            return Err(self.gone.clone());
        }
        let room = most.saturating_sub(HEADER).max(1);
        let mut frames = Vec::new();
        let mut rest = packet;
        loop {
            let (part, after) = rest.split_at(room.min(rest.len()));
            rest = after;
            self.sent += 1;
            let kind = if rest.is_empty() { LAST } else { PART };
            let frame = framed(kind, self.session, self.sent, self.received, part);
            self.kept_bytes += frame.len();
            self.kept.push_back(Kept { number: self.sent, frame: frame.clone(), since: now });
            frames.push(frame);
            if rest.is_empty() {
                break;
            }
        }
        if self.kept.len() > KEPT_FRAMES || self.kept_bytes > KEPT_BYTES {
            return Err(stuck());
        }
        Ok(frames)
    }

    /// Takes a frame of this session.
    pub(super) fn take(&mut self, frame: &[u8], now: Instant) -> Taken {
        let mut taken = Taken::default();
        let Some((kind, number, received, part)) = self.opened(frame) else { return taken };
        if self.over {
            return taken;
        }
        self.interrupted = false;
        while self.kept.front().is_some_and(|kept| kept.number <= received) {
            let gone = self.kept.pop_front();
            self.kept_bytes -= gone.map_or(0, |kept| kept.frame.len());
        }
        match kind {
            PART | LAST if number == self.received + 1 => {
                self.received = number;
                if self.parts.len() + part.len() > MAX_PACKET {
                    let why = message!(
                        "a message of more than {MAX_PACKET} bytes",
                        "消息超过 {MAX_PACKET} 字节"
                    );
                    taken.packet = Some(Err(why));
                    return taken;
                }
                self.parts.extend_from_slice(part);
                if kind == LAST {
                    taken.packet = Some(Ok(std::mem::take(&mut self.parts)));
                }
            }
            PART | LAST => {
                let again = self.complained.is_none_or(|at| now - at >= BETWEEN);
                if number > self.received && again {
                    self.complained = Some(now);
                    taken.send.push(self.have(u64::MAX));
                }
            }
            ASK => taken.send.push(self.have(number)),
            HAVE => {
                self.asked = Some(now);
                let lacked = self.kept.iter().take_while(|kept| kept.number <= number);
                taken.send.extend(lacked.map(|kept| kept.frame.clone()));
            }
            _ => {
                self.over = true;
                (self.kept, self.kept_bytes) = (VecDeque::new(), 0);
                taken.packet = Some(Err(self.gone.clone()));
            }
        }
        taken
    }

    /// Reads a frame; `None` if it is none of this line.
    fn opened<'a>(&self, frame: &'a [u8]) -> Option<(u8, u64, u64, &'a [u8])> {
        if session_of(frame) != Some(self.session) {
            return None;
        }
        let (kind, rest) = frame.split_first()?;
        let (_, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (received, part) = rest.split_first_chunk::<8>()?;
        let (number, received) = (u64::from_le_bytes(*number), u64::from_le_bytes(*received));
        // Nobody can have what was never sent.
        (received <= self.sent).then_some((*kind, number, received, part))
    }

    /// What has arrived, to be followed by the frames up to a number that have not. The bus keeps the order of
    /// frames: those before a question are here or lost, those after it may be on their way. Where one is
    /// missing, all after it were left.
    fn have(&self, up_to: u64) -> Vec<u8> {
        framed(HAVE, self.session, up_to, self.received, &[])
    }

    /// The bus was interrupted: what is not confirmed is asked for at once, and until the other side is heard.
    pub(super) fn interrupted(&mut self) {
        self.interrupted = true;
        self.asked = None;
    }

    /// A question to send now, if something may be lost.
    pub(super) fn due(&mut self, now: Instant) -> Option<Vec<u8>> {
        let oldest = self.kept.front()?;
        let waited = now.saturating_duration_since(oldest.since) >= UNCONFIRMED;
        let again = self.asked.is_none_or(|at| now.saturating_duration_since(at) >= BETWEEN);
        if !again || !(waited || self.interrupted) {
            return None;
        }
        self.asked = Some(now);
        Some(framed(ASK, self.session, self.sent, self.received, &[]))
    }
}

#[cfg(test)]
mod tests;
