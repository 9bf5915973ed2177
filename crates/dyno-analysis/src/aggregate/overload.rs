//! A server that refuses requests because it has too many: what it said, how long clients waited, and
//! the percentiles of a level in which not every request got a response.

use super::client::exact_lag;
use super::request_times::request_times;
use crate::counts::Counts;
use dyno_model::Diagnostic;
use dyno_model::frame::{ClientHealth, LevelEnd};
use dyno_model::metric::Time;
use dyno_model::outcome::Outcome;
use dyno_model::plan::Load;
use dyno_model::record::RequestRecord;
use dyno_model::summary::{
    Late, LatePercentiles, Overload, Pauses, Retried, RetryAfter, WithFailures, round6,
};
use dyno_model::units::to_s;
use dyno_stats::{Counted, PERCENTILES, Presence};
use dyno_words::number::{digits, percent};
use dyno_words::{Finding, Overloaded, values};
use std::collections::BTreeMap;

const NS_PER_MS: f64 = 1e6;
/// Shorter waits, in all, are not reported.
const LEAST_PAUSE_S: f64 = 0.1;

/// The refusals of a level, from the first reading.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    classes: BTreeMap<String, u64>,
    /// Those of requests that were sent again, by their first refusal.
    refused: BTreeMap<String, u64>,
    /// What the server asked to wait: how often it did, the least and the most.
    asked: Option<(u64, u64, u64)>,
    sent: u64,
    retried: u64,
    completed: u64,
    retries: u64,
    /// From sending to the first refusal, and to the end.
    first: Vec<u64>,
    last: Vec<u64>,
}

impl Refusals {
    /// Counts a measured request.
    pub(crate) fn add(&mut self, record: &RequestRecord) {
        self.sent += u64::from(record.sent.is_some());
        if let Outcome::Shed(class) = &record.outcome {
            *self.classes.entry(class.to_string()).or_insert(0) += 1;
        }
        if let Some(asked) = record.retry_after.filter(|_| refused(record)) {
            let (count, least, most) = self.asked.unwrap_or((0, asked, asked));
            self.asked = Some((count + 1, least.min(asked), most.max(asked)));
        }
        if record.retries > 0 {
            if let Some(class) = record.refused_as {
                *self.refused.entry(class.to_string()).or_insert(0) += 1;
            }
            self.retried += 1;
            self.retries += u64::from(record.retries);
            self.completed += u64::from(record.is_completed());
            let refused = record.first_refused.zip(record.sent);
            self.first.extend(refused.map(|(refused, sent)| refused.saturating_sub(sent)));
            self.last.extend(request_times(record)[Time::Latency]);
        }
    }

    /// Measured requests that were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// What the summary says of them; nothing where nothing was refused.
    pub(crate) fn summary(self, load: Load, end: Option<&LevelEnd>) -> Option<Overload> {
        let overload = Overload {
            retry_after_s: self.asked.map(|(count, least, most)| {
                let [min, max] = [least, most].map(|time| round6(to_s(time)));
                RetryAfter { count, min, max }
            }),
            pauses: end.and_then(|end| pauses(load, end)),
            retried: (self.retried > 0).then(|| Retried {
                requests: self.retried,
                share: round6(self.retried as f64 / self.sent.max(1) as f64),
                completed: self.completed,
                retries: self.retries,
                first_refusal_ms: exact_lag(self.first),
                final_latency_ms: exact_lag(self.last),
            }),
            shed: self.classes,
            refused_first: self.refused,
        };
        (overload != Overload::default()).then_some(overload)
    }
}

/// Whether the server refused it, at first or for good.
fn refused(record: &RequestRecord) -> bool {
    record.retries > 0 || matches!(record.outcome, Outcome::Shed(_))
}

/// How long the slots of a closed loop waited.
fn pauses(load: Load, end: &LevelEnd) -> Option<Pauses> {
    let ClientHealth { paused_ns, pauses, wall_ns, .. } = end.client;
    let Load::Concurrency { concurrency } = load else { return None };
    let all = f64::from(concurrency) * wall_ns as f64;
    (pauses > 0).then(|| Pauses {
        count: pauses,
        total_s: round6(to_s(paused_ns)),
        share: (all > 0.0).then(|| round6((paused_ns as f64 / all).min(1.0))),
    })
}

/// More requests failed or were shed than is allowed, and some were shed. Where failures alone are too
/// many, that is another finding.
pub(super) fn shed(counts: &Counts, allowed: f64) -> Option<Diagnostic> {
    let ended = counts.completed + counts.refused();
    (counts.shed > 0 && counts.bar_missed(allowed)).then(|| {
        let share = percent(counts.shed as f64 / ended as f64);
        Overloaded::Shed.with(values![counts.shed, ended, share, percent(allowed)])
    })
}

