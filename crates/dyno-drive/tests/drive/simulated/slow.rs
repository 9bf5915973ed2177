//! A client that needs a while for each request it sends, so that it may be slower than its schedule.

use super::Simulated;
use dyno_drive::{
    Ended, Job, LevelOutcome, LevelRecorder, LevelSetup, Lookahead, StopSignal, Transport,
    TransportError, run_level,
};
use dyno_model::frame::ClientHealth;
use dyno_model::plan::{LevelPlan, Shard};
use dyno_model::record::RequestRecord;
use dyno_model::{MS, Nanos};
use std::cell::Cell;
use std::rc::Rc;

pub(crate) struct Slow {
    pub(crate) inner: Simulated,
    /// How long it takes to send a request.
    pub(crate) takes: Nanos,
    /// When somebody asks it to stop.
    pub(crate) stop_at: Option<Nanos>,
    pub(crate) signal: StopSignal,
    /// Completed requests whose end was read.
    read: u64,
    pub(crate) sent_after_stop: u64,
    /// Of them, those that the observer has.
    handed: Rc<Cell<u64>>,
    /// The most that it ever had not.
    pub(crate) most_kept: u64,
}

impl Slow {
    pub(crate) fn new(inner: Simulated, takes: Nanos) -> Self {
        Self {
            inner,
            takes,
            stop_at: None,
            signal: StopSignal::new(),
            read: 0,
            sent_after_stop: 0,
            handed: Rc::default(),
            most_kept: 0,
        }
    }

    fn pass(&mut self, time: Nanos) {
        self.inner.now += time;
        if self.stop_at.is_some_and(|at| self.inner.now >= at) {
            self.stop_at = None;
            self.signal.raise();
        }
    }
}

impl Transport for Slow {
    type Body = Vec<u8>;

    fn now(&self) -> Nanos {
        self.inner.now
    }
    fn prepare(&mut self, _: usize) -> Result<(), TransportError> {
        Ok(())
    }
    fn dispatch(&mut self, job: Job<Vec<u8>>) {
        self.sent_after_stop += u64::from(self.signal.get() > dyno_drive::Stop::No);
        self.inner.dispatch(job);
        self.pass(self.takes);
        let over = self.inner.running.range(..=(self.inner.now, u64::MAX));
        let unread = completed(over.map(|(_, ended)| &*ended.record));
        self.most_kept = self.most_kept.max(unread + self.read - self.handed.get());
    }
    fn wait(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Result<(), TransportError> {
        let until = self.stop_at.map_or(until, |at| until.min(at.max(self.inner.now)));
        let before = ended.len();
        self.inner.wait(until, ended)?;
        while self.inner.running.first_key_value().is_some_and(|((end, _), _)| *end <= self.now()) {
            self.inner.wait(self.now(), ended)?;
        }
        self.read += completed(ended[before..].iter().map(|ended| &*ended.record));
        self.pass(0);
        Ok(())
    }
    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }
    fn censor(&mut self, ended: &mut Vec<Ended>) {
        self.inner.censor(ended);
    }
    fn take_health(&mut self) -> ClientHealth {
        ClientHealth::default()
    }
}

/// Refused ones are kept on purpose, to be sent again.
fn completed<'a>(records: impl IntoIterator<Item = &'a RequestRecord>) -> u64 {
    records.into_iter().filter(|record| record.is_completed()).count() as u64
}

struct Handed {
    count: Rc<Cell<u64>>,
    records: Vec<RequestRecord>,
}

impl LevelRecorder for Handed {
    fn record(&mut self, record: Box<RequestRecord>) {
        self.count.set(self.count.get() + completed([&*record]));
        self.records.push(*record);
    }
}

/// Runs a level with a slow client; its outcome and records.
pub(crate) fn run_slow(
    plan: &LevelPlan,
    client: &mut Slow,
    mut work: Lookahead<Vec<u8>>,
    sessions: bool,
    trace: Option<Vec<Nanos>>,
) -> (LevelOutcome, Vec<RequestRecord>) {
    let signal = client.signal.clone();
    let mut seen = Handed { count: Rc::clone(&client.handed), records: Vec::new() };
    let setup = LevelSetup {
        level: 0,
        plan,
        seed: 3,
        trace: trace.map(|offsets| Box::new(offsets.into_iter()) as _),
        sessions,
        once: client.inner.once,
        max_idle: client.inner.max_idle,
        at_most: client.inner.at_most,
        shard: Shard::WHOLE,
        on_failure: client.inner.on_failure,
        gate: None,
        stop: &signal,
        recorder: &mut seen,
        observer: &(),
    };
    let outcome = run_level(setup, client, &mut work).unwrap();
    let mut records = seen.records;
    records.sort_by_key(|record| record.index);
    (outcome, records)
}

/// At most so many requests are sent before somebody looks.
pub(crate) const BETWEEN_LOOKS: u64 = 32;
/// A wait for nothing is no longer than this.
pub(crate) const PATIENCE: Nanos = 20 * MS;
