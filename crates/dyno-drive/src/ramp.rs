//! Arrivals of a ramp: the unit process of its spacing, with time stretched so that as many are
//! due as its rate says.

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
    /// The arrivals of a level. For `lead` before the ramp begins, its first rate is kept.
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

/// How long a ramp is led up to: its warm-up, which keeps the first rate.
pub(crate) fn lead(plan: &LevelPlan) -> Nanos {
    match plan.warmup {
        Some(Warmup::Duration(time)) => time,
        _ => 0,
    }
}

/// When a level that is a ramp is over, as an offset from its start.
pub(crate) fn end(plan: &LevelPlan) -> Option<Nanos> {
    plan.load.ramp().map(|ramp| lead(plan).saturating_add(ramp.over_ns))
}
