//! The open loop: arrivals come when their schedule says, whatever the server does.

use crate::arrivals::{Arrivals, belongs};
use crate::level::Level;
use crate::transport::TransportError;
use dyno_core::Nanos;
use dyno_core::frame::Ending;
use dyno_core::plan::{Arrival, LevelPlan, Shard, Warmup};

/// The offsets of all arrivals of a level from its start, warm-up first, computed up front.
pub(crate) struct Schedule {
    pub(crate) offsets: Vec<Nanos>,
    /// How many of them are measured.
    pub(crate) measured: u64,
    pub(crate) ending: Ending,
    /// When sending stops, as an offset.
    pub(crate) stops: Nanos,
}

impl Schedule {
    pub(crate) fn new(
        seed: u64,
        level: u32,
        plan: &LevelPlan,
        rate: f64,
        arrival: Arrival,
        shard: Shard,
    ) -> Self {
        let mut schedule =
            Self { offsets: vec![], measured: 0, ending: Ending::Requests, stops: 0 };
        let (mut measured_from, mut measured) = (None, 0_u64);
        for (index, offset) in (0_u64..).zip(Arrivals::new(seed, level, rate, arrival)) {
            let warmup = match plan.warmup {
                None => false,
                Some(Warmup::Requests(n)) => index < n,
                Some(Warmup::Duration(d)) => offset < d,
            };
            if !warmup {
                if plan.requests.is_some_and(|n| measured >= n) {
                    break;
                }
                // Time runs from the end of a timed warm-up, or from the first measured arrival;
                // without a warm-up, from the start.
                let from = *measured_from.get_or_insert(match plan.warmup {
                    None => 0,
                    Some(Warmup::Duration(d)) => d,
                    Some(Warmup::Requests(_)) => offset,
                });
                if let Some(d) = plan.duration_ns
                    && offset >= from + d
                {
                    (schedule.ending, schedule.stops) = (Ending::Duration, from + d);
                    break;
                }
                measured += 1;
            }
            schedule.stops = offset;
            if belongs(index, shard) {
                schedule.offsets.push(offset);
                schedule.measured += u64::from(!warmup);
            }
        }
        schedule
    }
}

pub(crate) fn run(
    level: &mut Level<'_>,
    rate: f64,
    arrival: Arrival,
) -> Result<(), TransportError> {
    let setup = &level.setup;
    let schedule = Schedule::new(setup.seed, setup.level, setup.plan, rate, arrival, setup.shard);
    level.start(0, Some(schedule.measured))?;
    let mut freed = Vec::new();
    let mut next = 0;
    while next < schedule.offsets.len() && !level.is_stopped() {
        let due = level.started + schedule.offsets[next];
        if level.now() >= due {
            level.dispatch(0, due)?;
            next += 1;
        } else {
            level.wait(due, &mut freed)?;
            freed.clear();
        }
    }
    let stops = level.started + schedule.stops;
    level.stop_sending(schedule.ending, stops);
    level.drain()
}
