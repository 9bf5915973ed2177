//! The engine in virtual time: the core, and a clock that jumps to the next event.

mod unseen;

use crate::core::{Core, Event, RefusedRequest, Request, SequenceEntry, Step};
use dyno_model::Nanos;
use unseen::{Moment, Unseen};

/// An engine whose clock jumps from event to event.
///
/// Submit what arrives, then [`advance`](Self::advance) to the next arrival, or to
/// [`Nanos::MAX`] for the next event, whenever that is. A request submitted at the time
/// of an event takes part in the step that starts then.
#[derive(Debug, Clone)]
pub struct Virtual {
    core: Core,
    now: Nanos,
    /// Whether events are seen later than the steps that caused them end, so that there may be
    /// further steps before the next event.
    delayed: bool,
    events: Unseen,
    /// The event that was returned last, if it was delayed.
    last: Option<Moment>,
    done: Vec<Event>,
    steps: Option<Vec<Step>>,
}

impl Virtual {
    /// Starts the clock of an idle engine at 0.
    pub fn new(core: Core) -> Self {
        let delayed = core.has_front_work();
        let events = Unseen::default();
        Self { core, now: 0, delayed, events, last: None, done: Vec::new(), steps: None }
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

    /// The engine. With a front end that has work to do, it may be ahead of the clock: what it has
    /// produced is seen later.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// Takes a request that arrives at `at`, or now if that has passed.
    pub fn submit(&mut self, at: Nanos, request: Request<'_>) -> Result<(), RefusedRequest> {
        if self.delayed && self.events.has(request.id) {
            return Err(RefusedRequest::Duplicate(request.id));
        }
        self.core.submit(request, at.max(self.now))
    }

    /// Removes a request; false if it has ended. It causes no further events, but those that have
    /// already happened are still returned.
    pub fn cancel(&mut self, id: u64) -> bool {
        let unseen = self.delayed && self.events.drop_after(self.now, id);
        self.core.cancel(id) || unseen
    }

    /// Moves to the next event that is not after `until` and returns it. With none left, the time
    /// is `until`: every step that starts before then has started, and every step that ends by
    /// then has ended. With [`Nanos::MAX`] it stays at the last event.
    pub fn advance(&mut self, until: Nanos) -> Option<Event> {
        loop {
            let next = self.events.next_at().filter(|at| *at <= until);
            // The client may react to an event, so no step goes past it.
            let limit = next.unwrap_or(until);
            if (next.is_none() || self.delayed) && self.step(limit) {
                continue;
            }
            if next.is_none() {
                self.last = None;
                if until < Nanos::MAX {
                    self.now = self.now.max(until);
                }
                return None;
            }
            let moment = self.events.pop()?;
            let event = moment.event;
            self.now = self.now.max(event.at());
            self.last = Some(moment).filter(|_| self.delayed);
            return Some(event);
        }
    }

    /// Decides or ends a step: it must end by `until`, or start before.
    fn step(&mut self, until: Nanos) -> bool {
        if self.core.planned().is_none() {
            self.core.coast(until, self.steps.as_mut());
            self.core.idle(until);
            if self.core.next_start_by(until).is_none_or(|start| start >= until) {
                return false;
            }
        }
        let Some(step) = self.core.plan() else { return true };
        if step.end > until {
            return false;
        }
        self.core.commit(&mut self.done);
        for event in self.done.drain(..) {
            let moment = match self.delayed {
                true => Moment::with_details(event, &self.core),
                false => event.into(),
            };
            self.events.push(moment);
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
        if !self.delayed {
            return self.core.token_times(id, into);
        }
        let kept = self.last.iter().chain(self.events.iter()).find_map(|it| it.times(id));
        let known = match kept {
            Some(times) => {
                into.clear();
                into.extend_from_slice(times);
                true
            }
            None => self.core.token_times(id, into),
        };
        into.truncate(into.partition_point(|at| *at <= self.now));
        known
    }

    /// The first admission of a request that has been admitted. Call while it is in the engine, or
    /// right after one of its events.
    pub fn entered(&self, id: u64) -> Option<SequenceEntry> {
        let kept = self.last.iter().find_map(|it| it.entered(id));
        kept.or_else(|| self.core.entered(id))
    }

    /// Prompt tokens of an admitted request that were in the prefix cache; absent without a cache.
    /// Call while it is in the engine, or right after one of its events.
    pub fn cached(&self, id: u64) -> Option<u32> {
        let entered = self.entered(id).filter(|_| self.core.scheduler().prefix_cache);
        entered.map(|entry| entry.cached)
    }
}
