//! Whether a level was too short for what it is for, and what it needs: the option that ended it, with a value that is
//! enough. Another option would change nothing, because whichever is reached first ends a level.

use super::distributions::TimeBlocks;
use super::gather::Gathered;
use crate::slo::percentile;
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, DiagnosticValue, message};
use dyno_stats::{Counted, Percentile, samples_to_stop};
use dyno_words::number::percent;
use dyno_words::{Finding, values};

/// More than enough, so that the next run is not too short by a hair.
const ROOM: f64 = 1.25;
/// Requests of each slot that leave a steady window, whatever their latencies.
const ROUNDS: u64 = 4;

/// The option for a level that lasts `times` as long. In a closed loop, a multiple of its slots: it fits other levels
/// of the run as well, whatever their concurrency.
pub(super) fn longer(plan: &LevelPlan, level: &Gathered, times: f64) -> DiagnosticValue {
    let times = if times.is_finite() { times.max(1.0) } else { 1.0 };
    let duration = plan.duration_ns.or(level.span.duration()).unwrap_or(0);
    let seconds = (to_s(duration) * times).ceil();
    let ending = level.end.as_ref().map(|end| end.ending);
    let option = match (ending, plan.load) {
        (Some(Ending::Requests), Load::Concurrency { concurrency }) => {
            let rounds = issued(level) / f64::from(concurrency.max(1)) * times;
            format!("--requests {}x", rounded(rounds).max(ROUNDS))
        }
        (Some(Ending::Requests), _) => format!("--requests {}", rounded(issued(level) * times)),
        (Some(Ending::Duration), _) if plan.until.is_some() => format!("--max-duration {seconds}s"),
        (Some(Ending::Duration), _) => format!("--duration {seconds}s"),
        (Some(Ending::Stable), _) => format!("--min-duration {seconds}s"),
        _ => {
            let more =
                message!("more requests or a longer --duration", "更多请求或更长的 --duration");
            return more.into();
        }
    };
    DiagnosticValue::from(option)
}

/// How many times as long a level must be for a steady window: `has` nanoseconds were steady, `needed` are needed, and
/// requests were sent for `sending`.
pub(super) fn for_window([has, needed, sending]: [f64; 3]) -> f64 {
    (sending + ROOM * (needed - has)) / sending
}

/// Whether the metric of `--until-stable` may have been the reason why the level could end, and did not.
fn until(plan: &LevelPlan, level: &Gathered) -> bool {
    let ending = level.end.as_ref().map(|end| end.ending);
    plan.until.is_some() && matches!(ending, Some(Ending::Requests | Ending::Duration))
}

/// How many requests the metric of `--until-stable` needs, however little it varies, where there were fewer, and how
/// many times as long the level would have had to be.
pub(super) fn too_few(plan: &LevelPlan, level: &Gathered) -> Option<(u64, f64)> {
    let until_stable = plan.until.as_ref().filter(|_| until(plan, level))?;
    let share = percentile(until_stable.figure.statistic).map(Percentile::share);
    let (needed, had) = (samples_to_stop(share) as u64, level.counts.completed);
    (had < needed).then(|| (needed, needed as f64 / had.max(1) as f64))
}

/// The metric of `--until-stable`, where the level ended before it converged; `times`: how many times as long the
/// level should have been.
pub(super) fn not_converged(plan: &LevelPlan, level: &Gathered, times: f64) -> Option<Diagnostic> {
    let until_stable = plan.until.as_ref().filter(|_| until(plan, level))?;
    let (figure, precision) = (until_stable.figure, percent(until_stable.precision));
    Some(match too_few(plan, level) {
        Some((needed, _)) => {
            let had = level.counts.completed;
            let option = longer(plan, level, times);
            Finding::TooFewToConverge.with(values![figure, precision, needed, had, option])
        }
        None => {
            let wider = percent(until_stable.precision * 2.0);
            Finding::NotConverged.with(values![figure, precision, wider])
        }
    })
}

/// Blocks of time for intervals; else how many times as long the level would have had to be.
pub(super) fn blocks(
    plan: &LevelPlan,
    level: &Gathered,
    latency: &Counted,
) -> Result<Option<TimeBlocks>, f64> {
    let span = (level.span.first_sent, level.span.duration(), latency.quantile(0.5));
    let (Some(from), Some(duration), Some(median)) = span else {
        return Ok(None);
    };
    if matches!(plan.load, Load::Ramp { .. } | Load::Burst { .. }) {
        return Ok(None);
    }
    TimeBlocks::new(from, duration, median).map(Some).map_err(|needed| needed / duration as f64)
}

/// Requests of a burst all belong to one moment.
pub(super) fn no_interval(plan: &LevelPlan, level: &Gathered) -> Option<Box<Diagnostic>> {
    let ended = level.span.duration().is_some() && level.counts.completed > 0;
    let burst = matches!(plan.load, Load::Burst { .. }) && ended;
    burst.then(|| Diagnostic::from(Finding::NoIntervalBurst).into())
}

/// There are no intervals, which need the level to be `needed` times as long; `times` is enough for the rest, too.
pub(super) fn too_short(plan: &LevelPlan, level: &Gathered, needed: f64, times: f64) -> Diagnostic {
    match plan.load {
        Load::Trace { .. } => {
            let seconds = needed * to_s(level.span.duration().unwrap_or(0));
            Finding::NoIntervalTrace.with([seconds.ceil().max(1.0) as u64])
        }
        _ => Finding::NoIntervalBlocks.with([longer(plan, level, times)]),
    }
}

fn issued(level: &Gathered) -> f64 {
    level.end.as_ref().map_or(0, |end| end.issued) as f64
}

/// Two digits, upwards.
fn rounded(requests: f64) -> u64 {
    let unit = 10_f64.powf(requests.max(1.0).log10().floor() - 1.0).max(1.0);
    ((requests / unit).ceil() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_to_type_are_short() {
        assert_eq!([0.0, 3.2, 17.0, 231.0, 1801.0].map(rounded), [0, 4, 17, 240, 1900]);
    }
}
