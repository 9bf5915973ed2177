//! Arrivals of a ramp: the unit process of its spacing, with time stretched so that arrivals follow
//! its rate.

use crate::arrivals::Arrivals;
use dyno_model::Nanos;
use dyno_model::plan::{Arrival, LevelPlan, Warmup};
use dyno_model::ramp::Ramp;

/// Arrival offsets of a ramp, in order, from the start of its level to its end.
#[derive(Debug, Clone)]
pub struct RampArrivals {
    unit: Arrivals,
    ramp: Ramp,
    lead: Nanos,
}

impl RampArrivals {
    /// The arrivals of a level. For the time `lead` before the ramp begins, its first rate is held.
    pub fn new(seed: u64, level: u32, ramp: Ramp, arrival: Arrival, lead: Nanos) -> Self {
        Self { unit: Arrivals::new(seed, level, 1.0, arrival), ramp, lead }
    }
}

impl Iterator for RampArrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let due = self.unit.next_due();
        let before = self.ramp.from * self.lead as f64 / 1e9;
        if due < before {
            return Some((due * 1e9 / self.ramp.from).round() as Nanos);
        }
        Some(self.lead.saturating_add(self.ramp.offset_of(due - before)?))
    }
}

/// The warm-up of a ramp, which holds its first rate.
pub(crate) fn lead(plan: &LevelPlan) -> Nanos {
    match plan.warmup {
        Some(Warmup::Duration(time)) => time,
        _ => 0,
    }
}

/// When a ramp level is over, as an offset from its start.
pub(crate) fn end(plan: &LevelPlan) -> Option<Nanos> {
    plan.load.ramp().map(|ramp| lead(plan).saturating_add(ramp.over_ns))
}
