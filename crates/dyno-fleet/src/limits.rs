//! What an agent accepts of a plan. A coordinator has checked its command line, but anybody who may write to
//! a bus can send a plan: one without an end, or one that is larger than any machine.

use crate::message::{Prepare, Setup};
use dyno_model::Nanos;
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use std::fmt;
use std::ops::RangeInclusive;

/// The limits of the command line.
const IN_FLIGHT: RangeInclusive<u64> = 1..=100_000;
const REQUESTS: RangeInclusive<u64> = 0..=1_000_000_000;
const RATES: RangeInclusive<f64> = 0.0..=1e6;
const SHAPES: RangeInclusive<f64> = 0.01..=1000.0;
const SPEEDS: RangeInclusive<f64> = 1e-6..=1e6;
const STEPS: RangeInclusive<u64> = 1..=100;
const INPUTS: RangeInclusive<u64> = 1..=10_000;
const RETRIES: RangeInclusive<u64> = 0..=1_000;
const AGENTS: RangeInclusive<u64> = 1..=1_000;
/// 10,000 hours.
const TIMES: RangeInclusive<Nanos> = 0..=36_000_000_000_000_000;
/// Arrivals of an open loop are computed before it starts.
const ARRIVALS: RangeInclusive<f64> = 0.0..=50e6;

/// Whether an agent accepts a run; the reason if not.
pub fn check_setup(setup: &Setup) -> Result<(), String> {
    let Setup { plan, shard, .. } = setup;
    within("shard.of", shard.of.into(), &AGENTS)?;
    within("shard.index", shard.index.into(), &(0..=u64::from(shard.of) - 1))?;
    within("shed_retries", plan.shed_retries.unwrap_or(0).into(), &RETRIES)?;
    let times = plan.timeouts;
    for (name, time) in [
        ("timeouts.connect_ns", times.connect_ns),
        ("timeouts.total_ns", times.total_ns),
        ("timeouts.first_token_ns", times.first_token_ns),
        ("timeouts.idle_ns", times.idle_ns),
    ] {
        within(name, time, &TIMES)?;
    }
    plan.levels.iter().try_for_each(check_sizes)
}

/// Whether an agent accepts a level; the reason if not.
pub fn check_level(prepare: &Prepare) -> Result<(), String> {
    let plan = &prepare.plan;
    let bounded = plan.requests.is_some() || plan.duration_ns.is_some();
    if matches!(plan.load, Load::Rate { .. } | Load::Concurrency { .. }) && !bounded {
        return Err(
            "the plan has a level without an end; it needs requests or duration_ns".to_owned()
        );
    }
    within("taken", prepare.taken, &REQUESTS)?;
    check_sizes(plan)
}

fn check_sizes(plan: &LevelPlan) -> Result<(), String> {
    within("requests", plan.requests.unwrap_or(0), &REQUESTS)?;
    within("duration_ns", plan.duration_ns.unwrap_or(0), &TIMES)?;
    within("drain_ns", plan.drain_ns, &TIMES)?;
    within("inputs", plan.inputs.unwrap_or(1).into(), &INPUTS)?;
    within("max_concurrency", plan.max_concurrency.unwrap_or(1).into(), &IN_FLIGHT)?;
    match plan.warmup {
        None => {}
        Some(Warmup::Requests(count)) => within("warmup.requests", count, &REQUESTS)?,
        Some(Warmup::Duration(time)) => within("warmup.duration", time, &TIMES)?,
    }
    match plan.load {
        Load::Concurrency { concurrency } => {
            within("concurrency", concurrency.into(), &IN_FLIGHT)?;
        }
        Load::Burst { requests } => {
            within("burst", requests, &IN_FLIGHT)?;
            if let Some(Warmup::Requests(count)) = plan.warmup {
                within("warmup.requests", count.max(1), &IN_FLIGHT)?;
            }
        }
        Load::Trace { speed } => within("speed", speed, &SPEEDS)?,
        Load::Rate { rate, arrival } => {
            // Such a schedule would have no end, or no second arrival.
            within("rate", rate, &(f64::MIN_POSITIVE..=*RATES.end()))?;
            check_arrival(arrival)?;
        }
        Load::Ramp { from, to, over_ns, steps, arrival } => {
            within("from", from, &RATES)?;
            within("to", to, &RATES)?;
            within("over_ns", over_ns, &TIMES)?;
            within("steps", steps.unwrap_or(1).into(), &STEPS)?;
            check_arrival(arrival)?;
        }
    }
    within("arrivals", arrivals(plan), &ARRIVALS)
}

fn check_arrival(arrival: Arrival) -> Result<(), String> {
    match arrival {
        Arrival::Constant | Arrival::Poisson => Ok(()),
        Arrival::Gamma { shape } => within("shape", shape, &SHAPES),
    }
}

/// How many arrivals an open loop computes.
fn arrivals(plan: &LevelPlan) -> f64 {
    let seconds = |time: Nanos| time as f64 / 1e9;
    let (first, by_time) = match plan.load {
        Load::Rate { rate, .. } => (rate, plan.duration_ns.map(|time| rate * seconds(time))),
        Load::Ramp { from, .. } => (from, plan.load.ramp().map(|ramp| ramp.expected())),
        Load::Concurrency { .. } | Load::Burst { .. } | Load::Trace { .. } => return 0.0,
    };
    let by_count = plan.requests.map(|requests| requests as f64);
    let before = match plan.warmup {
        None => 0.0,
        Some(Warmup::Requests(count)) => count as f64,
        Some(Warmup::Duration(time)) => first * seconds(time),
    };
    // A level of a setup need not have an end yet.
    by_time.into_iter().chain(by_count).reduce(f64::min).unwrap_or(0.0) + before
}

fn within<N: PartialOrd + fmt::Display>(
    field: &str,
    value: N,
    accepted: &RangeInclusive<N>,
) -> Result<(), String> {
    let (least, most) = (accepted.start(), accepted.end());
    match accepted.contains(&value) {
        true => Ok(()),
        false => {
            Err(format!("the plan says {field} = {value}; an agent accepts {least} to {most}"))
        }
    }
}

#[cfg(test)]
mod tests;
