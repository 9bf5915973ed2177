//! A simulated engine and the requests that a client has sent to it.

use super::lengths::Lengths;
use crate::core::{Core, Event, Request};
use crate::fit::model::Model;
use crate::fit::table::Level;
use crate::virtual_time::Virtual;
use dyno_core::Nanos;

/// What became of a request that ended, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    /// When it was sent.
    pub(super) start: f64,
    /// When its first token came.
    pub(super) first: f64,
    /// When its last token came.
    pub(super) end: f64,
    /// Tokens of its answer.
    pub(super) output: u32,
}

/// Requests under way.
pub(super) struct Session {
    engine: Virtual,
    lengths: Lengths,
    hashes: Vec<u64>,
    /// The engine's time at the client's time 0.
    origin: Nanos,
    /// Start, first token and output of each request, by its id.
    sent: Vec<(Nanos, Nanos, u32)>,
    ended: Vec<Timing>,
}

impl Session {
    /// An engine that nothing was sent to, apart from the prompt itself if it is a repeated one.
    pub(super) fn new(level: &Level, model: &Model) -> Option<Self> {
        let core = Core::new(model.scheduler, model.cost, 0).ok()?;
        let mut session = Self {
            engine: Virtual::new(core),
            lengths: Lengths::new(level, model.spread),
            hashes: Vec::new(),
            origin: 0,
            sent: Vec::new(),
            ended: Vec::new(),
        };
        if level.repeated && model.scheduler.prefix_cache {
            let blocks = session.lengths.input() / model.scheduler.block;
            session.hashes = (1..=u64::from(blocks)).collect();
            session.send(0)?;
            session.drain();
            session.origin = session.engine.now();
            session.sent.clear();
            session.ended.clear();
        }
        Some(session)
    }

    /// How many were sent.
    pub(super) fn sent(&self) -> u32 {
        self.sent.len() as u32
    }

    /// How many have not ended.
    pub(super) fn in_flight(&self) -> u32 {
        (self.sent.len() - self.ended.len()) as u32
    }

    /// Sends the next request; nothing if the engine does not take it.
    pub(super) fn send(&mut self, at: Nanos) -> Option<()> {
        let id = self.sent.len() as u64;
        let output = self.lengths.output(id);
        let request = Request { id, input: self.lengths.input(), output, hashes: &self.hashes };
        self.engine.submit(self.origin + at, request).ok()?;
        self.sent.push((at, 0, output));
        Some(())
    }

    /// When the next request ends, if that is not after `until`.
    pub(super) fn next(&mut self, until: Nanos) -> Option<Nanos> {
        let until = until.saturating_add(self.origin);
        while let Some(event) = self.engine.advance(until) {
            let at = event.at() - self.origin;
            let (start, first, output) = self.sent.get_mut(event.id() as usize)?;
            match event {
                Event::First { .. } => *first = at,
                Event::Finished { .. } => {
                    let seconds = |nanos: Nanos| 1e-9 * nanos as f64;
                    let (start, first, end) = (seconds(*start), seconds(*first), seconds(at));
                    self.ended.push(Timing { start, first, end, output: *output });
                    return Some(at);
                }
            }
        }
        None
    }

    /// Waits for all that is under way.
    pub(super) fn drain(&mut self) {
        while self.in_flight() > 0 && self.next(Nanos::MAX).is_some() {}
    }

    /// The requests that ended, in the order in which they did.
    pub(super) fn into_timings(self) -> Vec<Timing> {
        self.ended
    }
}
