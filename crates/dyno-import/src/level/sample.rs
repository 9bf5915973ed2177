//! One request as another tool saved it, and the record that Dyno would have written for it. What
//! the tool did not save is absent.

use dyno_model::Message;
use dyno_model::outcome::{FailureClass, Outcome};
use dyno_model::record::{Phase, RequestRecord, TokenCount, TokenSource};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest plausible time, in seconds: ten years.
const LONGEST_S: f64 = 10.0 * 365.0 * 86_400.0;
/// Clocks with larger values count from 1970; others from the start of the machine.
const WALL_CLOCK_S: f64 = 1e9;
/// The longest text of a failure that is kept.
const LONGEST_DETAIL: usize = 4096;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Ended {
    /// With a complete response.
    #[default]
    Completed,
    /// With a failure, and the error message of the server or the tool.
    Failed(String),
    /// It was still running when the tool stopped.
    Unfinished,
}

/// One request; times in seconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sample {
    /// When it was due in an open loop, by the clock of `sent`.
    pub(crate) scheduled: Option<f64>,
    /// When it was sent, by any clock.
    pub(crate) sent: Option<f64>,
    /// From `sent` to the first output; absent where the response was not streamed.
    pub(crate) ttft: Option<f64>,
    /// From `sent` to the last output.
    pub(crate) latency: Option<f64>,
    /// From `sent` to the end, where that differs.
    pub(crate) end: Option<f64>,
    /// Between output events; empty where unknown.
    pub(crate) gaps: Vec<f64>,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) ended: Ended,
    pub(crate) status: Option<u16>,
    /// Whether the tool leaves it out of its metrics, as warm-up or cool-down.
    pub(crate) warmup: bool,
}

impl Sample {
    /// Whether it ended with a complete response.
    pub(crate) fn is_completed(&self) -> bool {
        self.ended == Ended::Completed
    }

    /// Whether any time of its response is known.
    fn has_end(&self) -> bool {
        self.end.or(self.latency).or(self.ttft).is_some()
    }

    /// Whether it completed without any output.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_completed() && self.ttft.is_none() && self.output.unwrap_or(0) == 0
    }
}

/// Whether all have a send time; failed ones need not.
pub(crate) fn times(samples: &[Sample]) -> bool {
    let stated = |one: &Sample| one.sent.is_some() || one.ended != Ended::Completed;
    samples.iter().all(stated) && samples.iter().any(|one| one.sent.is_some())
}

/// The first time of all.
pub(crate) fn earliest(samples: &[Sample]) -> Option<f64> {
    let all = samples.iter().flat_map(|one| [one.scheduled, one.sent]).flatten();
    all.filter(|time| time.is_finite()).reduce(f64::min)
}

/// Nanoseconds since 1970, for a clock that counts from there; 0 for any other.
pub(crate) fn wall_clock(seconds: f64) -> u64 {
    if (WALL_CLOCK_S..1e11).contains(&seconds) { (seconds * 1e9) as u64 } else { 0 }
}

/// The records of a level, in the order of sending, on `slots` slots.
pub(crate) fn records(level: u32, samples: &[Sample], zero: f64, slots: u32) -> Vec<RequestRecord> {
    let known = times(samples);
    let base = if known { earliest(samples).unwrap_or(zero) } else { zero };
    let mut records: Vec<RequestRecord> = (0..)
        .zip(samples)
        .map(|(index, sample)| record(level, index, sample, zero, base, known))
        .collect();
    records.sort_by_key(|record| (record.sent, record.index));
    let slots = slots.clamp(1, (records.len() as u32).max(1));
    let mut free: BinaryHeap<Reverse<(u64, u32)>> =
        (0..slots).map(|slot| Reverse((0, slot))).collect();
    for record in records.iter_mut().filter(|record| record.sent.is_some()) {
        // The slot that became free first is next, even if by the clock none is.
        if let Some(Reverse((until, slot))) = free.pop() {
            record.slot = slot;
            free.push(Reverse((until.max(record.end), slot)));
        }
    }
    for (index, record) in (0..).zip(&mut records) {
        record.index = index;
    }
    records
}

