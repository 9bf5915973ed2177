//! The counters of a run in progress. Writers never wait; a reader sees each counter right, and
//! all of them together only roughly.

use super::mailbox::{Mailbox, Turn};
use super::outlook::{Bounds, Outlook};
use dyno_model::frame::LevelEnd;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_net::Clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared between the run, which counts, and the progress thread, which looks.
#[derive(Debug)]
pub struct Live {
    zero: Instant,
    /// The clock of the records; absent where they are in virtual time.
    clock: Option<Clock>,
    /// Requests that have ended in this level, in whatever way.
    done: AtomicU64,
    /// Of those, the ones that failed.
    failed: AtomicU64,
    /// Output tokens or events seen in this level.
    tokens: AtomicU64,
    /// Requests in flight.
    pub in_flight: AtomicU64,
    planned: AtomicU64,
    level: AtomicU64,
    levels: AtomicU64,
    started_ms: AtomicU64,
    /// Milliseconds of sending planned; 0: not bounded by time.
    duration_ms: AtomicU64,
    /// Which of two runs it is, before every label.
    side: String,
    label: Mutex<String>,
    outlook: Mutex<Outlook>,
    pub(super) mailbox: Mailbox,
}

/// What the counters said at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Seen {
    pub(crate) at: Duration,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) tokens: u64,
    pub(crate) in_flight: u64,
    pub(crate) planned: Option<u64>,
    pub(crate) level: u64,
    /// Levels known so far; 0 before the first begins.
    pub(crate) levels: u64,
    pub(crate) elapsed: Duration,
    pub(crate) duration: Option<Duration>,
    pub(crate) label: String,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            zero: Instant::now(),
            clock: None,
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            planned: AtomicU64::new(0),
            level: AtomicU64::new(0),
            levels: AtomicU64::new(0),
            started_ms: AtomicU64::new(0),
            duration_ms: AtomicU64::new(0),
            side: String::new(),
            label: Mutex::default(),
            outlook: Mutex::default(),
            mailbox: Mailbox::default(),
        }
    }
}

impl Live {
    /// For a run of `plan`, whose records are timed by `clock`, unless they are predicted.
    pub fn of(plan: &Plan, clock: Clock) -> Self {
        let clock = Some(clock).filter(|_| !plan.target.predicted);
        let side = plan.course.versus.as_ref().map(|versus| format!("{} ", versus.side));
        let (side, outlook) = (side.unwrap_or_default(), Mutex::new(Outlook::of(plan)));
        let live = Self { clock, side, outlook, ..Self::default() };
        live.expect(&plan.levels, plan.course.search.is_some());
        live
    }

    /// The levels that are known now; `more` may follow, chosen by what these show.
    pub fn expect(&self, levels: &[LevelPlan], more: bool) {
        let mut outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner);
        outlook.levels = levels.iter().map(|level| self.bounds(level)).collect();
        outlook.more = more;
    }

    /// Starts the counters again for level `index` (from 0) of the `known` ones. `planned` is the
    /// number of requests that bounds it, as far as known, warm-up included.
    pub fn begin_level(&self, index: usize, known: usize, level: &LevelPlan, planned: Option<u64>) {
        for counter in [&self.done, &self.failed, &self.tokens, &self.in_flight] {
            counter.store(0, Relaxed);
        }
        let bounds = self.bounds(level);
        let planned = planned.or(bounds.requests);
        let bounds = Bounds { requests: planned, ..bounds };
        self.planned.store(planned.unwrap_or(0), Relaxed);
        self.duration_ms.store(bounds.time.map_or(0, ms), Relaxed);
        let at = self.zero.elapsed();
        self.started_ms.store(ms(at), Relaxed);
        bounds.label.clone_into(&mut self.label.lock().unwrap_or_else(PoisonError::into_inner));
        self.outlook.lock().unwrap_or_else(PoisonError::into_inner).begin(index, bounds);
        self.level.store(index as u64, Relaxed);
        self.levels.store(known.max(index + 1) as u64, Relaxed);
        self.mailbox.turn(Turn::Begun { level: index, at });
    }

    fn bounds(&self, level: &LevelPlan) -> Bounds {
        let bounds = Bounds::of(level, self.clock.is_some());
        Bounds { label: format!("{}{}", self.side, bounds.label), ..bounds }
    }

    /// A request of the level has ended.
    pub fn ended(&self, record: &RequestRecord) {
        self.done.fetch_add(1, Relaxed);
        if matches!(record.outcome, Outcome::Failed(_) | Outcome::Dropped(_)) {
            self.failed.fetch_add(1, Relaxed);
        }
        if let Some(output) = record.output {
            self.tokens.fetch_add(output.tokens, Relaxed);
        }
        self.mailbox.put(record);
    }

    /// The level is over.
    pub fn end_level(&self, end: &LevelEnd) {
        self.mailbox.turn(Turn::Ended {
            level: end.level as usize,
            at: self.zero.elapsed(),
            ending: end.ending,
            draining: self.draining(end),
        });
    }

    /// How long the end of a level took on the wall clock; in virtual time it took no time.
    fn draining(&self, end: &LevelEnd) -> Duration {
        match self.clock {
            Some(_) => Duration::from_nanos(end.ended.saturating_sub(end.sending_stopped)),
            None => Duration::ZERO,
        }
    }

    /// What the counters say now.
    pub(super) fn look(&self) -> Seen {
        let at = self.zero.elapsed();
        let unless_zero = |value: u64| (value != 0).then_some(value);
        Seen {
            at,
            done: self.done.load(Relaxed),
            failed: self.failed.load(Relaxed),
            tokens: self.tokens.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            planned: unless_zero(self.planned.load(Relaxed)),
            level: self.level.load(Relaxed),
            levels: self.levels.load(Relaxed),
            elapsed: at.saturating_sub(Duration::from_millis(self.started_ms.load(Relaxed))),
            duration: unless_zero(self.duration_ms.load(Relaxed)).map(Duration::from_millis),
            label: self.label.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// What is known of the run as a whole.
    pub(super) fn outlook(&self) -> Outlook {
        self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The second of the records' clock that it is now; absent in virtual time.
    pub(super) fn second(&self) -> Option<u64> {
        self.clock.map(|clock| clock.now() / dyno_model::SEC)
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis() as u64
}
