//! The capacity of a twin in requests per second, as an interval: the throughput of a closed loop that
//! saturates it, give or take the twin's known error.

use crate::workload::Typical;
use dyno_engine::core::{Event, Request};
use dyno_engine::twin::Twin;
use dyno_engine::twin::reference::ReferenceValue;
use dyno_engine::virtual_time::Virtual;
use dyno_model::Nanos;
use dyno_model::units::to_s;

/// Half the width of the interval if the twin's error is unknown, and the smallest in any case.
const UNKNOWN: f64 = 0.10;
const LEAST: f64 = 0.02;
/// Simulated requests per slot in the batch, and at least.
const PER_SLOT: u64 = 6;
const AT_LEAST: u64 = 400;
const MOST_USERS: u64 = 1_024;

/// The interval that contains the capacity; nothing if such requests cannot be served at all.
pub(super) fn interval(twin: &Twin, lengths: Typical) -> Option<[f64; 2]> {
    let rate = saturated(twin, lengths)?;
    // A limit of sequences that was never reached may be anywhere above what was in flight at once.
    let never_reached = twin.unidentified.iter().any(|what| what.starts_with("max_seqs"));
    let seen = twin.range.as_ref().filter(|_| never_reached).map(|range| range.in_flight);
    let least = seen.and_then(|[_, most]| {
        let mut small = twin.clone();
        small.scheduler.max_seqs = (most as u32).clamp(1, twin.scheduler.max_seqs);
        saturated(&small, lengths)
    });
    let known = |figure| {
        let errors = [&twin.errors.held_out, &twin.errors.fitted];
        errors.into_iter().find_map(|errors| errors.get(&figure).copied())
    };
    let error = known(ReferenceValue::CompletedRate)
        .or_else(|| known(ReferenceValue::OutputTokensPerS))
        .or_else(|| known(ReferenceValue::DurationS));
    // A closed loop shows the throughput; the rate of an open loop is what was sent.
    let closed = twin.errors.kinds.get("closed").map(|of| of.rate);
    let error = closed.or(error).map_or(UNKNOWN, |percent| (2.0 * percent / 100.0).max(LEAST));
    Some([least.unwrap_or(rate).min(rate) * (1.0 - error).max(0.0), rate * (1.0 + error)])
}

/// Completed requests per second of a saturated engine.
fn saturated(twin: &Twin, Typical { input, output }: Typical) -> Option<f64> {
    let mut time = Virtual::new(twin.core(0).ok()?);
    let users = (2 * u64::from(twin.scheduler.max_seqs)).min(MOST_USERS);
    let total = (PER_SLOT * users).max(AT_LEAST);
    let mut sent = 0_u64;
    let mut send = |time: &mut Virtual, at: Nanos| {
        let request = Request { id: sent, input, output, hashes: &[] };
        sent += 1;
        time.submit(at, request).is_ok()
    };
    for _ in 0..users {
        if !send(&mut time, 0) {
            return None;
        }
    }
    let mut ended = Vec::with_capacity(total as usize);
    while (ended.len() as u64) < total {
        if let Event::Finished { at, .. } = time.advance(Nanos::MAX)? {
            ended.push(at);
            send(&mut time, at);
        }
    }
    // The middle half: the first wave is synchronised, and the last one is incomplete.
    let (from, to) = (ended.len() / 4, ended.len() * 3 / 4);
    let span = to_s(ended[to].checked_sub(ended[from])?);
    (span > 0.0).then(|| (to - from) as f64 / span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::twin::profile::TwinRange;

    #[test]
    fn longer_answers_leave_less_capacity_and_too_long_ones_none() {
        let twin = Twin::load(Twin::default_name()).unwrap();
        let of = |input, output| interval(&twin, Typical { input, output });
        let [low, high] = of(128, 64).unwrap();
        assert!(0.0 < low && low < high);
        let [longer, _] = of(128, 640).unwrap();
        assert!(longer < low / 4.0, "{longer} {low}");
        assert_eq!(of(twin.context(), 1), None);
    }

    #[test]
    fn a_limit_that_was_never_reached_makes_the_interval_wide() {
        let mut twin = Twin::load(Twin::default_name()).unwrap();
        twin.scheduler.max_seqs = 256;
        let in_flight = [1.0, 8.0];
        let any = [1.0, 1e3];
        twin.range = Some(TwinRange { in_flight, rate: any, input: any, output: any });
        let of = |twin: &Twin| interval(twin, Typical { input: 128, output: 64 }).unwrap();
        let known = of(&twin);
        twin.unidentified = vec!["max_seqs (never reached)".to_owned()];
        let unknown = of(&twin);
        assert!(unknown[0] < 0.7 * known[0], "{unknown:?} {known:?}");
        assert_eq!(unknown[1], known[1]);
    }
}
