//! Continuous batching without a clock and without I/O: requests go in with their times, steps
//! come out with theirs.
//!
//! [`Core::submit`] queues a request, [`Core::plan`] decides the next step from what is queued at
//! its start, [`Core::commit`] ends it. The same requests at the same times and the same seed give
//! the same steps, in virtual time and live. Simulating a step that only decodes costs the same for any
//! number of sequences.

mod asked;
mod clock;
mod coast;
mod coast_ahead;
mod commit;
mod config;
mod cost;
mod decoding;
mod front;
mod intake;
pub(crate) mod keys;
mod noise;
mod plan;
mod pool;
mod queue;
mod request;
mod sequences;
mod times;

pub use config::{ConfigError, Policy, Scheduler};
pub use cost::{Cost, CostKnee, Launch, Rise};
pub use front::Front;
pub use request::{Event, RefusedRequest, Request, Step, Token};
pub use sequences::SequenceEntry;

use clock::Fine;
use commit::Outcome;
use decoding::Decoding;
use dyno_model::Nanos;
use front::{FrontEnd, Seen};
use noise::Noise;
use plan::Planned;
use pool::Pool;
use queue::Queue;
use sequences::{Sequences, State};
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
    finished_entries: Vec<(u64, Option<SequenceEntry>)>,
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

    /// Draws the noise of the steps planned from now on from another seed.
    pub fn reseed(&mut self, seed: u64) {
        self.noise = Noise::new(seed, self.cost.noise);
    }

    /// Clears the cached prompt prefixes that no request uses.
    pub fn clear_prefix_cache(&mut self) {
        self.pool.forget_idle();
    }
}
