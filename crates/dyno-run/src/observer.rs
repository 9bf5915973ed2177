//! Events of a run in progress, for callers that show or count them.

use dyno_drive::Observer;
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::server::ServerSample;
use dyno_model::{Diagnostic, Message};
use dyno_net::Clock;
use std::path::Path;
use std::time::Duration;

/// Takes the server's metrics as they arrive.
pub type ServerSink = Box<dyn Fn(&ServerSample) + Send>;

/// A level that begins.
#[derive(Debug, Clone, Copy)]
pub struct LevelBegins<'a> {
    /// Its index, from 0.
    pub index: usize,
    /// Levels in all, as far as known.
    pub known: usize,
    /// What it does.
    pub plan: &'a LevelPlan,
    /// The number of requests that bounds it, where known, warm-up included.
    pub planned: Option<u64>,
}

/// Receives the events of a run in progress, those of its levels included; `()` ignores them. Methods
/// are called on the thread that measures, those of [`Observer`] between reads: one that takes time
/// there delays the run, which shows in its results.
pub trait RunObserver: Observer {
    /// Everything is ready, and the first level follows. The plan is the saved one, in the run
    /// directory `dir`; times of records are those of `clock`, unless the plan is a prediction.
    fn begins(&self, _plan: &Plan, _dir: &Path, _clock: Clock) {}

    /// The run becomes active: for all its levels, or for the next one if two runs alternate.
    fn side_begins(&self) {}

    /// The run is paused for the other one, or is over.
    fn side_ends(&self) {}

    /// A level was added, chosen by the results of the others.
    fn levels_known(&self, _levels: &[LevelPlan]) {}

    /// The run pauses for so long before the next level.
    fn rests(&self, _time: Duration) {}

    /// A level begins.
    fn level_begins(&self, _level: LevelBegins<'_>) {}

    /// Asked once, before the first level: what takes the server's metrics about once a second, on
    /// the thread that polls them and not on the one that measures.
    fn server_metrics(&self) -> Option<ServerSink> {
        None
    }

    /// A level is over.
    fn level_ends(&self, _end: &LevelEnd) {}

    /// With `after` of `of` levels done, the rest will take about this long.
    fn time_left(&self, _after: usize, _of: usize, _time: Duration) {}

    /// A note, in every language.
    fn remark(&self, _what: &Diagnostic) {}

    /// A warning; the run continues.
    fn warn(&self, _message: &Message) {}

    /// An error, such as records that could not be written; the run continues or ends as it would have.
    fn error(&self, _message: &Message) {}
}

impl RunObserver for () {}
