//! What can be asked of the engine at any time.

use super::Core;
use super::config::Scheduler;
use super::cost::Cost;
use super::request::Token;
use super::sequences::SequenceEntry;

impl Core {
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
    pub fn entered(&self, id: u64) -> Option<SequenceEntry> {
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

    /// Tokens that were looked up in the prefix cache, so far.
    pub fn prefix_queries(&self) -> u64 {
        self.prefix_queries
    }

    /// Tokens that were found in the prefix cache, so far.
    pub fn prefix_hits(&self) -> u64 {
        self.prefix_hits
    }
}
