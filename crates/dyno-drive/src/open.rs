//! The open loop: arrivals come when their schedule says, whatever the server does.

use crate::arrivals::{belongs, share};
use crate::level::Level;
use crate::transport::TransportError;
use dyno_core::Nanos;
use dyno_core::frame::Ending;
use dyno_core::plan::{LevelPlan, Shard, Warmup};

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
        arrivals: impl Iterator<Item = Nanos>,
        plan: &LevelPlan,
        shard: Shard,
    ) -> Self {
        let mut schedule =
            Self { offsets: vec![], measured: 0, ending: Ending::Requests, stops: 0 };
        let (mut measured_from, mut measured) = (None, 0_u64);
        for (index, offset) in (0_u64..).zip(arrivals) {
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
    arrivals: impl Iterator<Item = Nanos>,
) -> Result<(), TransportError> {
    let schedule = Schedule::new(arrivals, level.setup.plan, level.setup.shard);
    // Conversations bring more requests than arrivals, so only a number that was asked for is one.
    let planned = match level.setup.sessions {
        true => level.setup.plan.requests.map(|n| share(n, level.setup.shard)),
        false => Some(schedule.measured),
    };
    level.start(0, planned)?;
    let stops = level.started + schedule.stops;
    let mut freed = Vec::new();
    let mut next = 0;
    while !level.is_stopped() {
        let due = schedule.offsets.get(next).map(|offset| level.started + offset);
        match due {
            _ if level.setup.sessions && level.is_complete() => {
                level.stop_sending(Ending::Requests, level.now());
            }
            Some(due) if level.now() >= due => {
                level.dispatch(0, due)?;
                next += 1;
                continue;
            }
            Some(due) => level.wait(due, &mut freed)?,
            // Everybody has come; those in the middle of a conversation go on with it.
            None if !level.in_session() => break,
            None if schedule.ending == Ending::Requests => level.wait(Nanos::MAX, &mut freed)?,
            None if level.now() >= stops => break,
            None => level.wait(stops, &mut freed)?,
        }
        freed.clear();
    }
    level.stop_sending(schedule.ending, stops);
    level.drain()
}