fn record(
    level: u32,
    index: u64,
    sample: &Sample,
    zero: f64,
    base: f64,
    known: bool,
) -> RequestRecord {
    let phase = if sample.warmup { Phase::Warmup } else { Phase::Measured };
    let clock = |time: f64| nanos(time - zero);
    let sent = if known { sample.sent.map(clock) } else { Some(0) };
    // Without any time of its response a request would seem to take none.
    let sent = sent.filter(|_| sample.has_end() || !sample.is_completed());
    let scheduled = sample.scheduled.filter(|_| known).map(clock);
    let intended = scheduled.or(sent).unwrap_or_else(|| clock(base));
    let mut record = RequestRecord::new(level, index, 0, phase, intended);
    let since = |time: Option<f64>| Some(sent?.saturating_add(nanos(time?)));
    record.dispatched = scheduled.and(sent);
    record.sent = sent;
    record.first = since(sample.ttft);
    record.last = since(sample.latency).or(record.first);
    record.end = since(sample.end).max(record.last).or(sent).unwrap_or(intended);
    record.streamed = sample.ttft.is_some();
    // No tool reports it; the share of streams without one is left out of the results.
    record.terminal = true;
    let tokens = |tokens| TokenCount { tokens, source: TokenSource::Usage };
    record.input = sample.input.map(tokens);
    record.output = sample.output.map(tokens);
    record.status = sample.status;
    record.outcome = match &sample.ended {
        Ended::Completed => Outcome::Completed,
        Ended::Unfinished => Outcome::Censored,
        Ended::Failed(words) => {
            let kept: String = words.chars().take(LONGEST_DETAIL).collect();
            record.detail = Some(Message::quoted(kept));
            Outcome::Failed(class(sample.status, words))
        }
    };
    if let Some(first) = record.first.filter(|_| !sample.gaps.is_empty()) {
        let mut at = first;
        record.chunks.push(at, false, 1);
        for gap in &sample.gaps {
            at = at.saturating_add(nanos(*gap));
            record.chunks.push(at, false, 1);
        }
    }
    record
}

/// The class of a failure, as far as its message shows.
fn class(status: Option<u16>, words: &str) -> FailureClass {
    if let Some(status) = status.filter(|status| *status != 200) {
        return FailureClass::Http(status);
    }
    let words = words.to_ascii_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if says(&["timeout", "timed out"]) {
        FailureClass::TimeoutTotal
    } else if says(&["refused", "cannot connect", "connect call failed"]) {
        FailureClass::Connect
    } else if says(&["reset", "disconnected", "broken pipe"]) {
        FailureClass::StreamReset
    } else {
        FailureClass::StreamError
    }
}

/// Plausible, non-negative seconds, in nanoseconds.
fn nanos(seconds: f64) -> u64 {
    if seconds.is_nan() { 0 } else { (seconds.clamp(0.0, LONGEST_S) * 1e9).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(sent: f64, ttft: f64, gaps: &[f64]) -> Sample {
        let latency = ttft + gaps.iter().sum::<f64>();
        Sample {
            sent: Some(sent),
            ttft: Some(ttft),
            latency: Some(latency),
            gaps: gaps.to_vec(),
            input: Some(5),
            output: Some(gaps.len() as u64 + 1),
            ..Sample::default()
        }
    }

    #[test]
    fn a_record_has_the_times_of_the_sample() {
        let samples = [sample(1000.5, 0.25, &[0.01, 0.02])];
        let records = records(3, &samples, 1000.0, 1);
        let record = &records[0];
        assert_eq!(record.level, 3);
        assert_eq!(record.sent, Some(500_000_000));
        assert_eq!(record.first, Some(750_000_000));
        assert_eq!(record.last, Some(780_000_000));
        let times: Vec<u64> = record.chunks.iter().map(|chunk| chunk.at_us).collect();
        assert_eq!(times, [750_000, 760_000, 780_000]);
        assert_eq!(record.dispatched, None);
    }

    #[test]
    fn requests_of_a_closed_loop_follow_one_another_on_their_slots() {
        let samples = [
            sample(0.0, 1.0, &[]),
            sample(0.0, 2.0, &[]),
            sample(1.0, 3.0, &[]),
            sample(2.0, 1.0, &[]),
        ];
        let slots: Vec<u32> =
            records(0, &samples, 0.0, 2).iter().map(|record| record.slot).collect();
        assert_eq!(slots, [0, 1, 0, 1]);
    }

    #[test]
    fn a_failure_without_a_time_has_none() {
        let failed = Sample { ended: Ended::Failed("refused".to_owned()), ..Sample::default() };
        let samples = [sample(7.0, 1.0, &[]), failed];
        assert!(times(&samples));
        let records = records(0, &samples, 7.0, 1);
        let failed = records.iter().find(|record| !record.is_completed()).unwrap();
        assert_eq!(failed.sent, None);
        assert_eq!(failed.outcome, Outcome::Failed(FailureClass::Connect));
    }

    #[test]
    fn a_response_without_a_time_has_no_latency_of_zero() {
        let samples = [sample(7.0, 1.0, &[]), Sample { sent: Some(8.0), ..Sample::default() }];
        let records = records(0, &samples, 7.0, 1);
        let empty = records.iter().find(|record| record.first.is_none()).unwrap();
        assert!(empty.is_completed());
        assert_eq!(empty.sent, None);
    }

    #[test]
    fn times_beyond_belief_do_no_harm() {
        let wild = Sample {
            sent: Some(f64::MAX),
            ttft: Some(f64::INFINITY),
            latency: Some(-5.0),
            gaps: vec![f64::NAN, -1.0, 1e300],
            ..Sample::default()
        };
        let records = records(0, &[wild], 0.0, u32::MAX);
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].chunks.len(), 4);
    }
}
