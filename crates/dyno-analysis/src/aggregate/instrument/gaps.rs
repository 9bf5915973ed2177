//! Times between the events of a request. Where one read returned several events, only the time of the
//! last is known. But their gaps add up to the time since the previous event, so that at most one of them
//! can be as long, at most two half as long, and so on. That bounds the sorted gaps, and with them every percentile.

use super::super::request_times::{GapSample, for_each_gap_sample};
use super::super::timeline::{PerChunk, per_chunk};
use super::ranges;
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::RequestRecord;
use dyno_model::summary::Ranges;
use dyno_stats::{Counted, Tally};

/// The uncertainty of the gaps of a level.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    parts: PerTime<Part>,
}

#[derive(Debug, Clone, Default)]
struct Part {
    /// Uncertain samples: as printed, and the least and the most they may be.
    printed: Tally,
    low: Tally,
    high: Tally,
    any: bool,
    /// Time from the first event of each request to its last, at the least and at the most.
    span: [u128; 2],
    samples: u64,
}

/// The events that one read returned, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// The earliest and the latest time of its first event.
    first: [u64; 2],
    /// The same of its last.
    last: [u64; 2],
    /// Samples in its first event, and in all.
    lead: u64,
    samples: u64,
}

impl Gaps {
    /// A completed request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        let exact =
            record.chunks.loose().is_empty() && record.widths.is_some_and(|w| w.last < 1_000);
        for time in [Time::ChunkGap, Time::Itl] {
            self.parts[time].span(record, time);
        }
        for_each_gap_sample(record, |GapSample { time, value, times, .. }| {
            self.parts[time].samples += times;
            if !exact {
                self.parts[time].printed.add(value, times);
            }
        });
        if !exact && record.streamed {
            for time in [Time::ChunkGap, Time::Itl] {
                self.parts[time].loosen(record, time);
            }
        }
    }

    /// The ranges of a time's statistics, given all samples as printed.
    pub(crate) fn ranges(&mut self, time: Time, all: &Counted) -> Option<Ranges> {
        let part = std::mem::take(&mut self.parts[time]);
        if all.is_empty() {
            return None;
        }
        let mut found = match part.any {
            false => ranges(all, all),
            true => {
                let printed = part.printed.freeze();
                let [low, high] = [part.low, part.high].map(|loose| {
                    let mut ends = Tally::default();
                    exact(all, &printed, &mut ends);
                    loose.freeze().pairs().for_each(|(value, times)| ends.add(value, times));
                    ends.freeze()
                });
                ranges(&low, &high)
            }
        };
        let mean = |sum: u128| sum as f64 / part.samples as f64 / 1e3;
        found.mean = (part.samples > 0).then(|| part.span.map(mean)).or(found.mean);
        Some(found)
    }
}

/// All samples except the uncertain ones.
fn exact(all: &Counted, loose: &Counted, into: &mut Tally) {
    let mut loose = loose.pairs().peekable();
    for (value, times) in all.pairs() {
        while loose.next_if(|(other, _)| *other < value).is_some() {}
        let without = loose.next_if(|(other, _)| *other == value).map_or(0, |(_, times)| times);
        into.add(value, times.saturating_sub(without));
    }
}

impl Part {
    /// The sum of all gaps of a request is the time from its first event to its last.
    fn span(&mut self, record: &RequestRecord, time: Time) {
        let mut ends: Option<([u64; 2], [u64; 2])> = None;
        for_each_group(record, time, |group| {
            let first = ends.map_or(group.first, |(first, _)| first);
            ends = Some((first, group.last));
        });
        if let Some((first, last)) = ends {
            self.span[0] += u128::from(last[0].saturating_sub(first[1]));
            self.span[1] += u128::from(last[1].saturating_sub(first[0]));
        }
    }

    fn loosen(&mut self, record: &RequestRecord, time: Time) {
        self.any = true;
        let mut before: Option<[u64; 2]> = None;
        for_each_group(record, time, |mut group| {
            let from = match before {
                Some(from) => from,
                // The first event makes no gap.
                None => {
                    group.samples -= group.lead;
                    group.lead = 0;
                    group.first
                }
            };
            before = Some(group.last);
            self.bound(from, group);
        });
    }

    /// Bounds the sorted gaps of a group that follows an event.
    fn bound(&mut self, from: [u64; 2], group: Group) {
        let samples = group.samples;
        if samples == 0 {
            return;
        }
        let least = group.last[0].saturating_sub(from[1]);
        let most = group.last[1].saturating_sub(from[0]);
        // Whole microseconds, outwards: few distinct values are quick to count.
        let ns = |us: u64, shares: u64| us.div_ceil(shares.max(1)).saturating_mul(1_000);
        let floor = |us: u64, shares: u64| (us / shares.max(1)).saturating_mul(1_000);
        // Gaps within the read cannot be longer than the time in which all of it arrived.
        let within = group.last[1].saturating_sub(group.first[0]);
        let lead = group.lead.max(1);
        let before = floor(group.first[0].saturating_sub(from[1]), lead);
        let leading = lead.min(samples);
        self.low.add(floor(least, samples).max(before), 1);
        self.low.add(before, leading - 1);
        self.low.add(0, samples - leading);
        (1..=leading).for_each(|k| self.high.add(ns(most, k), 1));
        // From some rank on, the share of the whole is what bounds them.
        let bounded = most.checked_div(within).unwrap_or(samples).clamp(leading, samples);
        self.high.add(ns(within, 1), bounded - leading);
        (bounded + 1..=samples).for_each(|k| self.high.add(ns(most, k).min(ns(within, 1)), 1));
    }
}

