//! A simulated engine and the requests that a client has sent to it.

use super::lengths::Lengths;
use crate::core::{Core, Event, Request};
use crate::fit::model::Model;
use crate::fit::table::Level;
use crate::virtual_time::Virtual;
use dyno_model::Nanos;
use std::collections::VecDeque;

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
    /// How long the client waits for an answer.
    patience: Option<Nanos>,
    /// Those that may still be given up, in the order in which they were sent.
    waiting: VecDeque<u32>,
    /// Which ones have ended, one way or the other.
    over: Vec<bool>,
    given_up: u32,
    last_given_up: Option<u32>,
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
            patience: level.timeout_s.map(|s| (1e9 * s) as Nanos),
            waiting: VecDeque::new(),
            over: Vec::new(),
            given_up: 0,
            last_given_up: None,
        };
        if level.repeated && model.scheduler.prefix_cache {
            let blocks = session.lengths.input() / model.scheduler.block;
            session.hashes = (1..=u64::from(blocks)).collect();
            session.send(0)?;
            session.drain();
            session.origin = session.engine.now();
            session.sent.clear();
            session.ended.clear();
            session.waiting.clear();
            session.over.clear();
        }
        Some(session)
    }

    /// How many were sent.
    pub(super) fn sent(&self) -> u32 {
        self.sent.len() as u32
    }

    /// How many have not ended.
    pub(super) fn in_flight(&self) -> u32 {
        (self.sent.len() - self.ended.len()) as u32 - self.given_up
    }

    /// The request that [`next`](Self::next) told the end of, if the client gave it up.
    pub(super) fn given_up(&self) -> Option<u32> {
        self.last_given_up
    }

    /// Sends the next request; nothing if the engine does not take it.
    pub(super) fn send(&mut self, at: Nanos) -> Option<()> {
        let id = self.sent.len() as u64;
        let output = self.lengths.output(id);
        let request = Request { id, input: self.lengths.input(), output, hashes: &self.hashes };
        self.engine.submit(self.origin + at, request).ok()?;
        self.sent.push((at, 0, output));
        self.over.push(false);
        if self.patience.is_some() {
            self.waiting.push_back(id as u32);
        }
        Some(())
    }

    /// When the next request ends or is given up, if that is not after `until`.
    pub(super) fn next(&mut self, until: Nanos) -> Option<Nanos> {
        self.last_given_up = None;
        let deadline = self.deadline();
        let end = deadline.map_or(until, |(_, at)| at.min(until));
        if let Some(at) = self.next_end(end) {
            return Some(at);
        }
        let (id, at) = deadline.filter(|(_, at)| *at <= until)?;
        self.engine.cancel(u64::from(id));
        self.over[id as usize] = true;
        self.given_up += 1;
        self.last_given_up = Some(id);
        Some(at)
    }

    /// The request that is given up next if it does not end, and when.
    fn deadline(&mut self) -> Option<(u32, Nanos)> {
        let patience = self.patience?;
        while self.waiting.front().is_some_and(|id| self.over[*id as usize]) {
            self.waiting.pop_front();
        }
        let id = *self.waiting.front()?;
        Some((id, self.sent[id as usize].0.saturating_add(patience)))
    }

    fn next_end(&mut self, until: Nanos) -> Option<Nanos> {
        let until = until.saturating_add(self.origin);
        while let Some(event) = self.engine.advance(until) {
            let id = event.id() as usize;
            if self.over.get(id).copied().unwrap_or(true) {
                continue;
            }
            let at = event.at() - self.origin;
            let (start, first, output) = self.sent.get_mut(id)?;
            match event {
                Event::First { .. } => *first = at,
                Event::Finished { .. } => {
                    self.over[id] = true;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Cost, Policy, Scheduler};
    use crate::fit::table::{End, Offer, Role};
    use crate::twin::profile::Client;

    /// One sequence at a time, 1 s each: ten tokens of 0.1 s.
    fn session(timeout_s: Option<f64>) -> Session {
        let scheduler = Scheduler {
            policy: Policy::PrefillFirst,
            max_seqs: 1,
            token_budget: 2048,
            block: 16,
            kv_blocks: 100,
            prefix_cache: false,
            context: None,
        };
        let cost = Cost { base: 0.1, ..Cost::default() };
        let model = Model { scheduler, cost, client: Client::default(), spread: 0.0 };
        let end = End::Requests { requests: 3, noticed_s: 0.0 };
        let level = Level {
            label: String::new(),
            offer: Offer::Closed { in_flight: Some(3), end },
            input: 16.0,
            output: 10.0,
            counted: None,
            timeout_s,
            repeated: false,
            figures: Default::default(),
            role: Role::Fitted,
        };
        Session::new(&level, &model).unwrap()
    }

    #[test]
    fn patience_ends_a_request_that_takes_longer() {
        let mut patient = session(None);
        let mut hasty = session(Some(1.5));
        for session in [&mut patient, &mut hasty] {
            for _ in 0..3 {
                session.send(0).unwrap();
            }
            session.drain();
            assert_eq!(session.in_flight(), 0);
        }
        let ends = |session: Session| -> Vec<f64> {
            session.into_timings().iter().map(|timing| timing.end).collect()
        };
        assert_eq!(ends(patient), [1.0, 2.0, 3.0]);
        assert_eq!(ends(hasty), [1.0]);
    }

    #[test]
    fn what_was_given_up_is_told_and_makes_room() {
        let mut session = session(Some(1.5));
        for _ in 0..2 {
            session.send(0).unwrap();
        }
        assert_eq!(session.next(Nanos::MAX), Some(1_000_000_000));
        assert_eq!(session.given_up(), None);
        // The second had 0.5 s of its 1 s.
        assert_eq!(session.next(Nanos::MAX), Some(1_500_000_000));
        assert_eq!(session.given_up(), Some(1));
        session.send(1_500_000_000).unwrap();
        assert_eq!(session.next(Nanos::MAX), Some(2_500_000_000));
        assert_eq!(session.given_up(), None);
    }
}
