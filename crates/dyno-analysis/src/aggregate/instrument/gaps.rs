//! Times between the events of a request. Where one read returned several events, only the time of the
//! last is known. But their gaps add up to the time since the previous event, so that at most one of them
//! can be as long, at most two half as long, and so on. That bounds the sorted gaps, and with them every percentile.
//!
//! Several tokens in one event (an interval of streaming, speculation) are one gap, and share it evenly by
//! definition: they are not events that were merged, and their range is that of the event.

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
#[derive(Debug, Clone, Default)]
struct Group {
    /// The earliest and the latest time of its first event.
    first: [u64; 2],
    /// The same of its last.
    last: [u64; 2],
    /// Samples of its first event; none where that makes no gap, as the first of a request.
    lead: Option<u64>,
    /// Samples of each further event.
    rest: Vec<u64>,
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
    /// The sum of all gaps of a request is the time from its first event to its last, less the gaps
    /// before events that brought no token and so made no sample.
    fn span(&mut self, record: &RequestRecord, time: Time) {
        let mut ends: Option<([u64; 2], [u64; 2])> = None;
        let mut without = [0, 0];
        for_each_event(record, time, |Came { at, samples, .. }| {
            let (first, before) = ends.unwrap_or((at, at));
            if samples == 0 {
                without[0] += at[0].saturating_sub(before[1]);
                without[1] += at[1].saturating_sub(before[0]);
            }
            ends = Some((first, at));
        });
        if let Some((first, last)) = ends {
            let [least, most] =
                [last[0].saturating_sub(first[1]), last[1].saturating_sub(first[0])];
            self.span[0] += u128::from(least.saturating_sub(without[1]));
            self.span[1] += u128::from(most.saturating_sub(without[0]));
        }
    }

    fn loosen(&mut self, record: &RequestRecord, time: Time) {
        self.any = true;
        let mut before: Option<[u64; 2]> = None;
        for_each_group(record, time, |mut group| {
            let from = before.unwrap_or_else(|| {
                group.lead = None;
                group.first
            });
            before = Some(group.last);
            self.bound(from, group);
        });
    }

    /// Bounds the sorted gaps of a group that follows an event.
    fn bound(&mut self, from: [u64; 2], group: Group) {
        let Group { first, last, lead, rest } = group;
        let least = last[0].saturating_sub(from[1]);
        let most = last[1].saturating_sub(from[0]);
        // Whole microseconds, outwards: few distinct values are quick to count.
        let ns = |us: u64| us.saturating_mul(1_000);
        let gaps = || lead.into_iter().chain(rest.iter().copied());
        let lead = lead.unwrap_or(0);
        let before = first[0].saturating_sub(from[1]).checked_div(lead).unwrap_or(0);
        if rest.is_empty() {
            // One event has one gap, however many tokens it carried.
            if lead > 0 {
                self.low.add(ns(before), lead);
                self.high.add(ns(most.div_ceil(lead)), lead);
            }
            return;
        }
        let carried = || gaps().filter(|samples| *samples > 0);
        let samples: u64 = carried().sum();
        let (Some(fewest), Some(largest)) = (carried().min(), carried().max()) else { return };
        // The tokens of the longest gap have at least the mean, unless an event without any took the
        // time; those of the first event have what is known of its gap.
        let mean = if gaps().all(|samples| samples > 0) { least / samples } else { 0 };
        self.low.add(ns(mean.max(before)), fewest);
        self.low.add(ns(before), lead.saturating_sub(fewest));
        self.low.add(0, samples - fewest.max(lead));
        // Gaps within the read cannot be longer than the time in which all of it arrived.
        let within = last[1].saturating_sub(first[0]);
        let further = rest.iter().filter(|samples| **samples > 0);
        let mut limits: Vec<(u64, u64)> =
            further.map(|samples| (within.div_ceil(*samples), *samples)).collect();
        if lead > 0 {
            limits.push((most.div_ceil(lead), lead));
        }
        limits.sort_unstable_by(|a, b| b.cmp(a));
        let mut rank = 0;
        for same in limits.chunk_by(|a, b| a.0 == b.0) {
            let (limit, count) = (same[0].0, same.iter().map(|(_, samples)| samples).sum::<u64>());
            // Up to some rank the limit of each bounds them, then their share of the whole: to have
            // that many samples as long, there must be as many whole gaps as hold them.
            let freely =
                most.checked_div(limit).unwrap_or(u64::MAX).saturating_sub(rank).min(count);
            self.high.add(ns(limit), freely);
            for rank in rank + freely + 1..=rank + count {
                let shares = rank.max(rank.div_ceil(largest) * fewest);
                self.high.add(ns(most.div_ceil(shares)), 1);
            }
            rank += count;
        }
    }
}

