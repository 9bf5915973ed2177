//! What an observer is notified of during a run.

use dyno_model::Diagnostic;
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_net::Clock;
use std::time::Duration;

/// A level that begins.
#[derive(Debug, Clone, Copy)]
pub struct LevelBegins<'a> {
    /// From 0.
    pub index: usize,
    /// Levels in all, as far as known.
    pub known: usize,
    /// What it does.
    pub plan: &'a LevelPlan,
    /// The number of requests that bounds it, where known, warm-up included.
    pub planned: Option<u64>,
}

/// Is notified during a run; `()` ignores everything. All methods are called on the measuring thread,
/// and [`Observer::ended`] and [`Observer::in_flight`] between reads: time spent there delays the run
/// and shows in its results.
pub trait Observer {
    /// Everything is ready, and the first level follows. The plan is the saved one; times in records are
    /// those of `clock`, unless the plan is a prediction.
    fn begins(&self, _plan: &Plan, _clock: Clock) {}

    /// The run starts its levels, or its next one if it alternates with another run.
    fn turn_begins(&self) {}

    /// The run pauses for the other one, or is over.
    fn turn_ends(&self) {}

    /// A search has chosen another level; these are all levels so far.
    fn levels_known(&self, _levels: &[LevelPlan]) {}

    /// A level begins.
    fn level_begins(&self, _level: LevelBegins<'_>) {}

    /// The number of requests in flight has changed.
    fn in_flight(&self, _count: usize) {}

    /// A request has ended.
    fn ended(&self, _record: &RequestRecord) {}

    /// A level is over.
    fn level_ends(&self, _end: &LevelEnd) {}

    /// With `after` of `of` levels done, the rest will take about `time`.
    fn time_left(&self, _after: usize, _of: usize, _time: Duration) {}

    /// A note that is available in every language.
    fn remark(&self, _what: &Diagnostic) {}

    /// A note.
    fn note(&self, _message: &str) {}

    /// A warning; the run continues.
    fn warn(&self, _message: &str) {}

    /// An error, such as records that could not be written; the run continues or ends as it would have.
    fn error(&self, _message: &str) {}
}

impl Observer for () {}
