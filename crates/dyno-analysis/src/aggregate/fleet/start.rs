//! Whether an agent started when all of them should, and how well its clock is known.

use dyno_model::fleet::AgentEnd;
use dyno_model::plan::{Arrival, Load};
use dyno_model::{Diagnostic, MS};
use dyno_words::FleetFinding;
use dyno_words::number::digits;

/// A start is never too late by less, whatever the load.
const FLOOR_NS: f64 = 5.0 * MS as f64;
/// The share of the median TTFT that matters, and of the gap between evenly spaced arrivals.
const SHARE: f64 = 0.1;
/// The finest schedule that a client keeps anyway: a smaller error is no larger than that of its own timer.
const FINEST_NS: f64 = 0.1 * MS as f64;

/// By how much an agent's clock or start may be off at this load. Its arrivals fall between those of the
/// others: where all are evenly spaced, a shift of a fraction of the gap makes them uneven.
pub(super) fn limit_ns(load: Load, median_ns: Option<f64>) -> f64 {
    let limit = FLOOR_NS.max(median_ns.unwrap_or(0.0) * SHARE);
    let even = match load {
        Load::Rate { rate, arrival: Arrival::Constant } => Some(rate),
        Load::Ramp { from, to, arrival: Arrival::Constant, .. } => Some(from.max(to)),
        _ => None,
    };
    match even {
        Some(rate) if rate > 0.0 => limit.min((SHARE * 1e9 / rate).max(FINEST_NS)),
        _ => limit,
    }
}

/// What there is to say of an agent's start and clock.
pub(super) fn findings(agent: &AgentEnd, limit_ns: f64) -> Vec<Diagnostic> {
    let shown = |ns: f64| digits(ns / 1e6, if ns < 10.0 * MS as f64 { 2 } else { 0 });
    let mut found = Vec::new();
    if let Some(error) = agent.start_error_ns.filter(|error| error.unsigned_abs() as f64 > limit_ns)
    {
        let what = match error > 0 {
            true => FleetFinding::StartedLate,
            false => FleetFinding::StartedEarly,
        };
        found.push(what.with([error.unsigned_abs() as f64, limit_ns].map(shown)));
    }
    let bound = agent.clock.map(|clock| clock.bound_ns as f64);
    if let Some(bound) = bound.filter(|bound| *bound > limit_ns) {
        found.push(FleetFinding::ClockUnsure.with([bound, limit_ns].map(shown)));
    }
    if let Some(clock) = agent.clock.filter(|clock| clock.steps > 0) {
        found.push(FleetFinding::ClockJumped.with([clock.steps]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_arrivals_allow_a_tenth_of_their_gap() {
        let rate = |rate, arrival| Load::Rate { rate, arrival };
        let ms = |load, median: Option<f64>| limit_ns(load, median.map(|ms| ms * 1e6)) / 1e6;
        assert_eq!(ms(rate(200.0, Arrival::Poisson), Some(30.0)), 5.0);
        assert_eq!(ms(rate(200.0, Arrival::Poisson), Some(800.0)), 80.0);
        assert_eq!(ms(rate(200.0, Arrival::Constant), Some(800.0)), 0.5);
        assert_eq!(ms(rate(2.0, Arrival::Constant), Some(80.0)), 8.0);
        assert_eq!(ms(rate(1e5, Arrival::Constant), None), 0.1);
        assert_eq!(ms(Load::Concurrency { concurrency: 8 }, None), 5.0);
    }
}
