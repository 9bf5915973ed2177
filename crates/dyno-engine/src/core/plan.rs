//! Planning the next step: which requests are admitted or preempted, and how long it takes.

use super::clock::Fine;
use super::cost::Load;
use super::front::Place;
use super::pool::Match;
use super::sequences::{SequenceEntry, State};
use super::{Core, Policy, Step};
use dyno_model::Nanos;

/// A step that is decided and not yet handed out.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// Its public description.
    pub(crate) step: Step,
    /// When it is launched.
    pub(crate) launched: Fine,
    /// When the device is done with it. If the next one is decided ahead, its launch may delay the
    /// end.
    pub(crate) end: Fine,
    /// Slot and admission of the sequences whose prefill it completes, until it settles.
    pub(crate) completed: Vec<(u32, u64)>,
    /// Tokens that it hands out, once it has settled; also those of requests cancelled since.
    pub(crate) tokens: u32,
}

/// A step in the making.
#[derive(Default)]
struct Draft {
    load: Load,
    prefills: u32,
    preempted: u32,
    completed: Vec<(u32, u64)>,
}

impl Core {
    /// Decides the next step, with what is queued at its start and nothing else. Returns the step
    /// that ends next, the same until it is committed; nothing if there is nothing to do, or if a
    /// further step is decided before its end is known.
    pub fn plan(&mut self) -> Option<Step> {
        if let Some(step) = self.planned() {
            return Some(*step);
        }
        let start = self.next_start()?;
        self.take_in(|at| at <= start);
        match self.planned.take() {
            Some(flying) => self.decide_behind(flying, start),
            None => {
                self.planned = self.decide(start, Fine::default());
                debug_assert!(self.planned.is_some(), "there was something to do");
                if let (Some(planned), 1..) = (&self.planned, self.scheduler.steps_ahead) {
                    self.clock = planned.launched;
                }
            }
        }
        self.planned().copied()
    }

    /// Decides a step while another is on its way, whose tokens are handed out when it is done and
    /// this one is launched.
    fn decide_behind(&mut self, mut flying: Planned, start: Nanos) {
        let busy = flying.end;
        self.settle(&mut flying);
        self.settled = Some(flying);
        self.planned = self.decide(start, busy);
        if let (Some(planned), Some(settled)) = (&self.planned, &mut self.settled) {
            settled.end = busy.max(planned.launched);
            settled.step.end = settled.end.nanos();
        }
    }

    /// Decides what is in a step for a device that is busy until then; nothing if there is nothing
    /// to do.
    fn decide(&mut self, start: Nanos, busy: Fine) -> Option<Planned> {
        let mut draft = Draft::default();
        match self.scheduler.policy {
            Policy::PrefillFirst => {
                self.prefill_whole(start, &mut draft);
                if draft.prefills == 0 {
                    self.decode(&mut draft);
                }
            }
            Policy::Chunked => {
                self.decode(&mut draft);
                self.prefill_chunks(start, &mut draft);
            }
        }
        if draft.prefills == 0 && draft.load.decodes == 0 {
            return None;
        }
        let number = self.next_number();
        let decoding = self.decoding_time(draft.load.decodes);
        let launch =
            self.cost.launch.time(draft.prefills, draft.load.prefill_tokens, draft.load.decodes);
        let lasts = self.lasts(number, start, self.cost.duration(&draft.load, decoding));
        let (launched, end) = self.run(start, busy, lasts, launch);
        let step = Step {
            number,
            start,
            end: end.nanos(),
            prefill_tokens: draft.load.prefill_tokens,
            prefills: draft.prefills,
            decodes: draft.load.decodes,
            kv_tokens: draft.load.kv_tokens,
            preempted: draft.preempted,
        };
        Some(Planned { step, launched, end, completed: draft.completed, tokens: 0 })
    }

    /// The number of the step to plan.
    fn next_number(&self) -> u64 {
        match &self.settled {
            Some(settled) => settled.step.number + 1,
            None => self.next_handed_out(),
        }
    }

    /// How long the device takes for a step, with noise and slowdown.
    pub(super) fn lasts(&self, number: u64, start: Nanos, duration: Fine) -> Fine {
        let lasts = self.noise.apply(number, duration);
        match self.cost.slow_down.is_none() {
            true => lasts,
            false => lasts.scaled(self.cost.slow_down.factor(start)),
        }
    }

    /// When a step is launched and done that is decided now, or later if there was nothing to do.
    /// The device takes one step after another, and needs the whole launch.
    pub(super) fn run(&self, start: Nanos, busy: Fine, lasts: Fine, launch: Fine) -> (Fine, Fine) {
        let begins = self.clock.max(Fine::from_nanos(start));
        let launched = begins.plus(launch);
        (launched, lasts.plus(begins.max(busy)).max(launched))
    }

    /// Makes room for the decoding sequences and decodes them.
    fn decode(&mut self, draft: &mut Draft) {
        while self.pool.available() < self.decoding.blocks_needed() {
            let Some(newest) = self.sequences.newest() else { break };
            self.preempt(newest);
            draft.preempted += 1;
        }
        self.pool.take(self.decoding.blocks_needed());
        draft.load.decodes = self.decoding.count();
        draft.load.kv_tokens = self.decoding.tokens();
    }

