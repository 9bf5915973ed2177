//! The times of one request, by the definitions of the metrics page. Nothing else computes them.

use super::timeline::for_each_gap;
use dyno_model::metric::{PerTime, Time};
use dyno_model::record::RequestRecord;

/// The times that a completed request has once, in nanoseconds; none for other requests. Times between
/// its events are not included.
pub fn request_times(record: &RequestRecord) -> PerTime<Option<u64>> {
    let mut times = PerTime::default();
    if !record.is_completed() {
        return times;
    }
    let since = |later: Option<u64>, earlier: Option<u64>| Some(later?.saturating_sub(earlier?));
    let last = record.last.or((!record.streamed).then_some(record.end));
    let first = record.first.filter(|_| record.streamed);
    times[Time::Ttft] = since(first, record.sent);
    times[Time::TtftScheduled] = since(first, Some(record.intended));
    times[Time::Latency] = since(last, record.sent);
    times[Time::LatencyScheduled] = since(last, Some(record.intended));
    times[Time::Headers] = since(record.headers.filter(|_| record.inputs.is_some()), record.sent);
    times[Time::Tpot] = since(last, first).and_then(|time| {
        let gaps = record.streamed_tokens()?.checked_sub(1).filter(|n| *n > 0)?;
        Some((time + gaps / 2) / gaps)
    });
    times
}

/// A sample of a time between the events of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GapSample {
    pub(crate) time: Time,
    /// When it ended, in nanoseconds.
    pub(crate) at: u64,
    pub(crate) value: u64,
    /// How many samples it counts as.
    pub(crate) times: u64,
}

/// The times between the events of a request.
pub(crate) fn for_each_gap_sample(record: &RequestRecord, mut take: impl FnMut(GapSample)) {
    for_each_gap(record, |gap| {
        let at = gap.at_us.saturating_mul(1_000);
        take(GapSample { time: Time::ChunkGap, at, value: gap.gap_ns, times: 1 });
        if let Some((value, times)) = gap.per_token() {
            take(GapSample { time: Time::Itl, at, value, times });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;
    use dyno_model::outcome::Outcome;
    use dyno_model::record::{Phase, TokenCount, TokenSource};

    #[test]
    fn tokens_that_were_not_sent_are_not_between_the_first_and_the_last() {
        let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
        record.outcome = Outcome::Completed;
        record.streamed = true;
        (record.sent, record.first, record.last) = (Some(0), Some(100 * MS), Some(120 * MS));
        record.output = Some(TokenCount { tokens: 403, source: TokenSource::Usage });
        assert_eq!(request_times(&record)[Time::Tpot], Some((20 * MS + 201) / 402));
        record.unstreamed = Some(400);
        assert_eq!(request_times(&record)[Time::Tpot], Some(10 * MS));
        record.unstreamed = Some(403);
        assert_eq!(request_times(&record)[Time::Tpot], None);
    }
}