/// One event of a request: when it came, at the earliest and at the latest, and what it carried.
#[derive(Debug, Clone, Copy)]
struct Came {
    at: [u64; 2],
    /// With the same read as the event before.
    merged: bool,
    /// Tokens, or 1 for chunk gaps.
    samples: u64,
}

/// The events of a streamed request that end gaps.
fn for_each_event(record: &RequestRecord, time: Time, mut each: impl FnMut(Came)) {
    let known = per_chunk(record);
    if !record.streamed || (time == Time::Itl && known == PerChunk::Unknown) {
        return;
    }
    let counts = time == Time::Itl && known == PerChunk::Told;
    for chunk in record.chunks.iter() {
        let at = [chunk.at_us.saturating_sub(chunk.loose_us), chunk.at_us];
        let samples = if counts { u64::from(chunk.tokens) } else { 1 };
        each(Came { at, merged: chunk.coalesced, samples });
    }
    if let Some(finish) = finish(record, time, known) {
        each(finish);
    }
}

/// The same, read by read.
fn for_each_group(record: &RequestRecord, time: Time, mut each: impl FnMut(Group)) {
    let mut group: Option<Group> = None;
    for_each_event(record, time, |Came { at, merged, samples }| match &mut group {
        Some(group) if merged => {
            group.last = at;
            group.rest.push(samples);
        }
        _ => {
            group.take().into_iter().for_each(&mut each);
            group = Some(Group { first: at, last: at, lead: Some(samples), rest: Vec::new() });
        }
    });
    group.take().into_iter().for_each(&mut each);
}