/// No request completed: because the server shed them all, or for other reasons.
pub(super) fn nothing_completed(counts: &Counts) -> Diagnostic {
    match (counts.failed, counts.shed) {
        (0, 1..) if counts.bad() == counts.shed => Finding::AllShed.into(),
        (0, _) => Finding::NothingCompleted.into(),
        (failed, _) => Finding::AllFailed.with([failed]),
    }
}

/// Notes on waits and on requests that were sent again. Waits that add up to nothing, or after which
/// nothing but failures followed, changed no result.
pub(super) fn notes(overload: &Overload, counts: &Counts, sent: u64) -> Vec<Diagnostic> {
    let matters =
        |pauses: &Pauses| pauses.total_s >= LEAST_PAUSE_S && counts.completed + counts.shed > 0;
    let paused = overload.pauses.filter(matters).map(|pauses| {
        let share = pauses.share.map_or_else(|| "–".to_owned(), percent);
        Overloaded::Paused.with(values![digits(pauses.total_s, 1), share])
    });
    let retried = overload.retried.map(|of| {
        let share = percent(of.share);
        Overloaded::Retried.with(values![of.requests, sent, share, of.retries, of.completed])
    });
    paused.into_iter().chain(retried).collect()
}

/// Percentiles of samples and of so many more that were never answered; nothing without samples.
pub(crate) fn late(samples: &Counted, infinite: u64) -> Option<LatePercentiles> {
    let finite = samples.count();
    let last = (finite + infinite).checked_sub(1).filter(|_| finite > 0 && infinite > 0)?;
    let mut found = LatePercentiles::default();
    for percentile in PERCENTILES.iter().filter(|one| LatePercentiles::NAMES.contains(&one.name)) {
        // Where it lies among all of them, linearly interpolated.
        let place = last as f64 * percentile.share();
        let known = percentile.presence(finite + infinite) != Presence::Absent;
        found.set(
            percentile.name,
            match known {
                false => Late::Unknown,
                true if place.ceil() as u64 >= finite => Late::Infinitely,
                true => {
                    let share = place / (finite - 1).max(1) as f64;
                    let value = samples.quantile(share.min(1.0));
                    value.map_or(Late::Unknown, |ns| Late::By(round6(ns / NS_PER_MS)))
                }
            },
        );
    }
    Some(found)
}

/// The block of the summary; nothing where all completed, or nothing has a time.
pub(super) fn with_failures(
    counts: &Counts,
    mut of: impl FnMut(Time) -> Option<LatePercentiles>,
) -> Option<WithFailures> {
    let infinite = counts.refused();
    let block = WithFailures {
        requests: counts.completed + infinite,
        infinite,
        ttft_ms: of(Time::Ttft),
        ttft_scheduled_ms: of(Time::TtftScheduled),
        latency_ms: of(Time::Latency),
        latency_scheduled_ms: of(Time::LatencyScheduled),
    };
    (infinite > 0 && block.latency_ms.is_some()).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::MS;

    /// Percentiles of 1 ms, 2 ms, … `finite` ms and `infinite` failures.
    fn of(finite: u64, infinite: u64) -> Option<LatePercentiles> {
        let samples = Counted::from_samples((1..=finite).map(|n| n * MS).collect());
        late(&samples, infinite)
    }

    #[test]
    fn failures_come_after_every_response() {
        // 101 requests, so that percentiles fall on samples: the median is the 51st.
        let found = of(99, 2).unwrap();
        assert_eq!([found.p50, found.p90, found.p95], [Some(51.0), Some(91.0), Some(96.0)]);
        assert_eq!((found.p99, &found.infinite[..]), (None, &["p99".to_owned()][..]));
        assert_eq!(found.get("p99"), Late::Infinitely);
        // The 100th of 101 is the last response.
        assert_eq!(of(100, 1).unwrap().p99, Some(100.0));
        // Half of them failed, one more than half.
        assert_eq!(of(51, 50).unwrap().p50, Some(51.0));
        assert_eq!(of(50, 51).unwrap().get("p50"), Late::Infinitely);
    }

    #[test]
    fn a_percentile_between_a_response_and_a_failure_is_infinite() {
        // The median of four lies between the second and the third.
        assert_eq!(of(2, 2).unwrap().get("p50"), Late::Infinitely);
        assert_eq!(of(3, 1).unwrap().get("p50"), Late::By(2.5));
    }

    #[test]
    fn too_few_requests_have_no_p99_and_complete_levels_no_block() {
        assert_eq!(of(5, 1).unwrap().get("p99"), Late::Unknown);
        assert_eq!(of(50, 0), None);
        assert_eq!(of(0, 50), None);
    }
}
