//! Times that a request has once.

use super::super::request_times::request_times;
use super::ranges;
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::{RequestRecord, Widths};
use dyno_model::summary::Ranges;
use dyno_stats::Counted;

/// The least and the most that each time of a completed request may have been, in nanoseconds; none
/// where its record does not state its accuracy.
pub(crate) fn bounds(record: &RequestRecord) -> Option<PerTime<Option<[u64; 2]>>> {
    let widths = record.widths?;
    let times = request_times(record);
    let pairs = PerTime::new(|time| {
        let value = times[time]?;
        let (below, above) = slack(time, record, &widths)?;
        Some([value.saturating_sub(below), value.saturating_add(above)])
    });
    Some(pairs)
}

/// By how much a time may have been shorter, and longer.
fn slack(time: Time, record: &RequestRecord, widths: &Widths) -> Option<(u64, u64)> {
    let last = if record.last.is_some() { widths.last } else { widths.end };
    // Had it been sent as soon as possible, everything after would have been earlier by as much.
    let late = || record.sent.map_or(0, |sent| sent.saturating_sub(record.sendable()));
    Some(match time {
        Time::Ttft => (widths.first, widths.sent),
        Time::Latency => (last, widths.sent),
        Time::TtftScheduled => (widths.first + late(), widths.intended),
        Time::LatencyScheduled => (last + late(), widths.intended),
        Time::Tpot => {
            let gaps = record.streamed_tokens()?.checked_sub(1).filter(|gaps| *gaps > 0)?;
            (last.div_ceil(gaps), widths.first.div_ceil(gaps))
        }
        Time::Itl | Time::ChunkGap | Time::Headers => return None,
    })
}

/// By how much the samples of a time may be off, in microseconds, in order.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<(u32, u32)>);

impl Spans {
    /// The next sample, and what it may have been.
    pub(crate) fn push(&mut self, value: u64, [low, high]: [u64; 2]) {
        let us = |ns: u64| u32::try_from(ns.div_ceil(1_000)).unwrap_or(u32::MAX);
        self.0.push((us(value.saturating_sub(low)), us(high.saturating_sub(value))));
    }

    /// The ranges of these samples' statistics.
    pub(crate) fn ranges(&self, samples: &[u64]) -> Option<Ranges> {
        if samples.is_empty() || samples.len() != self.0.len() {
            return None;
        }
        let ends = |of: fn(u64, (u32, u32)) -> u64| {
            let ends = samples.iter().zip(&self.0).map(|(value, span)| of(*value, *span));
            Counted::from_samples(ends.collect())
        };
        let low = ends(|value, (below, _)| value.saturating_sub(u64::from(below) * 1_000));
        let high = ends(|value, (_, above)| value.saturating_add(u64::from(above) * 1_000));
        Some(ranges(&low, &high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::record::{Phase, TokenCount, TokenSource};
    use dyno_model::{MS, outcome::Outcome};

    fn record() -> RequestRecord {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 5 * MS);
        record.outcome = Outcome::Completed;
        record.streamed = true;
        record.sent = Some(10 * MS);
        (record.first, record.last, record.end) = (Some(110 * MS), Some(310 * MS), 311 * MS);
        record.output = Some(TokenCount { tokens: 11, source: TokenSource::Usage });
        record
    }

    #[test]
    fn differences_are_taken_crosswise() {
        let mut record = record();
        assert!(bounds(&record).is_none());
        let widths = Widths { intended: MS, sent: 2 * MS, first: 30 * MS, last: 50 * MS, end: 0 };
        record.widths = Some(widths);
        let found = bounds(&record).unwrap();
        assert_eq!(found[Time::Ttft], Some([70 * MS, 102 * MS]));
        assert_eq!(found[Time::Latency], Some([250 * MS, 302 * MS]));
        assert_eq!(found[Time::Tpot], Some([15 * MS, 23 * MS]));
        // It was sent 5 ms after it was due, because of the client.
        assert_eq!(found[Time::TtftScheduled], Some([70 * MS, 106 * MS]));
        assert_eq!(found[Time::Itl], None);
    }

    #[test]
    fn one_loose_sample_of_many_moves_the_mean_and_the_last_percentile_alone() {
        let mut spans = Spans::default();
        let samples: Vec<u64> = (0..100).map(|_| 100 * MS).collect();
        for index in 0..100 {
            let low = if index == 7 { 20 * MS } else { 100 * MS };
            spans.push(100 * MS, [low, 100 * MS]);
        }
        let found = spans.ranges(&samples).unwrap();
        assert_eq!(found.mean, Some([99.2, 100.0]));
        assert_eq!(found.p50, Some([100.0, 100.0]));
        assert_eq!(found.p99, Some([100.0, 100.0]));
        assert_eq!(spans.ranges(&samples[1..]), None);
    }
}
