//! The engine in virtual time: the core, and a clock that jumps to the next event.

use crate::core::{Core, Event, Refused, Request, Step};
use dyno_model::Nanos;
use std::collections::VecDeque;

/// An engine whose clock jumps from event to event.
///
/// Submit what arrives, then [`advance`](Self::advance) to the next arrival, or to
/// [`Nanos::MAX`] for the next event, whenever that is. A request submitted at the time
/// of an event takes part in the step that starts then.
#[derive(Debug, Clone)]
pub struct Virtual {
    core: Core,
    now: Nanos,
    events: VecDeque<Event>,
    done: Vec<Event>,
    steps: Option<Vec<Step>>,
}

impl Virtual {
    /// Starts the clock of an idle engine at 0.
    pub fn new(core: Core) -> Self {
        Self { core, now: 0, events: VecDeque::new(), done: Vec::new(), steps: None }
    }

    /// The time on its clock.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Clears the cached prompt prefixes that no request uses.
    pub fn clear_prefix_cache(&mut self) {
        self.core.clear_prefix_cache();
    }

    /// Draws the noise of the steps to come from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.core.reseed(seed);
    }

    /// The engine.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Takes a request that arrives at `at`, or now if that has passed.
    pub fn submit(&mut self, at: Nanos, request: Request<'_>) -> Result<(), Refused> {
        self.core.submit(request, at.max(self.now))
    }

    /// Removes a request; false if it is not in the engine. It causes no further events, but those
    /// that have already happened are still returned.
    pub fn cancel(&mut self, id: u64) -> bool {
        self.core.cancel(id)
    }

    /// Moves to the next event that is not after `until` and returns it. With none left, the time
    /// is `until`: every step that starts before then has started, and every step that ends by
    /// then has ended. With [`Nanos::MAX`] it stays at the last event.
    pub fn advance(&mut self, until: Nanos) -> Option<Event> {
        loop {
            if self.events.front().is_some_and(|event| event.at() <= until) {
                let event = self.events.pop_front()?;
                self.now = self.now.max(event.at());
                return Some(event);
            }
            if !self.events.is_empty() || !self.step(until) {
                if until < Nanos::MAX {
                    self.now = self.now.max(until);
                }
                return None;
            }
        }
    }

    /// Ends the next step, if it ends by `until`; starts it, if it starts before.
    fn step(&mut self, until: Nanos) -> bool {
        if self.core.planned().is_none() {
            self.core.coast(until, self.steps.as_mut());
            if self.core.next_start().is_none_or(|start| start >= until) {
                return false;
            }
        }
        let Some(step) = self.core.plan().filter(|step| step.end <= until) else { return false };
        self.core.commit(&mut self.done);
        for event in self.done.drain(..) {
            self.events.push_back(event);
        }
        if let Some(steps) = &mut self.steps {
            steps.push(step);
        }
        true
    }

    /// Whether to log all steps from now on.
    pub fn keep_steps(&mut self, keep: bool) {
        self.steps = keep.then(|| self.steps.take().unwrap_or_default());
    }

    /// The steps that have ended, if they are logged.
    pub fn steps(&self) -> &[Step] {
        self.steps.as_deref().unwrap_or_default()
    }

    /// Whether to keep what [`token_times`](Self::token_times) needs. Call before the first request.
    pub fn keep_times(&mut self, keep: bool) {
        self.core.keep_times(keep);
    }

    /// Puts the time of each token that a request has got so far into `into`, exactly, whatever
    /// happened to it in between. Call while it is in the engine, or right after its finish
    /// event, before advancing further; false if the times are not known.
    pub fn token_times(&self, id: u64, into: &mut Vec<Nanos>) -> bool {
        self.core.token_times(id, into)
    }
}
