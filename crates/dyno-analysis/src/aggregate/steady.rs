//! The steady window of a level: where it begins and ends, or why there is none.

use super::gather::Gathered;
use super::longer::{for_window, longer};
use dyno_model::frame::Ending;
use dyno_model::plan::{LevelPlan, Load, Warmup};
use dyno_model::units::to_s;
use dyno_model::{Diagnostic, DiagnosticValue, SEC};
use dyno_stats::saturation::Surplus;
use dyno_stats::{Counted, Saturation, trend};
use dyno_words::number::{change, digits};
use dyno_words::{Finding, LoadNote, values};

const SEGMENTS: u64 = 20;
/// How far outside the measured part of a schedule a measured request may have been sent.
const SLACK: u64 = SEC;

/// A time window, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Window {
    pub(super) fn length(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// Why there is no steady window.
#[derive(Debug)]
pub(crate) struct NoWindow {
    pub(crate) why: Box<Diagnostic>,
    /// By how much concurrency changed, where it has a trend.
    pub(crate) growth: Option<f64>,
    /// How many times as long the level would have had to be, where it was too short.
    pub(crate) times: Option<f64>,
}

impl NoWindow {
    fn because<V: Into<DiagnosticValue>>(
        why: Finding,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        Self { why: why.with(values).into(), growth: None, times: None }
    }

    /// Concurrency rose or fell throughout.
    fn trend(growth: f64) -> Self {
        let why = if growth > 0.0 { Finding::Growing } else { Finding::Shrinking };
        Self { growth: Some(growth), ..Self::because(why, [change(growth)]) }
    }

    /// The same, or a backlog in the client where there may be one.
    fn trend_of(plan: &LevelPlan, growth: f64) -> Self {
        match plan.max_concurrency.filter(|_| growth > 0.0) {
            Some(most) => {
                let why = LoadNote::GrowingAtCap.with(values![change(growth), most]);
                Self { why: why.into(), growth: Some(growth), times: None }
            }
            None => Self::trend(growth),
        }
    }

    /// The same in a trace, whose load varies by itself, with the trend of its arrivals.
    fn trace_trend(growth: f64, arrivals: Option<f64>) -> Self {
        let why = match arrivals {
            Some(_) => Finding::TraceTrend,
            None => Finding::TraceTrendAlone,
        };
        let changes = [Some(growth), arrivals].into_iter().flatten().map(change);
        Self { growth: Some(growth), ..Self::because(why, changes) }
    }
}

/// The steady window; `Ok(None)` where none is expected: a burst, or no latencies. Where the level is too short, the
/// advice is a length that is at least so many `times` as long, which others need.
pub(crate) fn window(
    plan: &LevelPlan,
    whole: bool,
    level: &Gathered,
    latency: &Counted,
    (saturation, times): (Option<Saturation>, f64),
) -> Result<Option<Window>, NoWindow> {
    let Some(median) = latency.quantile(0.5) else {
        return Ok(None);
    };
    let found = match plan.load {
        Load::Burst { .. } | Load::Ramp { .. } => return Ok(None),
        Load::Concurrency { concurrency } => closed(whole.then_some(concurrency), level)?,
        Load::Rate { .. } | Load::Trace { .. } => open(plan, level, latency),
    };
    let (Some(window), Some(first)) = (found, level.span.first_sent) else { return Ok(None) };
    let window = until_lost(window, level);
    long_enough(window, plan, first, median, level, (saturation, times))?;
    let window = match plan.load {
        Load::Concurrency { concurrency } => settled(window, concurrency, median, level),
        _ => window,
    };
    if level.flight.mean(window.from, window.to) == Some(0.0) {
        let why = match plan.load {
            _ if level.conversations.any() => Finding::IdleTurns,
            Load::Trace { .. } => Finding::IdleTrace,
            _ => Finding::Idle,
        };
        return Err(NoWindow::because(why, [digits(to_s(window.length()), 2)]));
    }
    match saturation {
        Some(Saturation::Saturated(surplus)) => return Err(saturated(plan, surplus)),
        Some(Saturation::Carried(_)) => return Ok(Some(window)),
        Some(Saturation::Inconclusive(_)) | None => {}
    }
    match trend_over(window, level).filter(|_| plan.load.is_open()) {
        Some(growth) => Err(match plan.load {
            Load::Trace { .. } => NoWindow::trace_trend(growth, arrivals_over(window, level)),
            _ => NoWindow::trend_of(plan, growth),
        }),
        None => Ok(Some(window)),
    }
}

/// Without the first median latency of slots that start cold: the first requests all begin at once, and wait
/// for each other, not for those before them. Not from when the first response of every slot has ended:
/// where lengths vary that is when the longest are over, and what is left is too quick.
fn settled(window: Window, slots: u32, median: f64, level: &Gathered) -> Window {
    let skipped = if level.is_warm(slots) { 0 } else { median as u64 };
    Window { from: (window.from + skipped).min(window.to), ..window }
}

/// Without the time in which a lost target failed every request: nothing of it is steady.
fn until_lost(window: Window, level: &Gathered) -> Window {
    let lost = level.end.as_ref().is_some_and(|end| end.ending == Ending::TargetLost);
    match level.span.last_completed.filter(|_| lost) {
        Some(last) => Window { to: window.to.min(last), ..window },
        None => window,
    }
}

fn saturated(plan: &LevelPlan, surplus: Surplus) -> NoWindow {
    let share = digits(100.0 * surplus.share, 0);
    match plan.max_concurrency {
        Some(most) => {
            let why = LoadNote::SaturatedAtCap.with(values![share, most]).into();
            NoWindow { why, growth: None, times: None }
        }
        None => NoWindow::because(Finding::Saturated, [share]),
    }
}

/// At least two median latencies, the first of a cold start among them; where users of a closed loop pause,
/// at least two of their conversation turns, pauses included.
fn long_enough(
    window: Window,
    plan: &LevelPlan,
    first: u64,
    median: f64,
    level: &Gathered,
    (saturation, times): (Option<Saturation>, f64),
) -> Result<(), NoWindow> {
    let load = plan.load;
    // The next request of a slot of trees may be of any of their sessions.
    let talk = level.conversations.any() && !level.trees.any();
    let turn = level.slots.mean_cycle().filter(|turn| talk && !load.is_open() && *turn > median);
    let needed = 2.0 * turn.unwrap_or(median);
    if window.length() as f64 >= needed && window.length() > 0 {
        return Ok(());
    }
    let [had, needs] = [to_s(window.length()), needed / 1e9].map(|s| digits(s, 2));
    let sending = window.to.saturating_sub(first) as f64;
    let times = times.max(for_window([window.length() as f64, needed, sending]));
    let too_short = |what: Finding| NoWindow {
        times: Some(times).filter(|times| times.is_finite()),
        ..NoWindow::because(what, values![had.clone(), needs.clone(), longer(plan, level, times)])
    };
    if turn.is_some() {
        return Err(too_short(Finding::FewTurns));
    }
    if let Some(Saturation::Saturated(surplus)) = saturation {
        return Err(saturated(plan, surplus));
    }
    // A queue that keeps growing leaves no window either, and that is what to report. But conversations
    // accumulate until the first are over, and the rate of a trace may rise by itself.
    let filled = Window { from: window.to.min(first + median as u64), to: window.to };
    let presumed = matches!(load, Load::Rate { .. }) && !talk;
    let grows = trend_over(filled, level).filter(|growth| presumed && *growth > 0.0);
    Err(match grows {
        Some(growth) => NoWindow::trend_of(plan, growth),
        None if matches!(load, Load::Trace { .. }) => {
            NoWindow::because(Finding::WindowTooShortTrace, [&had, &needs].map(String::clone))
        }
        None => too_short(Finding::WindowTooShort),
    })
}

/// Relative growth of concurrency, including requests that wait in the client, where there is a
/// trend.
fn trend_over(window: Window, level: &Gathered) -> Option<f64> {
    growth(&level.queue().segments(window.from, window.to, SEGMENTS))
}

/// Relative growth of the send rate, where there is a trend.
fn arrivals_over(window: Window, level: &Gathered) -> Option<f64> {
    growth(&level.queue().sendings(window.from, window.to, SEGMENTS))
}

fn growth(segments: &[f64]) -> Option<f64> {
    trend(segments).filter(|found| found.is_trend()).map(|found| found.growth)
}

/// From when every slot has sent its first request to when one first has nothing left to send, or where the
/// client was killed, to when its first record is missing. Users with pauses start together and only then
/// spread out, so their first responses have to be over. Trees begin where the recording was, in requests and in gaps.
fn closed(slots: Option<u32>, level: &Gathered) -> Result<Option<Window>, NoWindow> {
    let seen = level.slots.count();
    let of = u64::from(slots.unwrap_or(0));
    // A tree that waits for its tools has a slot and sends nothing.
    if seen < of && !level.trees.any() {
        return Err(NoWindow::because(Finding::SlotsMissing, [seen, of]));
    }
    let talk = level.conversations.any();
    let from = match level.trees.any() {
        true => level.span.first_sent,
        false if talk => level.slots.all_ended(),
        false => level.slots.all_sent(),
    };
    let to = match &level.end {
        Some(end) => Some(end.starved.unwrap_or(end.sending_stopped)),
        None => level.slots.known_until(),
    };
    Ok(from.zip(to).map(|(from, to)| Window { from, to }))
}

/// From the first measured arrival, after ramp-up where there was no warm-up, to the last; of a level that its
/// schedule ended, over the whole measured part of the schedule. Arrivals are requests, whole conversations or whole trees.
fn open(plan: &LevelPlan, level: &Gathered, latency: &Counted) -> Option<Window> {
    let first = level.span.first_sent?;
    let (takes, last) = if level.conversations.any() {
        (level.talk_lengths().quantile(0.95), level.talk_begun().unwrap_or(first))
    } else {
        (latency.quantile(0.95), level.last_arrival()?)
    };
    let Window { from, to } = scheduled(plan, level).unwrap_or(Window { from: first, to: last });
    let fill = if plan.warmup.is_some() { 0 } else { takes?.round() as u64 };
    Some(Window { from: from.saturating_add(fill), to })
}

/// The measured part of the schedule of a level at a rate, where time ended it. Nothing is due before the first
/// arrival and after the last, and that is part of the rate: from one to the other, few requests are too many per
/// second, by two of n + 1 gaps.
fn scheduled(plan: &LevelPlan, level: &Gathered) -> Option<Window> {
    let end = level.end.as_ref()?;
    let by_time = matches!(plan.load, Load::Rate { .. }) && end.ending == Ending::Duration;
    let length = plan.duration_ns.filter(|_| by_time)?;
    let first = level.span.first_sent?;
    let from = match plan.warmup {
        None => level.started?,
        Some(Warmup::Duration(time)) => level.started?.saturating_add(time),
        Some(Warmup::Requests(_)) => first,
    };
    let to = from.saturating_add(length);
    // The schedule of clocks that differ by more says nothing.
    let whole =
        from <= first.saturating_add(SLACK) && level.last_arrival()? <= to.saturating_add(SLACK);
    whole.then_some(Window { from: from.min(first), to })
}