/// The finish event, where it brought tokens.
fn finish(record: &RequestRecord, time: Time, known: PerChunk) -> Option<Came> {
    let tokens = match known {
        PerChunk::Told => record.finish_tokens.unwrap_or(0),
        PerChunk::OneAndFinish => 1,
        _ => 0,
    };
    let at = record.last.filter(|_| tokens > 0 && !record.chunks.is_empty())?;
    let width = record.widths.map_or(0, |widths| widths.last);
    let at = [at.saturating_sub(width) / 1_000, at / 1_000];
    let samples = if time == Time::Itl { u64::from(tokens) } else { 1 };
    Some(Came { at, merged: false, samples })
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

    fn sorted(tally: Tally) -> Vec<u64> {
        let values = tally.freeze();
        values.pairs().flat_map(|(value, times)| vec![value; times as usize]).collect()
    }

    /// The samples of events at these times that carried so many tokens each, sorted.
    fn samples_of(from: u64, at: &[u64], tokens: &[u64]) -> Vec<u64> {
        let before = [&[from], at].concat();
        let each = before.windows(2).zip(tokens).filter(|(_, tokens)| **tokens > 0);
        let mut samples: Vec<u64> = each
            .flat_map(|(w, tokens)| vec![(w[1] - w[0]) * 1_000 / tokens; *tokens as usize])
            .collect();
        samples.sort_unstable();
        samples
    }

    #[test]
    fn any_order_of_true_times_lies_within() {
        // Every way in which three merged events may have come lies between the sorted bounds,
        // whatever they carried.
        let carried =
            [[1, 1, 1, 1], [4, 4, 4, 4], [1, 5, 2, 3], [3, 0, 1, 1], [0, 2, 0, 7], [8, 1, 1, 1]];
        for tokens in carried {
            let mut part = Part::default();
            let (lead, rest) = (Some(tokens[0]), tokens[1..].to_vec());
            part.bound([30, 30], Group { first: [50, 90], last: [90, 90], lead, rest });
            let [low, high] = [part.low, part.high].map(sorted);
            for times in [[50, 50, 50], [50, 70, 90], [90, 90, 90], [55, 60, 89], [50, 90, 90]] {
                let at = [times[0], times[1], times[2], 90];
                let samples = samples_of(30, &at, &tokens);
                assert_eq!((samples.len(), samples.len()), (low.len(), high.len()));
                for ((sample, low), high) in samples.iter().zip(&low).zip(&high) {
                    let inside = low <= sample && sample <= high;
                    assert!(inside, "{tokens:?}: {samples:?} not in {low:?} to {high:?}");
                }
            }
        }
    }

    /// Events of `tokens` each, 20 ms per token from 100 ms on; every `loose`-th may have come 0.1 ms
    /// earlier, as where the client was a little late.
    fn with_interval(tokens: &[u32], loose: usize) -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.outcome = Outcome::Completed;
        (record.streamed, record.widths) = (true, Some(Widths::default()));
        record.chunk_tokens_known = true;
        let all = tokens.iter().map(|tokens| u64::from(*tokens)).sum();
        record.output = Some(TokenCount { tokens: all, source: TokenSource::Usage });
        let mut at = 100 * MS;
        for (event, tokens) in tokens.iter().enumerate() {
            at += u64::from(*tokens) * 20 * MS;
            record.chunks.push(at, false, *tokens);
            if loose > 0 && event % loose == loose - 1 {
                record.chunks.loosen(1, 0, 100);
            }
        }
        record
    }

    /// An interval of streaming read as a late client: one loose read of 0.1 ms made every event
    /// of several tokens look like as many merged events, so that the longest gap was known to within
    /// the number of tokens.
    #[test]
    fn stream_interval_several_tokens_of_an_event_are_one_gap() {
        let speculated: Vec<u32> = (0..200).map(|event| 1 + event * 7 % 5).collect();
        let streams =
            [vec![4; 64], vec![8; 64], vec![20; 32], [vec![1], vec![20; 31]].concat(), speculated];
        for (tokens, loose) in streams.iter().flat_map(|tokens| [0, 30, 1].map(|l| (tokens, l))) {
            let record = with_interval(tokens, loose);
            let mut gaps = Gaps::default();
            gaps.add(&record);
            let found = gaps.ranges(Time::Itl, &printed(&record)).unwrap();
            // 0.1 ms of a gap of k tokens is less than that for each; neighbours may both be loose.
            for [low, high] in [found.mean, found.p50, found.p90, found.p99].into_iter().flatten() {
                let most = if loose == 0 { 0.0 } else { 0.2 };
                let close = 20.0 - low <= most + 0.002 && high - 20.0 <= most + 0.002;
                assert!(close, "{tokens:?}, every {loose}. loose: {low} to {high}");
            }
        }
    }

    #[test]
    fn events_without_a_token_take_their_time_from_the_mean() {
        // Every second event brings no token: its gap makes no sample, so 20 of 40 ms do not count.
        let mut record = with_interval(&[1; 2], 0);
        for event in 0..20_u64 {
            record.chunks.push((160 + 20 * event) * MS, false, (event % 2) as u32);
        }
        record.chunks.loosen(1, 0, 50);
        let mut gaps = Gaps::default();
        gaps.add(&record);
        let found = gaps.ranges(Time::Itl, &printed(&record)).unwrap();
        let [low, high] = found.mean.unwrap();
        assert!(low > 19.9 && high < 20.1 && low <= 20.0 && high >= 20.0, "{low} {high}");
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
