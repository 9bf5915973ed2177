//! The records of several agents as one sequence, on the coordinator's clock.

use super::told::Numbers;
use dyno_model::fleet::ClockFit;
use dyno_model::frame::{Frame, LevelEnd};
use dyno_model::record::RequestRecord;
use dyno_model::{Message, Nanos, SEC, message};
use dyno_record::{RecordReader, SeenPart};
use dyno_wire::exchange::is_impossible;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One agent's records of a level.
pub(super) struct AgentStream {
    agent: u32,
    clock: ClockFit,
    addresses: Numbers,
    frames: RecordReader,
}

/// What the records of a level may be, on the coordinator's clock: an agent may be wrong, or somebody else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) level: u32,
    pub(super) from: Nanos,
    pub(super) until: Nanos,
}

/// How far beyond its level a time may seem to be, as clocks are compared while both are busy.
const ALLOWANCE: Nanos = 10 * SEC;

impl Bounds {
    /// What is wrong with a record.
    fn fault(
        &self,
        record: &RequestRecord,
        clock: &ClockFit,
        seen: &mut SeenPart,
    ) -> Option<Message> {
        let index = record.index;
        if record.level != self.level {
            return Some(message!(
                "request {index} of its records is of another level",
                "其记录中的请求 {index} 属于另一个档位",
            ));
        }
        if self.is_outside(record.intended, clock) || self.is_outside(record.end, clock) {
            return Some(message!(
                "request {index} of its records is not within the time of the level",
                "其记录中的请求 {index} 不在该档位的时间范围内",
            ));
        }
        if is_impossible(record) {
            return Some(message!(
                "request {index} of its records has an impossible number of tokens",
                "其记录中的请求 {index} 的 token 数不可能出现",
            ));
        }
        let new = seen.insert(index);
        (!new).then(|| {
            message!(
                "request {index} of its records is there twice, or another agent's",
                "其记录中的请求 {index} 出现两次，或属于另一个压测端",
            )
        })
    }

    /// Whether the level cannot have had this time. A clock that jumped is another finding.
    fn is_outside(&self, at: Nanos, clock: &ClockFit) -> bool {
        let allowed = ALLOWANCE + clock.bound_ns;
        let within = self.from.saturating_sub(allowed)..=self.until.saturating_add(allowed);
        clock.steps == 0 && !within.contains(&at)
    }
}

impl AgentStream {
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
                    record.shift(offset);
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

/// Passes all records on in the order in which they ended; returns the end of each stream, or what is wrong
/// with the first record that cannot be: from there on, it is left out.
pub(super) fn merge(
    mut streams: Vec<AgentStream>,
    bounds: Bounds,
    mut each: impl FnMut(Box<RequestRecord>),
) -> Vec<Result<Option<LevelEnd>, Message>> {
    let mut ends: Vec<Option<LevelEnd>> = streams.iter().map(|_| None).collect();
    let mut faults: Vec<Option<Message>> = streams.iter().map(|_| None).collect();
    let (mut waiting, mut seen) = (BinaryHeap::new(), SeenPart::default());
    for (number, stream) in streams.iter_mut().enumerate() {
        waiting.extend(stream.next(&mut ends[number]).map(|record| Next(record, number)));
    }
    while let Some(Next(record, number)) = waiting.pop() {
        faults[number] = bounds.fault(&record, &streams[number].clock, &mut seen);
        if faults[number].is_some() {
            continue;
        }
        each(record);
        let next = streams[number].next(&mut ends[number]);
        waiting.extend(next.map(|record| Next(record, number)));
    }
    let checked = |((end, fault), stream): ((Option<LevelEnd>, Option<Message>), &AgentStream)| {
        let ended = end.as_ref().map(|end| end.ended);
        match (fault, ended) {
            (Some(fault), _) => Err(fault),
            (None, Some(at)) if bounds.is_outside(at, &stream.clock) => Err(message!(
                "the end of its level is not within the time of the level",
                "其档位的结束时间不在该档位的时间范围内",
            )),
            _ => Ok(end),
        }
    };
    ends.into_iter().zip(faults).zip(&streams).map(checked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::{Phase, TokenCount, TokenSource};

    fn record(index: u64, at: Nanos) -> RequestRecord {
        RequestRecord { end: at + SEC, ..RequestRecord::new(2, index, 0, Phase::Measured, at) }
    }

    #[test]
    fn records_that_cannot_be_are_faults() {
        let bounds = Bounds { level: 2, from: 1_000 * SEC, until: 1_060 * SEC };
        let (fit, mut seen) = (ClockFit::default(), SeenPart::default());
        let mut fault = |record: &RequestRecord| bounds.fault(record, &fit, &mut seen);
        assert_eq!(fault(&record(0, 1_000 * SEC)), None);
        assert_eq!(fault(&record(4_097, 1_059 * SEC)), None);
        for late in [1_000_000 * SEC, 5 * SEC] {
            let why = fault(&record(1, late)).unwrap().to_string();
            assert!(why.contains("request 1 of its records is not within the time"), "{why}");
        }
        for twice in [0, 4_097] {
            let why = fault(&record(twice, 1_010 * SEC)).unwrap().to_string();
            assert!(why.contains("there twice, or another agent's"), "{why}");
        }
        let other = RequestRecord { level: 1, ..record(7, 1_010 * SEC) };
        assert!(fault(&other).unwrap().to_string().contains("of another level"));
        assert_eq!(fault(&record(u64::MAX, 1_010 * SEC)), None, "counts are checked elsewhere");
        let count = |tokens| Some(TokenCount { tokens, source: TokenSource::Usage });
        let with = |index, tokens| RequestRecord {
            requested_output: Some(16),
            output: count(tokens),
            ..record(index, 1_010 * SEC)
        };
        assert_eq!(fault(&with(10, 16)), None);
        for tokens in [1 << 40, 160] {
            let why = fault(&with(11, tokens)).unwrap();
            assert!(
                why.to_string().contains("request 11 of its records has an impossible number"),
                "{why}"
            );
        }
        // A clock that jumped is named as such.
        let jumped = ClockFit { steps: 1, ..fit };
        assert_eq!(bounds.fault(&record(9, 0), &jumped, &mut SeenPart::default()), None);
    }
}