/// The events of a streamed request, read by read. Samples are tokens, or events for chunk gaps.
fn for_each_group(record: &RequestRecord, time: Time, mut each: impl FnMut(Group)) {
    let known = per_chunk(record);
    if !record.streamed || (time == Time::Itl && known == PerChunk::Unknown) {
        return;
    }
    let mut group: Option<Group> = None;
    for chunk in record.chunks.iter() {
        let samples = match (time, known) {
            (Time::Itl, PerChunk::Told) => u64::from(chunk.tokens),
            _ => 1,
        };
        let came = [chunk.at_us.saturating_sub(chunk.loose_us), chunk.at_us];
        match &mut group {
            Some(group) if chunk.coalesced => {
                group.last = came;
                group.samples += samples;
            }
            _ => {
                group.take().into_iter().for_each(&mut each);
                group = Some(Group { first: came, last: came, lead: samples, samples });
            }
        }
    }
    group.take().into_iter().for_each(&mut each);
    if let Some(group) = finish(record, time, known) {
        each(group);
    }
}

/// The finish event, where it brought tokens.
fn finish(record: &RequestRecord, time: Time, known: PerChunk) -> Option<Group> {
    let tokens = match known {
        PerChunk::Told => record.finish_tokens.unwrap_or(0),
        PerChunk::OneAndFinish => 1,
        _ => 0,
    };
    let at = record.last.filter(|_| tokens > 0 && !record.chunks.is_empty())?;
    let width = record.widths.map_or(0, |widths| widths.last);
    let came = [at.saturating_sub(width) / 1_000, at / 1_000];
    let samples = if time == Time::Itl { u64::from(tokens) } else { 1 };
    Some(Group { first: came, last: came, lead: samples, samples })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, TokenCount, TokenSource, Widths};

    /// Events at 100, 120, …, of which those up to `merged` came with one read that was known to have
    /// begun after `since`.
    fn record(events: u64, merged: std::ops::Range<u64>, since: u64) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.outcome = Outcome::Completed;
        (record.streamed, record.widths) = (true, Some(Widths::default()));
        record.output = Some(TokenCount { tokens: events, source: TokenSource::Usage });
        for event in 0..events {
            let of_read = if merged.contains(&event) { merged.end - 1 } else { event };
            let at = (100 + 20 * of_read) * MS;
            record.chunks.push(at, merged.contains(&event) && event != merged.start, 1);
            if event + 1 == merged.end {
                let count = (merged.end - merged.start) as usize;
                record.chunks.loosen(count, 1, at / 1_000 - since * 1_000);
            }
        }
        record
    }

    fn printed(record: &RequestRecord) -> Counted {
        let mut all = Tally::default();
        for_each_gap_sample(record, |gap| {
            if gap.time == Time::Itl {
                all.add(gap.value, gap.times);
            }
        });
        all.freeze()
    }

    #[test]
    fn exact_events_leave_nothing_open() {
        let record = record(101, 0..0, 0);
        let mut gaps = Gaps::default();
        gaps.add(&record);
        let found = gaps.ranges(Time::Itl, &printed(&record)).unwrap();
        assert_eq!((found.mean, found.p99), (Some([20.0, 20.0]), Some([20.0, 20.0])));
    }

    #[test]
    fn merged_events_are_bounded_by_the_time_they_have_together() {
        // Events 5 to 9 (200 to 280 ms) came in one read; the socket was empty at 190 ms.
        let record = record(101, 5..10, 190);
        let mut gaps = Gaps::default();
        gaps.add(&record);
        let found = gaps.ranges(Time::Itl, &printed(&record)).unwrap();
        // 100 ms in five gaps: the printed ones are 100, 0, 0, 0, 0; in truth all were 20.
        assert_eq!(found.mean, Some([20.0, 20.0]));
        assert_eq!(found.p50, Some([20.0, 20.0]));
        let [low, high] = found.p99.unwrap();
        assert!(low <= 20.0 && high >= 20.0, "{low} {high}");
        assert!((45.0..=100.0).contains(&high), "{high}");
    }

    #[test]
    fn any_order_of_true_times_lies_within() {
        // Every way in which three merged events may have come lies between the sorted bounds.
        let mut part = Part::default();
        let group = Group { first: [50, 90], last: [90, 90], lead: 1, samples: 4 };
        part.bound([30, 30], group);
        let sorted = |tally: Tally| {
            let values = tally.freeze();
            let all = values.pairs().flat_map(|(value, times)| vec![value; times as usize]);
            all.collect::<Vec<u64>>()
        };
        let [low, high] = [part.low, part.high].map(sorted);
        for times in [[50, 50, 50], [50, 70, 90], [90, 90, 90], [55, 60, 89], [50, 90, 90]] {
            let all = [30, times[0], times[1], times[2], 90];
            let mut gaps: Vec<u64> = all.windows(2).map(|w| (w[1] - w[0]) * 1_000).collect();
            gaps.sort_unstable();
            for ((gap, low), high) in gaps.iter().zip(&low).zip(&high) {
                assert!(low <= gap && gap <= high, "{gaps:?} not in {low:?} to {high:?}");
            }
        }
    }

    #[test]
    fn a_stream_without_stamps_is_bounded_gap_by_gap() {
        let mut record = record(11, 0..0, 0);
        let mut loose = dyno_model::chunks::ChunkTrack::default();
        for event in 0..11_u64 {
            loose.push((100 + 20 * event) * MS, false, 1);
            loose.loosen(1, 0, 1_000);
        }
        record.chunks = loose;
        let mut gaps = Gaps::default();
        gaps.add(&record);
        let found = gaps.ranges(Time::Itl, &printed(&record)).unwrap();
        assert_eq!(found.p50, Some([19.0, 21.0]));
        assert_eq!(found.mean, Some([19.9, 20.1]));
    }
}
