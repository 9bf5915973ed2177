//! How exactly the times of a record are known. One read may carry several packets, of which only
//! the last has a known arrival time, so everything before the last event of a read may have
//! arrived earlier. What the bytes mean belongs to the parent module.

use super::Exchange;
use crate::client::ArrivalTime;
use dyno_model::Nanos;
use dyno_model::record::Widths;

/// Which times of the record were set by the last event of a read. That event came with the read's
/// last packet, whose arrival time is known; everything before it may have come earlier.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tail {
    pub(super) chunk: bool,
    pub(super) first: bool,
    pub(super) last: bool,
    pub(super) end: bool,
}

/// The state of a record before a read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before {
    chunks: usize,
    first: bool,
    settled: bool,
}

impl Exchange {
    /// The last byte of the request was handed over by a write between these times.
    pub fn on_sent(&mut self, before: Nanos, after: Nanos) {
        self.record.sent = Some(after);
        self.widths().sent = after.saturating_sub(before);
    }

    /// The request will be sent again, so it has not been sent yet.
    pub fn not_sent(&mut self) {
        self.record.sent = None;
        self.widths().sent = 0;
    }

    pub(super) fn widths(&mut self) -> &mut Widths {
        self.record.widths.get_or_insert_default()
    }

    pub(super) fn before_read(&self) -> Before {
        let (chunks, first) = (self.record.chunks.len(), self.record.first.is_some());
        Before { chunks, first, settled: self.settled }
    }

    /// Records how exactly the times are known that a read has set.
    pub(super) fn widen(&mut self, before: Before, arrival: ArrivalTime) {
        let tail = self.tail;
        let width =
            |ends_the_read| if ends_the_read { arrival.last_byte_slack } else { arrival.spread() };
        let us = |width: Nanos| width / 1_000;
        let new = self.record.chunks.len() - before.chunks;
        self.record.chunks.loosen(new, usize::from(tail.chunk), us(arrival.spread()));
        self.record.chunks.loosen(usize::from(tail.chunk), 0, us(arrival.last_byte_slack));
        let first = self.record.first.is_some() && !before.first;
        let last = self.record.last.is_some();
        let end = self.settled && !before.settled;
        let widths = self.widths();
        if first {
            widths.first = width(tail.first);
        }
        if last {
            widths.last = width(tail.last);
        }
        if end {
            widths.end = width(tail.end);
        }
    }

    /// The connection closed: its end is the end of the response, too.
    pub(super) fn widen_at_close(&mut self, arrival: ArrivalTime) {
        self.widths().end = arrival.last_byte_slack;
        if !self.record.streamed {
            self.widths().last = arrival.last_byte_slack;
        }
    }
}

/// Only line ends follow: the event before them is complete, and came with them.
pub(super) fn is_line_end(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}
