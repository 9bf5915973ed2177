//! The records of several agents as one sequence, on the coordinator's clock.

use super::told::Numbers;
use dyno_model::Nanos;
use dyno_model::fleet::ClockFit;
use dyno_model::frame::{Frame, LevelEnd};
use dyno_model::record::RequestRecord;
use dyno_record::RecordReader;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One agent's records of a level.
pub(super) struct Stream {
    agent: u32,
    clock: ClockFit,
    addresses: Numbers,
    frames: RecordReader,
}

impl Stream {
    pub(super) fn new(
        agent: u32,
        clock: ClockFit,
        addresses: Numbers,
        frames: RecordReader,
    ) -> Self {
        Self { agent, clock, addresses, frames }
    }

    /// The next record; the end of the level goes into `end`.
    fn next(&mut self, end: &mut Option<LevelEnd>) -> Option<Box<RequestRecord>> {
        for frame in self.frames.by_ref() {
            match frame {
                Frame::Request(mut record) => {
                    let offset = self.clock.offset_at(record.intended);
                    shift(&mut record, offset);
                    record.agent = Some(self.agent);
                    self.addresses.set(&mut record);
                    return Some(record);
                }
                Frame::LevelEnd(level) => *end = Some(shifted(*level, &self.clock)),
                _ => {}
            }
        }
        None
    }
}

/// Moves all times of a record by the same amount, so that no difference changes: by whole microseconds,
/// because those of output events are.
fn shift(record: &mut RequestRecord, by: i64) {
    let by_us = by.div_euclid(1_000);
    let by = by_us * 1_000;
    let to = |at: Nanos| at.saturating_add_signed(by);
    record.intended = to(record.intended);
    record.end = to(record.end);
    for time in [
        &mut record.admitted,
        &mut record.dispatched,
        &mut record.connected,
        &mut record.sent,
        &mut record.headers,
        &mut record.first,
        &mut record.last,
        &mut record.first_refused,
    ] {
        *time = time.map(to);
    }
    record.chunks.shift(by_us);
}

fn shifted(mut end: LevelEnd, clock: &ClockFit) -> LevelEnd {
    end.ended = clock.to_coordinator(end.ended);
    end.sending_stopped = clock.to_coordinator(end.sending_stopped);
    end.starved = end.starved.map(|at| clock.to_coordinator(at));
    end
}

/// A record that is next in its stream; the earliest end comes first.
struct Next(Box<RequestRecord>, usize);

impl Next {
    fn key(&self) -> (Nanos, usize) {
        (self.0.end, self.1)
    }
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Passes all records on in the order in which they ended; returns the end of each stream.
pub(super) fn merge(
    mut streams: Vec<Stream>,
    mut each: impl FnMut(Box<RequestRecord>),
) -> Vec<Option<LevelEnd>> {
    let mut ends: Vec<Option<LevelEnd>> = streams.iter().map(|_| None).collect();
    let mut waiting = BinaryHeap::new();
    for (number, stream) in streams.iter_mut().enumerate() {
        waiting.extend(stream.next(&mut ends[number]).map(|record| Next(record, number)));
    }
    while let Some(Next(record, number)) = waiting.pop() {
        each(record);
        let next = streams[number].next(&mut ends[number]);
        waiting.extend(next.map(|record| Next(record, number)));
    }
    ends
}
