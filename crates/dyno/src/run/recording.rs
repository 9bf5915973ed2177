//! Follows a level: counts for the live view, keeps an eye on the target, and hands every frame
//! on.

use super::pulse::Pulse;
use crate::progress::Live;
use dyno_core::Nanos;
use dyno_core::frame::{Frame, LevelStart};
use dyno_core::outcome::Outcome;
use dyno_core::record::RequestRecord;
use dyno_drive::Observer;
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

/// A request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastSuccess {
    pub(crate) level: u32,
    pub(crate) index: u64,
    pub(crate) at: Nanos,
}

/// The observer of a level.
pub(super) struct Recording<'a> {
    pub(super) level: u32,
    pub(super) live: &'a Live,
    pub(super) sink: &'a dyn Fn(Frame),
    pub(super) aborted: &'a dyn Fn() -> bool,
    pub(super) last_success: &'a Cell<Option<LastSuccess>>,
    pub(super) pulse: Option<&'a mut Pulse>,
    /// Why the target was given up, where it said nothing any more.
    pub(super) lost: Option<String>,
}

impl Observer for Recording<'_> {
    fn started(&mut self, started: Nanos) {
        (self.sink)(Frame::LevelStart(LevelStart { level: self.level, started }));
    }

    fn ended(&mut self, record: RequestRecord) {
        self.live.done.fetch_add(1, Relaxed);
        if matches!(record.outcome, Outcome::Failed(_) | Outcome::Dropped(_)) {
            self.live.failed.fetch_add(1, Relaxed);
        }
        if let Some(output) = record.output {
            self.live.tokens.fetch_add(output.tokens, Relaxed);
        }
        if record.outcome == Outcome::Completed {
            let (level, index, at) = (record.level, record.index, record.end);
            self.last_success.set(Some(LastSuccess { level, index, at }));
        }
        (self.sink)(Frame::Request(Box::new(record)));
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

    fn must_stop(&self) -> bool {
        (self.aborted)()
    }
}