    /// Puts a sequence back to the front of the queue. Its KV cache is lost; the tokens it has
    /// produced are not.
    fn preempt(&mut self, slot: u32) {
        let settled = self.settled.as_ref().map(|settled| settled.step);
        let owing = settled.filter(|step| Self::got_token(self.sequences.get(slot), step));
        self.stop(slot);
        let sequence = self.sequences.get_mut(slot);
        sequence.state = State::Preempted;
        sequence.owed = owing.map(|step| step.number);
        self.preempted.push(slot);
        self.preemptions += 1;
    }

    /// Prefills whole prompts, as many as fit the budget; one that is longer goes alone.
    fn prefill_whole(&mut self, start: Nanos, draft: &mut Draft) {
        let budget = u64::from(self.scheduler.token_budget);
        while let Some((slot, found)) = self.admissible(start) {
            let tokens = self.to_compute(slot, found);
            if draft.prefills > 0 && draft.load.prefill_tokens + tokens > budget {
                break;
            }
            self.admit(slot, found, start);
            self.prefill(slot, tokens, draft);
        }
    }

    /// Spends what decoding leaves of the budget on prompts, in chunks.
    fn prefill_chunks(&mut self, start: Nanos, draft: &mut Draft) {
        let budget = self.scheduler.token_budget.saturating_sub(draft.load.decodes);
        let mut rest = u64::from(budget);
        if let Some(slot) = self.partial.filter(|_| rest > 0) {
            rest -= self.prefill(slot, rest, draft);
        }
        while rest > 0 && draft.preempted == 0 {
            let Some((slot, found)) = self.admissible(start) else { break };
            self.admit(slot, found, start);
            rest -= self.prefill(slot, rest, draft);
        }
    }

    /// The first request in the queue and its cached prefix, if there is room for it now.
    fn admissible(&mut self, start: Nanos) -> Option<(u32, Match)> {
        if self.blocked || self.sequences.running() >= self.scheduler.max_seqs {
            return None;
        }
        let slot = self.first_in_queue(start)?;
        let sequence = self.sequences.get(slot);
        let (tokens, block) = (sequence.tokens(), u64::from(self.scheduler.block));
        // The last token is always computed: the next one is sampled from it.
        let cachable = ((tokens - 1) / block).min(sequence.hashes.len() as u64);
        let found = self.pool.find(&sequence.hashes[..cachable as usize]);
        let wanted = self.scheduler.blocks((tokens + 1).min(sequence.longest()));
        if self.pool.available_besides(found) < wanted - found.blocks {
            self.blocked = true;
            return None;
        }
        Some((slot, found))
    }

    /// The first request in the queue at this time: the last one preempted, or the longest queued.
    pub(super) fn first_in_queue(&self, start: Nanos) -> Option<u32> {
        self.preempted.last().copied().or_else(|| {
            let (at, slot) = self.queue.first()?;
            (at <= start).then_some(slot)
        })
    }

    /// Tokens that a prefill has to compute.
    fn to_compute(&self, slot: u32, found: Match) -> u64 {
        self.sequences.get(slot).tokens() - found.blocks * u64::from(self.scheduler.block)
    }

    /// Admits the first request in the queue and gives it blocks for all its tokens.
    fn admit(&mut self, slot: u32, found: Match, start: Nanos) {
        if self.preempted.pop().is_none() {
            self.queue.pop_first();
        }
        self.sequences.start(slot, self.admitted);
        let sequence = self.sequences.get_mut(slot);
        if sequence.entered.is_none() {
            sequence.place = Place::of(self.admitted);
        }
        self.admitted += 1;
        let (tokens, cached) = (sequence.tokens(), found.blocks * u64::from(self.scheduler.block));
        sequence.state = State::Prefilling(cached);
        sequence.offered = found.blocks as u32;
        // After a preemption a sequence may find its own blocks; only the first admission counts.
        sequence.entered.get_or_insert(SequenceEntry {
            at: start,
            cached: u32::try_from(cached).unwrap_or(u32::MAX),
        });
        self.pool.share(&sequence.hashes[..found.blocks as usize], &mut sequence.shared);
        self.pool.take(self.scheduler.blocks(tokens) - found.blocks);
        self.partial = Some(slot);
        if self.scheduler.prefix_cache {
            self.prefix_queries += tokens;
            self.prefix_hits += cached;
        }
    }

    /// Computes up to `most` more tokens of the partial sequence in this step; returns how many.
    fn prefill(&mut self, slot: u32, most: u64, draft: &mut Draft) -> u64 {
        let sequence = self.sequences.get_mut(slot);
        let State::Prefilling(past) = sequence.state else { return 0 };
        let chunk = most.min(sequence.tokens() - past);
        sequence.state = State::Prefilling(past + chunk);
        if past + chunk == sequence.tokens() {
            draft.completed.push((slot, sequence.admission));
            self.partial = None;
        }
        draft.prefills += 1;
        draft.load.prefill_tokens += chunk;
        draft.load.twice_pairs += u128::from(chunk) * u128::from(2 * past + chunk);

        sequence.offer(past + chunk, self.scheduler.block, &mut self.pool);
        chunk
    }
}
