//! Continuous batching without a clock and without I/O: requests go in with their times, steps
//! come out with theirs.
//!
//! [`Core::submit`] queues a request, [`Core::plan`] decides the next step from what is queued at
//! its start, [`Core::commit`] ends it. The same requests at the same times and the same seed give
//! the same steps, in virtual time and live. Simulating a step that only decodes costs the same for any
//! number of sequences.

mod clock;
mod coast;
mod coast_ahead;
mod commit;
mod config;
mod cost;
mod decoding;
mod front;
pub(crate) mod keys;
mod noise;
mod plan;
mod pool;
mod queue;
mod request;
mod sequences;
mod times;

pub use config::{ConfigError, Policy, Scheduler};
pub use cost::{Cost, Knee, Launch, Rise};
pub use front::Front;
pub use request::{Event, Refused, Request, Step, Token};
pub use sequences::Entry;

use clock::Fine;
use commit::Outcome;
use decoding::Decoding;
use dyno_model::Nanos;
use front::{FrontEnd, Seen};
use noise::Noise;
use plan::Planned;
use pool::Pool;
use queue::Queue;
use sequences::{Sequence, Sequences, State, longest};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use times::Times;

/// The engine's state.
#[derive(Debug, Clone)]
pub struct Core {
    scheduler: Scheduler,
    cost: Cost,
    /// Cached results of [`Cost::decoding`] by number of sequences.
    decoding_times: Vec<Option<Fine>>,
    noise: Noise,
    sequences: Sequences,
    front: FrontEnd,
    /// By the time at which they arrive at the front end, if that has work to do.
    intake: Queue,
    /// By the time at which they may be admitted, then by order of submission.
    queue: Queue,
    /// Ahead of the whole queue; the last one is the first to be resumed.
    preempted: Vec<u32>,
    /// The one admitted sequence whose prompt is not yet completely computed or planned.
    partial: Option<u32>,
    decoding: Decoding,
    pool: Pool,
    /// The first request in the queue found no room, and none has left since. Meanwhile decoding only
    /// takes blocks and no prefill publishes any, so looking again would find no more.
    blocked: bool,
    /// The step that was decided last, until it settles.
    planned: Option<Planned>,
    /// The one before it, until it is handed out.
    settled: Option<Planned>,
    /// What is to be handed out with it.
    outcomes: Vec<Outcome>,
    /// The step that was committed last, and when its tokens are seen.
    last: Option<Step>,
    seen: Seen,
    /// When the next step can be decided.
    clock: Fine,
    /// What finished in the step that settled last.
    finished: Vec<Token>,
    /// Their cached prompt tokens.
    finished_entries: Vec<(u64, Option<Entry>)>,
    times: Option<Times>,
    submitted: u64,
    admitted: u64,
    preemptions: u64,
    prefix_queries: u64,
    prefix_hits: u64,
}

impl Core {
    /// An idle engine.
    pub fn new(scheduler: Scheduler, cost: Cost, seed: u64) -> Result<Self, ConfigError> {
        scheduler.check()?;
        cost.check()?;
        Ok(Self {
            scheduler,
            cost,
            decoding_times: Vec::new(),
            noise: Noise::new(seed, cost.noise),
            sequences: Sequences::new(),
            front: FrontEnd::new(&cost),
            intake: Queue::default(),
            queue: Queue::default(),
            preempted: Vec::new(),
            partial: None,
            decoding: Decoding::new(scheduler.block),
            pool: Pool::new(scheduler.kv_blocks),
            blocked: false,
            planned: None,
            settled: None,
            outcomes: Vec::new(),
            last: None,
            seen: Seen::default(),
            clock: Fine::default(),
            finished: Vec::new(),
            finished_entries: Vec::new(),
            times: None,
            submitted: 0,
            admitted: 0,
            preemptions: 0,
            prefix_queries: 0,
            prefix_hits: 0,
        })
    }

