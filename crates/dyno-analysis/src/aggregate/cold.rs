//! Whether the first requests of a closed loop, which all begin at once, moved its mean latency: they wait for each
//! other, not for those before them, or have the prompts of all read before any output.

use super::gather::Gathered;
use dyno_model::Diagnostic;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::summary::Distribution;
use dyno_words::number::millis;
use dyno_words::{Finding, values};

/// A smaller change of the mean is not worth a note.
const LARGE: f64 = 0.03;
/// Standard errors by which first requests have to differ from the others.
const BY_CHANCE: f64 = 3.0;

/// Such first requests, with the mean latency without them.
pub(super) fn note(
    plan: &LevelPlan,
    level: &Gathered,
    latency: Option<&Distribution>,
) -> Option<Diagnostic> {
    let Load::Concurrency { concurrency } = plan.load else { return None };
    if level.is_warm(concurrency) || level.counts.refused() > 0 {
        return None;
    }
    let (latency, slots) = (latency?, level.slots.count() as f64);
    let (mean, count) = (latency.mean?, latency.count? as f64);
    let others = count - slots;
    if others < slots {
        return None;
    }
    let first = level.slots.mean_first()? / 1e6;
    let rest = (count * mean - slots * first) / others;
    let scatter = latency.std? * (1.0 / slots + 1.0 / others).sqrt();
    let large = (mean / rest - 1.0).abs() > LARGE && (first - rest).abs() > BY_CHANCE * scatter;
    let slots = level.slots.count();
    large.then(|| Finding::ColdStart.with(values![slots, millis(mean), millis(rest), 2 * slots]))
}
