//! What is told of a run while it goes on.

use dyno_model::Diagnostic;
use dyno_model::frame::LevelEnd;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use dyno_net::Clock;
use std::time::Duration;

/// Takes the server's metrics as they arrive.
pub type ServerSink = Box<dyn Fn(&ServerSample) + Send>;

/// A level that begins.
#[derive(Debug, Clone, Copy)]
pub struct LevelBegins<'a> {
    /// From 0.
    pub index: usize,
    /// Levels in all, as far as known.
    pub known: usize,
    /// What it does.
    pub plan: &'a LevelPlan,
    /// How many requests bound it, as far as known, warm-up included.
    pub planned: Option<u64>,
}

/// Is told of a run while it goes on; `()` wants to know nothing. Everything is called on the thread
/// that measures, and [`Observer::ended`] and [`Observer::in_flight`] between reads: whoever takes
/// time there delays the run and shows in its figures.
pub trait Observer {
    /// All is ready, and the first level follows. The plan is as it is saved; times of records are those
    /// of `clock`, unless the plan is a prediction.
    fn begins(&self, _plan: &Plan, _clock: Clock) {}

    /// The run has its turn: with all its levels, or with the next one if it takes turns.
    fn turn_begins(&self) {}

    /// It has not any more, or is over.
    fn turn_ends(&self) {}

    /// The levels known so far have grown by one that was chosen by how others went.
    fn levels_known(&self, _levels: &[LevelPlan]) {}

    /// A level begins.
    fn level_begins(&self, _level: LevelBegins<'_>) {}

    /// So many requests are in flight now.
    fn in_flight(&self, _count: usize) {}

    /// The client has received so many output tokens in the whole run, those of running streams
    /// included. Not called for predictions: there tokens are known when a request ends.
    fn tokens_received(&self, _total: u64) {}

    /// A request has ended.
    fn ended(&self, _record: &RequestRecord) {}

    /// Asked once, before the first level: what takes the server's metrics about once a second, on
    /// the thread that polls them and not on the one that measures.
    fn server_metrics(&self) -> Option<ServerSink> {
        None
    }

    /// A level is over.
    fn level_ends(&self, _end: &LevelEnd) {}

    /// With `after` of `of` levels done, the rest will take about so long.
    fn time_left(&self, _after: usize, _of: usize, _time: Duration) {}

    /// Something good to know, in every language.
    fn remark(&self, _what: &Diagnostic) {}

    /// Something good to know.
    fn note(&self, _words: &str) {}

    /// Something to mend; the run goes on.
    fn warn(&self, _words: &str) {}

    /// Something could not be kept; the run goes on or ends as it would have.
    fn error(&self, _words: &str) {}
}

impl Observer for () {}
