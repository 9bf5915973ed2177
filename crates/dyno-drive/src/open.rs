//! The open loop: requests arrive on a schedule that does not depend on the server.

use crate::ramp;
use crate::running::RunningLevel;
use crate::share::Share;
use crate::stop::{Stop, StopSignal};
use crate::transport::{Transport, TransportError};
use dyno_model::Nanos;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load, Warmup};

/// While the arrivals of a level are counted, the stop signal is looked at after every this many.
const COUNTED_BETWEEN_LOOKS: u64 = 1 << 16;

/// The arrivals of a level, warm-up first: how many there are, and how it ends. They are drawn once to count
/// them and again as they fall due, so that memory does not grow with the rate.
struct Schedule {
    /// Arrivals of all load generators.
    all: u64,
    /// How many of the own ones are measured.
    measured: u64,
    ending: Ending,
    /// When sending stops, as an offset.
    stops: Nanos,
}

impl Schedule {
    fn new(
        arrivals: impl Iterator<Item = Nanos>,
        plan: &LevelPlan,
        share: &Share,
        stop: &StopSignal,
    ) -> Self {
        let mut schedule = Self { all: 0, measured: 0, ending: Ending::Requests, stops: 0 };
        let (mut first_measured, mut measured) = (None, 0_u64);
        let mut exhausted = true;
        for (index, offset) in (0_u64..).zip(arrivals) {
            let warmup = match plan.warmup {
                None => false,
                Some(Warmup::Requests(n)) => index < n,
                Some(Warmup::Duration(d)) => offset < d,
            };
            if !warmup {
                if plan.requests.is_some_and(|n| measured >= n) {
                    exhausted = false;
                    break;
                }
                first_measured.get_or_insert(offset);
                if let Some(from) = time_from(plan.warmup, 0, first_measured)
                    && let Some(d) = plan.duration_ns
                    && offset >= from + d
                {
                    (schedule.ending, schedule.stops) = (Ending::Duration, from + d);
                    exhausted = false;
                    break;
                }
                measured += 1;
            }
            (schedule.stops, schedule.all) = (offset, index + 1);
            schedule.measured += u64::from(!warmup && share.has(index));
            if index % COUNTED_BETWEEN_LOOKS == 0 && stop.get() >= Stop::Sending {
                break;
            }
        }
        if let Some(end) = exhausted.then(|| ramp::end(plan)).flatten() {
            (schedule.ending, schedule.stops) = (Ending::Duration, end);
        }
        schedule
    }
}

pub(crate) fn run<T: Transport + ?Sized>(
    level: &mut RunningLevel<'_, '_, T>,
    arrivals: impl Iterator<Item = Nanos> + Clone,
) -> Result<(), TransportError>
where
    T::Body: Clone,
{
    let share = level.share;
    let schedule = Schedule::new(arrivals.clone(), level.setup.plan, &share, level.setup.stop);
    let ours = (0..schedule.all).zip(arrivals).filter(|(index, _)| share.has(*index));
    let mut offsets = ours.map(|(_, offset)| offset).peekable();
    level.start(0, Some(schedule.measured))?;
    let up = match schedule.ending {
        Ending::Duration => level.started + schedule.stops,
        _ => Nanos::MAX,
    };
    while let Some(offset) = offsets.peek()
        && !level.is_stopped()
    {
        let due = level.started + offset;
        let room = level.has_room();
        if room && level.now() >= due {
            level.dispatch_due(due)?;
            offsets.next();
        } else if !room && level.now() >= up {
            break;
        } else {
            if !room {
                level.crowded = level.now();
            }
            level.wait(if room { due } else { up })?;
        }
    }
    level.stop_sending(schedule.ending, level.started + schedule.stops);
    let started = level.started;
    level.leave_all_waiting(offsets.map(|offset| started + offset));
    level.drain()
}

/// Conversations arrive for as long as the level lasts; those of a trace, until none is left. How many of their turns are warm-up, and when
/// the first measured one is sent, depends on the responses, so it cannot be scheduled up front.
pub(crate) fn run_sessions<T: Transport + ?Sized>(
    level: &mut RunningLevel<'_, '_, T>,
    arrivals: impl Iterator<Item = Nanos>,
) -> Result<(), TransportError>
where
    T::Body: Clone,
{
    let share = level.share;
    level.start(0, level.setup.plan.requests.map(|n| level.own_requests(n)))?;
    if share.is_empty() {
        level.stop_sending(Ending::Requests, level.started);
        return Ok(());
    }
    let ours = (0_u64..).zip(arrivals).filter(|(index, _)| share.has(*index));
    let mut offsets = ours.map(|(_, offset)| offset).peekable();
    let ends = matches!(level.setup.plan.load, Load::Trace { .. });
    while !level.is_stopped() {
        let up = level.time_limit().unwrap_or(Nanos::MAX);
        let arrival = offsets.peek().map(|offset| level.started + offset);
        let arrival = arrival.filter(|_| !level.exhausted);
        level.next_arrival = arrival.filter(|due| *due < up);
        let due = level.next_arrival.filter(|_| level.has_room());
        match due {
            _ if level.is_complete() => level.stop_sending(Ending::Requests, level.now()),
            _ if arrival.is_none() && (ends || level.exhausted) && level.is_idle() => {
                level.stop_sending(Ending::Requests, level.now());
            }
            // The arrivals of a ramp were too few for its warm-up.
            _ if arrival.is_none() && up == Nanos::MAX && level.is_idle() => {
                level.stop_sending(Ending::Duration, level.now());
            }
            Some(due) if level.now() >= due => {
                level.dispatch_due(due)?;
                offsets.next();
            }
            _ if level.now() >= up => level.stop_sending(Ending::Duration, up),
            _ => {
                if !level.has_room() {
                    level.crowded = level.now();
                }
                level.wait(due.unwrap_or(up))?;
            }
        }
    }
    let started = level.started;
    level.leave_all_waiting(offsets.map(|offset| started + offset));
    level.drain()
}

/// When the measured time of an open loop starts: at the end of a timed warm-up, or with the first
/// measured request; without a warm-up, at the start.
pub(crate) fn time_from(
    warmup: Option<Warmup>,
    started: Nanos,
    first_measured: Option<Nanos>,
) -> Option<Nanos> {
    match warmup {
        None => Some(started),
        Some(Warmup::Duration(d)) => Some(started.saturating_add(d)),
        Some(Warmup::Requests(_)) => first_measured,
    }
}
