//! The limits of a plan, wherever it comes from: the command line refuses values beyond them, and so do agents
//! (anybody who may write to a bus can send a plan) and resumed runs (anybody can write a plan.json). How a
//! flag is read belongs to the command line.

use crate::Nanos;
use crate::level_schedule::{Range, Search};
use crate::message::{Message, message};
use crate::plan::{Arrival, LevelPlan, Load, Plan, Shard, Warmup};
use std::fmt;
use std::ops::RangeInclusive;

/// Most requests in flight that a level may ask for.
pub const MOST_IN_FLIGHT: u32 = 100_000;
/// Most requests that a level may be bounded by.
pub const MOST_REQUESTS: u64 = 1_000_000_000;
/// Most texts in a request.
pub const MOST_INPUTS: u64 = 10_000;
/// Most requests per second.
pub const HIGHEST_RATE: f64 = 1e6;
/// Arrivals of an open loop are computed before it starts.
pub const MOST_ARRIVALS: f64 = 50e6;
/// Most steps of a ramp.
pub const MOST_STEPS: u32 = 100;
/// Most levels of a plan, repetitions included.
pub const MOST_LEVELS: usize = 10_000;
/// Most load generators.
pub const MOST_AGENTS: u32 = 1_000;

const IN_FLIGHT: RangeInclusive<u64> = 1..=MOST_IN_FLIGHT as u64;
const REQUESTS: RangeInclusive<u64> = 0..=MOST_REQUESTS;
const RATES: RangeInclusive<f64> = 0.0..=HIGHEST_RATE;
const SHAPES: RangeInclusive<f64> = 0.01..=1000.0;
const SPEEDS: RangeInclusive<f64> = 1e-6..=1e6;
const SHARES: RangeInclusive<f64> = 0.0..=1.0;
const RETRIES: RangeInclusive<u64> = 0..=1_000;
/// 10,000 hours.
const TIMES: RangeInclusive<Nanos> = 0..=36_000_000_000_000_000;

/// Whether all values of a plan are within the limits; the first that is not.
pub fn check_plan(plan: &Plan) -> Result<(), Message> {
    check_shard(plan.shard)?;
    within("levels", plan.levels.len(), &(0..=MOST_LEVELS))?;
    within("shed_retries", plan.shed_retries.unwrap_or(0).into(), &RETRIES)?;
    within("allow_failures", plan.allow_failures, &SHARES)?;
    let times = plan.timeouts;
    for (name, time) in [
        ("timeouts.connect_ns", times.connect_ns),
        ("timeouts.total_ns", times.total_ns),
        ("timeouts.first_token_ns", times.first_token_ns),
        ("timeouts.idle_ns", times.idle_ns),
        ("course.cooldown_ns", plan.course.cooldown_ns),
    ] {
        within(name, time, &TIMES)?;
    }
    if let Some(fleet) = &plan.fleet {
        within("fleet.agents", fleet.agents, &(1..=MOST_AGENTS))?;
    }
    plan.course.search.as_ref().map_or(Ok(()), check_search)?;
    plan.levels.iter().try_for_each(check_level)
}

/// Whether a part of a run is one.
pub fn check_shard(shard: Shard) -> Result<(), Message> {
    within("shard.of", shard.of, &(1..=MOST_AGENTS))?;
    within("shard.index", shard.index, &(0..=shard.of - 1))
}

/// Whether a level has an end: loads that could go on for ever need a number of requests or a time.
pub fn check_end(plan: &LevelPlan) -> Result<(), Message> {
    let bounded = plan.requests.is_some() || plan.duration_ns.is_some() || plan.once;
    if matches!(plan.load, Load::Rate { .. } | Load::Concurrency { .. }) && !bounded {
        return Err(message!(
            "the plan has a level without an end; it needs requests or duration_ns",
            "计划中有一个档位没有终点；需要 requests 或 duration_ns"
        ));
    }
    Ok(())
}

/// Whether so many prompts may have been sent by earlier levels.
pub fn check_taken(taken: u64) -> Result<(), Message> {
    within("taken", taken, &REQUESTS)
}

/// Whether the values of a level are within the limits; the first that is not.
pub fn check_level(plan: &LevelPlan) -> Result<(), Message> {
    within("requests", plan.requests.unwrap_or(0), &REQUESTS)?;
    within("duration_ns", plan.duration_ns.unwrap_or(0), &TIMES)?;
    within("drain_ns", plan.drain_ns, &TIMES)?;
    within("inputs", plan.inputs.unwrap_or(1).into(), &(1..=MOST_INPUTS))?;
    within("max_concurrency", plan.max_concurrency.unwrap_or(1).into(), &IN_FLIGHT)?;
    match plan.warmup {
        None => {}
        Some(Warmup::Requests(count)) => within("warmup.requests", count, &REQUESTS)?,
        Some(Warmup::Duration(time)) => within("warmup.duration", time, &TIMES)?,
    }
    if let Some(until) = &plan.until {
        within("until.precision", until.precision, &SHARES)?;
        within("until.least_ns", until.least_ns, &TIMES)?;
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
            within("rate", rate, &(f64::MIN_POSITIVE..=HIGHEST_RATE))?;
            check_arrival(arrival)?;
        }
        Load::Ramp { from, to, over_ns, steps, arrival } => {
            within("from", from, &RATES)?;
            within("to", to, &RATES)?;
            within("over_ns", over_ns, &TIMES)?;
            within("steps", steps.unwrap_or(1), &(1..=MOST_STEPS))?;
            check_arrival(arrival)?;
        }
    }
    within("arrivals", arrivals(plan), &(0.0..=MOST_ARRIVALS))
}

fn check_arrival(arrival: Arrival) -> Result<(), Message> {
    match arrival {
        Arrival::Constant | Arrival::Poisson => Ok(()),
        Arrival::Gamma { shape } => within("shape", shape, &SHAPES),
    }
}

fn check_search(search: &Search) -> Result<(), Message> {
    match search {
        Search::Sweep { points, arrival, .. } => {
            within("search.points", *points, &(1..=100))?;
            check_arrival(*arrival)
        }
        Search::Ladder { most, per_slot } => {
            within("search.most", (*most).into(), &IN_FLIGHT)?;
            within("search.per_slot", per_slot.unwrap_or(1), &REQUESTS)
        }
        Search::Capacity { range, levels, width, arrival, least_requests, .. } => {
            let ends = match range {
                Range::Unknown => [1.0; 2],
                Range::Near(near) => [*near; 2],
                Range::Between(ends) => *ends,
            };
            for end in ends {
                within("search.range", end, &(f64::MIN_POSITIVE..=HIGHEST_RATE))?;
            }
            within("search.levels", *levels as usize, &(1..=MOST_LEVELS))?;
            within("search.width", *width, &SHARES)?;
            within("search.least_requests", *least_requests, &REQUESTS)?;
            check_arrival(*arrival)
        }
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
    // A level whose length is chosen during the run has no end yet.
    by_time.into_iter().chain(by_count).reduce(f64::min).unwrap_or(0.0) + before
}

fn within<N: PartialOrd + fmt::Display>(
    field: &str,
    value: N,
    accepted: &RangeInclusive<N>,
) -> Result<(), Message> {
    let (least, most) = (accepted.start(), accepted.end());
    match accepted.contains(&value) {
        true => Ok(()),
        false => Err(message!(
            "the plan says {field} = {value}; accepted are {least} to {most}",
            "计划中 {field} = {value}；可接受的范围是 {least} 到 {most}"
        )),
    }
}

#[cfg(test)]
mod tests;
