//! Follows a level: counts for the live view, keeps an eye on the target, and hands every frame
//! on.

use super::enough::Enough;
use super::estimate::Glance;
use super::pulse::Pulse;
use dyno_drive::Observer;
use dyno_live::Live;
use dyno_model::Nanos;
use dyno_model::frame::{Frame, LevelStart};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::units::to_s;
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;

/// A request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastSuccess {
    pub(crate) level: u32,
    pub(crate) index: u64,
    pub(crate) at: Nanos,
}

/// What is kept in view of a level while it runs.
pub(super) struct Watched<'a> {
    /// Its frames, where somebody wants to know how it went before the run is over.
    pub(super) kept: Option<&'a RefCell<Vec<Frame>>>,
    pub(super) last_success: &'a Cell<Option<LastSuccess>>,
    pub(super) glance: &'a Cell<Glance>,
    /// Told of the first answer of a run.
    pub(super) first: Option<&'a dyn Fn(&Glance)>,
}

/// The observer of a level.
pub(super) struct Recording<'a> {
    pub(super) level: u32,
    pub(super) live: &'a Live,
    pub(super) sink: &'a dyn Fn(Frame),
    pub(super) aborted: &'a dyn Fn() -> bool,
    pub(super) watched: &'a Watched<'a>,
    pub(super) pulse: Option<&'a mut Pulse>,
    pub(super) enough: Option<Enough>,
    /// Why the target was given up, where it said nothing any more.
    pub(super) lost: Option<String>,
    /// The last request that ended had failed.
    pub(super) failed_last: bool,
    /// When the first request was due.
    pub(super) began: Nanos,
    /// Requests that are in flight at once, by plan.
    pub(super) at_once: u64,
}

impl Recording<'_> {
    fn glance(&self, record: &RequestRecord) {
        let mut glance = self.watched.glance.get();
        let seconds =
            |from: Option<Nanos>, to: Option<Nanos>| Some(to_s(to?.saturating_sub(from?)));
        let first = seconds(record.sent, record.first);
        glance.completed += 1;
        glance.soonest = match (glance.soonest, first) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if let (Some(time), Some(output)) = (seconds(record.first, record.last), record.output) {
            glance.decoding.0 += time;
            glance.decoding.1 += output.tokens.saturating_sub(1) as f64;
        }
        glance.seconds = to_s(record.end.saturating_sub(self.began));
        self.watched.glance.set(glance);
        if let Some(first) = self.watched.first.filter(|_| glance.completed == 1) {
            // Those that were sent with it will be done by and by.
            first(&Glance { completed: self.at_once, ..glance });
        }
    }
}

impl Observer for Recording<'_> {
    fn started(&mut self, started: Nanos) {
        self.began = started;
        (self.sink)(Frame::LevelStart(LevelStart { level: self.level, started }));
    }

    fn ended(&mut self, record: Box<RequestRecord>) {
        self.live.ended(&record);
        self.failed_last = matches!(record.outcome, Outcome::Failed(_) | Outcome::Dropped(_));
        if let Some(enough) = &mut self.enough {
            enough.add(&record);
        }
        if record.outcome == Outcome::Completed {
            let (level, index, at) = (record.level, record.index, record.end);
            self.watched.last_success.set(Some(LastSuccess { level, index, at }));
            self.glance(&record);
        }
        (self.sink)(Frame::Request(record));
    }

    fn in_flight(&mut self, count: usize) {
        self.live.in_flight.store(count as u64, Relaxed);
    }

    fn silent(&mut self, time: Nanos) -> bool {
        if self.lost.is_none()
            && let Some(pulse) = &mut self.pulse
        {
            self.lost = pulse.feel(time);
        }
        self.lost.is_some()
    }

    fn knows_enough(&mut self, now: Nanos) -> bool {
        self.enough.as_mut().is_some_and(|enough| enough.is_known(now))
    }

    fn must_stop(&self) -> bool {
        (self.aborted)()
    }
}
