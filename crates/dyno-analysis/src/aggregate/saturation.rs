//! Whether an open loop offered more than the server's capacity, and how much it offered.

use super::gather::Gathered;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_stats::{Offered, Saturation, saturation};

/// The saturation test of a level at a fixed rate; nothing for other loads. Conversations accumulate
/// until the first are over, which looks the same. Needs the level's flight in order.
pub(super) fn test(plan: &LevelPlan, level: &Gathered) -> Option<Saturation> {
    let Load::Rate { .. } = plan.load else { return None };
    if level.conversations.any() {
        return None;
    }
    let (first, last) = level.span.first_sent.zip(level.last_arrival())?;
    let (arrivals, ends) = level.queue().seconds_from(first);
    let to = to_s(last.saturating_sub(first));
    let offered = Offered { arrivals: &arrivals, ends: &ends, from: 0.0, to };
    Some(saturation(offered))
}

/// The result of the test, if it is conclusive.
pub(super) fn saturated(test: Option<Saturation>) -> Option<bool> {
    match test? {
        Saturation::Saturated(_) => Some(true),
        Saturation::Carried(_) => Some(false),
        Saturation::CannotTell(_) => None,
    }
}

/// Requests that arrived per second, of a level at a fixed rate.
pub(super) fn offered_per_s(plan: &LevelPlan, level: &Gathered) -> Option<f64> {
    let Load::Rate { .. } = plan.load else { return None };
    let end = level.end.as_ref()?;
    if let (Ending::Duration, Some(time)) = (end.ending, plan.duration_ns) {
        return Some(end.issued as f64 / to_s(time));
    }
    let (first, last) = level.span.first_sent.zip(level.last_arrival())?;
    let gaps = end.issued.checked_sub(1).filter(|gaps| *gaps > 0)?;
    (last > first).then(|| gaps as f64 / to_s(last - first))
}
