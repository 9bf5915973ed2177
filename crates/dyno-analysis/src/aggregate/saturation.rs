//! Whether an open loop offered more than the server's capacity, and how much it offered.

use super::gather::Gathered;
use super::longer::longer;
use super::steady::Window;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, DiagnosticValue};
use dyno_stats::{Offered, Saturation, saturation};
use dyno_words::number::digits;
use dyno_words::{Finding, values};

/// A smaller part of what was offered is not missed, as in the test.
const LEAST_MISSING: f64 = 0.05;
/// Growth of the number in flight that is more than chance, in square roots of its mean: the two ends of a window
/// differ by 1.4 of them if requests come and go independently. Set on simulated batches, not on the engines of
/// `tests/analysis/needs_minutes/offered.rs`.
const BEYOND_CHANCE: f64 = 2.5;
/// How many times as long a level should be where the test does not say.
const USUALLY_LONGER: f64 = 2.0;

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

/// The option of a level that is long enough, at least so many times as long, where the test is inconclusive although more requests were in flight at
/// the end of the steady window than chance explains.
pub(super) fn unclear(
    test: Option<Saturation>,
    window: Option<Window>,
    (plan, least): (&LevelPlan, f64),
    level: &Gathered,
) -> Option<DiagnosticValue> {
    let Some(Saturation::Inconclusive(more)) = test else { return None };
    let (Window { from, to }, queue) = (window?, level.queue());
    let growth = queue.at(to) as f64 - queue.at(from) as f64;
    if growth <= BEYOND_CHANCE * queue.mean(from, to)?.sqrt() {
        return None;
    }
    let length = to_s(to.saturating_sub(level.span.first_sent?));
    let times = more.map_or(USUALLY_LONGER, |more| 1.0 + more.seconds / length);
    Some(longer(plan, level, times.max(least)))
}

/// That less was completed than offered in the steady window of such a level.
pub(super) fn behind(done: f64, offered: f64, option: DiagnosticValue) -> Option<Diagnostic> {
    (done < (1.0 - LEAST_MISSING) * offered)
        .then(|| Finding::Behind.with(values![digits(done, 2), digits(offered, 2), option]))
}

/// The result of the test, if it is conclusive.
pub(super) fn saturated(test: Option<Saturation>) -> Option<bool> {
    match test? {
        Saturation::Saturated(_) => Some(true),
        Saturation::Carried(_) => Some(false),
        Saturation::Inconclusive(_) => None,
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