    /// Accepts a request that arrives at `at`. It is queued when the front end is done with it and
    /// joins no step that starts before that.
    ///
    /// Times need not be in order: the queue is by time, whatever the order of submission.
    pub fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), Refused> {
        self.check(&request)?;
        let full = longest(request.input, request.output) / u64::from(self.scheduler.block);
        let hashes = match self.scheduler.prefix_cache {
            true => &request.hashes[..request.hashes.len().min(full as usize)],
            false => &[],
        };
        let (lengths, order) = ((request.input, request.output), self.submitted);
        let state = State::Arriving { turns: self.front.turns(), at, order };
        let slot = self.sequences.insert(Sequence::new(request.id, lengths, hashes, state));
        self.submitted += 1;
        match self.front.is_idle() {
            true => self.enqueue(slot, at, order),
            false => {
                self.intake.insert((at, order), slot);
                self.blocked = false;
            }
        }
        Ok(())
    }

    /// The front end takes in the requests that have arrived, in the order of their times.
    fn take_in(&mut self, arrived: impl Fn(Nanos) -> bool) {
        while let Some((at, slot)) = self.intake.first().filter(|(at, _)| arrived(*at)) {
            self.take_turn(at, slot);
        }
    }

    /// The first request that is arriving takes its turn in the front end.
    fn take_turn(&mut self, at: Nanos, slot: u32) {
        self.intake.pop_first();
        let sequence = self.sequences.get_mut(slot);
        let State::Arriving { turns, order, .. } = sequence.state else { return };
        let over = self.front.turn(at, sequence.input);
        if turns > 1 {
            sequence.state = State::Arriving { turns: turns - 1, at: over, order };
            self.intake.insert((over, order), slot);
        } else {
            self.enqueue(slot, over, order);
        }
    }

    /// When the first of the requests that are arriving is queued, if the engine does nothing
    /// meanwhile; nothing if that is after `until`.
    fn first_to_be_queued(&self, until: Nanos) -> Option<Nanos> {
        let waits = |(at, slot): (Nanos, u32)| match self.sequences.get(slot).state {
            State::Arriving { turns, order, .. } => Some(Reverse((at, order, turns, slot))),
            _ => None,
        };
        let mut front = self.front.clone();
        let mut waiting: BinaryHeap<_> = self.intake.iter().filter_map(waits).collect();
        while let Some(Reverse((at, order, turns, slot))) = waiting.pop() {
            let over = front.turn(at, self.sequences.get(slot).input);
            if turns <= 1 {
                return Some(front.queues(over)).filter(|at| *at <= until);
            }
            if over > until {
                return None;
            }
            waiting.push(Reverse((over, order, turns - 1, slot)));
        }
        None
    }

    /// Queues a request whose last turn is over.
    fn enqueue(&mut self, slot: u32, over: Nanos, order: u64) {
        let at = self.front.queues(over);
        self.sequences.get_mut(slot).state = State::Queued { at, order };
        self.queue.insert((at, order), slot);
        self.blocked = false;
    }

    /// Whether a request would be refused, and why.
    pub fn check(&self, request: &Request<'_>) -> Result<(), Refused> {
        let Request { id, input, output, .. } = *request;
        if input == 0 {
            return Err(Refused::NoInput);
        }
        if output == 0 {
            return Err(Refused::NoOutput);
        }
        match self.scheduler.context {
            Some(context) if u64::from(input) + u64::from(output) > u64::from(context) => {
                return Err(Refused::TooLong { context, input, output });
            }
            _ => {}
        }
        if self.scheduler.blocks(longest(input, output)) > self.scheduler.kv_blocks {
            let pool = self.scheduler.kv_tokens();
            return Err(Refused::NeverFits { pool, input, output });
        }
        match self.sequences.find(id).is_some() || self.is_owed_its_end(id) {
            true => Err(Refused::Duplicate(id)),
            false => Ok(()),
        }
    }

    /// Whether a request has finished in a step that is not handed out yet.
    fn is_owed_its_end(&self, id: u64) -> bool {
        self.settled.is_some() && self.finished.iter().any(|token| token.id == id)
    }

    /// Removes a request in any state; false if it is not in the engine. A step that is
    /// planned keeps its times.
    pub fn cancel(&mut self, id: u64) -> bool {
        let finished = self.withhold(id);
        let Some(slot) = self.sequences.find(id) else { return finished };
        match self.sequences.get(slot).state {
            State::Arriving { at, order, .. } => self.intake.remove((at, order)),
            State::Queued { at, order } => self.queue.remove((at, order)),
            State::Preempted => self.preempted.retain(|other| *other != slot),
            State::Prefilling(_) | State::Decoding => self.stop(slot),
        }
        self.sequences.remove(slot);
        self.blocked = false;
        true
    }

    /// Stops a running sequence and frees its blocks.
    fn stop(&mut self, slot: u32) {
        let round = self.decoding.round();
        let in_round = self.planned.as_ref().is_some_and(|planned| planned.step.decodes > 0);
        let sequence = self.sequences.get_mut(slot);
        sequence.stints.extend(self.times.as_ref().and_then(|_| sequence.stint(round)));
        let decoding = sequence.state == State::Decoding;
        sequence.produced = sequence.produced_by(round);
        let tokens = sequence.tokens();
        let held = match decoding {
            // The newest token gets its KV slot in the round that attends to it.
            true => tokens - u64::from(!in_round),
            false => tokens,
        };
        if decoding {
            // A request that continues this response can use the blocks that it has filled.
            sequence.offer(held, self.scheduler.block, &mut self.pool);
        }
        let private = self.scheduler.blocks(held) - sequence.shared.len() as u64;
        self.pool.leave(&mut sequence.shared);
        self.pool.give(private);
        if decoding {
            self.decoding.leave(tokens);
        }
        if self.partial == Some(slot) {
            self.partial = None;
        }
        self.sequences.stop(slot);
        self.blocked = false;
    }

    /// When the next step is decided, with what is known now; absent if there is nothing to do.
    pub fn next_start(&self) -> Option<Nanos> {
        self.next_start_by(Nanos::MAX)
    }

    /// The front end continues with what arrives before `until`, while there is nothing else to do. What
    /// it has done for a request that is cancelled then was done.
    pub fn idle(&mut self, until: Nanos) {
        if self.planned.is_some() || self.settled.is_some() || !self.preempted.is_empty() {
            return;
        }
        while self.sequences.running() == 0
            && self.queue.first().is_none()
            && let Some((at, slot)) = self.intake.first().filter(|(at, _)| *at < until)
        {
            self.take_turn(at, slot);
        }
    }

    /// When the next step is decided; nothing if that is after `until`, or there is nothing to do.
    pub(crate) fn next_start_by(&self, until: Nanos) -> Option<Nanos> {
        if let Some(step) = self.planned() {
            return Some(step.start);
        }
        let free = self.clock.nanos();
        let busy = self.planned.is_some() || self.sequences.running() > 0;
        if busy || !self.preempted.is_empty() {
            return Some(free);
        }
        let queued = self.queue.first().map(|(at, _)| at);
        queued.into_iter().chain(self.first_to_be_queued(until)).min().map(|at| free.max(at))
    }

    /// The step that ends next, if it is decided and its end is known.
    pub fn planned(&self) -> Option<&Step> {
        match self.scheduler.steps_ahead {
            0 => self.planned.as_ref().map(|planned| &planned.step),
            _ => self.settled.as_ref().map(|settled| &settled.step),
        }
    }

    /// The number of the step that is handed out next.
    fn next_handed_out(&self) -> u64 {
        self.last.map_or(0, |last| last.number + 1)
    }

    /// The requests that got a token in the step just committed. Visits every running sequence.
    pub fn emitted(&self) -> impl Iterator<Item = Token> {
        let round = self.decoding.round();
        let preempted = self.preempted.iter().map(|slot| self.sequences.get(*slot));
        let all = self.sequences.iter().chain(preempted);
        let got = all.filter(|it| self.last.is_some_and(|step| Self::got_token(it, &step)));
        let tokens = got.map(move |sequence| {
            let (id, number) = (sequence.id, sequence.produced_by(round));
            let at = match number {
                1 => self.seen.first(),
                _ => self.seen.further(sequence.place).max(sequence.first_seen),
            };
            Token { id, number, last: false, at }
        });
        tokens.chain(self.finished.iter().copied())
    }

    /// How many tokens a request has got; absent if it is not in the engine.
    pub fn produced(&self, id: u64) -> Option<u32> {
        let Some(slot) = self.sequences.find(id) else {
            let owed = self.finished.iter().filter(|_| self.settled.is_some());
            return owed.filter(|token| token.id == id).map(|token| token.number - 1).next();
        };
        let sequence = self.sequences.get(slot);
        let settled = self.settled.as_ref();
        let owed = settled.is_some_and(|settled| Self::got_token(sequence, &settled.step));
        Some(sequence.produced_by(self.decoding.round()) - u32::from(owed))
    }

    /// Prompt tokens of an admitted request that were in the prefix cache; absent without a cache.
    /// It must be in the engine or have finished in the step just committed.
    pub fn cached(&self, id: u64) -> Option<u32> {
        self.entered(id).filter(|_| self.scheduler.prefix_cache).map(|entry| entry.cached)
    }

    /// The first admission of a request that is in the engine or ended in the last step; absent
    /// before it.
    pub fn entered(&self, id: u64) -> Option<Entry> {
        match self.sequences.find(id) {
            Some(slot) => self.sequences.get(slot).entered,
            None => self.finished_entries.iter().find(|(known, _)| *known == id)?.1,
        }
    }

    /// Whether the front end has work to do, so that tokens are seen later than they are handed out.
    pub fn has_front_work(&self) -> bool {
        !self.front.is_idle()
    }

    /// The settings of the scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The coefficients of the step-time model.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// Requests that are not admitted, including those in the front end and those preempted.
    pub fn waiting(&self) -> usize {
        self.intake.len() + self.queue.len() + self.preempted.len()
    }

    /// Requests that are admitted.
    pub fn running(&self) -> usize {
        self.sequences.running() as usize
    }

    /// Blocks of the KV pool that requests use. Cached blocks without a user do not count.
    pub fn kv_used(&self) -> u64 {
        self.pool.used()
    }

    /// Blocks of the KV pool.
    pub fn kv_total(&self) -> u64 {
        self.pool.total()
    }

    /// Preemptions so far.
    pub fn preemptions(&self) -> u64 {
        self.preemptions
    }

    /// Draws the noise of the steps planned from now on from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.noise = Noise::new(seed, self.cost.noise);
    }

    /// Clears the cached prompt prefixes that no request uses.
    pub fn clear_prefix_cache(&mut self) {
        self.pool.forget_idle();
    }

    /// Tokens that were looked up in the prefix cache, so far.
    pub fn prefix_queries(&self) -> u64 {
        self.prefix_queries
    }

    /// Tokens that were found in the prefix cache, so far.
    pub fn prefix_hits(&self) -> u64 {
        self.prefix_hits
    }
}
