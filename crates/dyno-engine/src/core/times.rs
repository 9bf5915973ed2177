//! When each token of a request came, if that is kept: the end time of each round, and for each
//! request the rounds in which it took part.

use super::Core;
use super::keys::NumberMap;
use super::sequences::{State, Stint};
use dyno_model::Nanos;
use std::collections::VecDeque;

/// Rounds that are kept before any is dropped.
const FEWEST: usize = 16;

/// When the rounds ended that requests in the engine still need.
#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    ends: VecDeque<Nanos>,
    /// The number of the first that is kept.
    first: u64,
    /// The number of rounds at which to look for some to drop.
    most: usize,
    /// What finished in the last step.
    finished: NumberMap<Vec<Stint>>,
}

impl Rounds {
    fn new(first: u64) -> Self {
        Self { ends: VecDeque::new(), first, most: FEWEST, finished: NumberMap::default() }
    }

    /// Keeps what a request that finished took part in.
    pub(crate) fn keep(&mut self, id: u64, stints: Vec<Stint>) {
        self.finished.insert(id, stints);
    }

    /// Forgets what finished in the step before.
    pub(crate) fn forget_finished(&mut self) {
        self.finished.clear();
    }

    /// Drops the rounds before this one. So many sequences were looked at to find it: it may be
    /// done again after as many rounds.
    fn drop_before(&mut self, round: u64, looked_at: usize) {
        let old = (round.saturating_sub(self.first) as usize).min(self.ends.len());
        self.ends.drain(..old);
        self.first += old as u64;
        self.most = 2 * self.ends.len() + looked_at + FEWEST;
    }

    /// Adds the times of a stint; false if they are not all known.
    fn extend(&self, stint: &Stint, into: &mut Vec<Nanos>) -> bool {
        into.push(stint.first);
        let more = stint.tokens as usize - 1;
        let Some(from) = stint.round.checked_sub(self.first) else { return more == 0 };
        let from = from as usize;
        let known = from + more <= self.ends.len();
        if known && more > 0 {
            into.extend(self.ends.range(from..from + more));
        }
        known
    }
}

impl Core {
    /// Whether to keep what [`token_times`](Self::token_times) needs. Call before the first
    /// request: the times of requests that are already in the engine are incomplete.
    pub fn keep_times(&mut self, keep: bool) {
        match (keep, &self.rounds) {
            (true, None) => self.rounds = Some(Rounds::new(self.decoding.round())),
            (true, Some(_)) => {}
            (false, _) => self.rounds = None,
        }
    }

    /// Puts the time of each token that a request has got into `into`, exactly, whatever happened
    /// to it in between. It must be in the engine or have finished in the step just committed;
    /// false if it is not, or if not all times were kept.
    pub fn token_times(&self, id: u64, into: &mut Vec<Nanos>) -> bool {
        into.clear();
        let Some(rounds) = &self.rounds else { return false };
        if let Some(stints) = rounds.finished.get(&id) {
            return stints.iter().all(|stint| rounds.extend(stint, into));
        }
        let Some(slot) = self.sequences.find(id) else { return false };
        let sequence = self.sequences.get(slot);
        let now = sequence.stint(self.decoding.round());
        let known = sequence.stints.iter().chain(&now).all(|stint| rounds.extend(stint, into));
        known && into.len() == sequence.produced_by(self.decoding.round()) as usize
    }

    /// Keeps the end of a round, if times are kept.
    pub(super) fn remember_round(&mut self, end: Nanos) {
        let Some(rounds) = &mut self.rounds else { return };
        rounds.ends.push_back(end);
        if rounds.ends.len() > rounds.most {
            let preempted = self.preempted.iter().map(|slot| self.sequences.get(*slot));
            let needed = self.sequences.iter().chain(preempted).filter_map(|sequence| {
                let since = (sequence.state == State::Decoding).then_some(sequence.round);
                sequence.stints.first().map(|stint| stint.round).or(since)
            });
            let first = needed.min().unwrap_or(self.decoding.round());
            let looked_at = self.sequences.running() as usize + self.preempted.len();
            rounds.drop_before(first, looked_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Cost, Event, Policy, Request, Scheduler};

    fn core() -> Core {
        let scheduler = Scheduler {
            policy: Policy::PrefillFirst,
            max_seqs: 2,
            token_budget: 64,
            block: 16,
            kv_blocks: 1_000,
            prefix_cache: false,
            context: None,
        };
        Core::new(scheduler, Cost { base: 0.01, ..Cost::default() }, 0).unwrap()
    }

    #[test]
    fn rounds_that_nobody_needs_are_dropped() {
        let mut core = core();
        core.keep_times(true);
        let request = |id| Request { id, input: 1, output: 1_000, hashes: &[] };
        let (mut done, mut times) = (Vec::new(), Vec::new());
        core.submit(request(0), 0).unwrap();
        core.submit(request(1), 5_000_000_000).unwrap();
        for id in 2..40 {
            while done.iter().all(|event| !matches!(event, Event::Finished { .. })) {
                done.clear();
                core.plan().unwrap();
                core.commit(&mut done);
            }
            for event in done.drain(..) {
                assert!(core.token_times(event.id(), &mut times));
                assert_eq!((times.len(), times.last()), (1_000, Some(&event.at())));
                assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
                core.submit(request(id), event.at()).unwrap();
            }
            // Twice what a request needs, and a little.
            assert!(core.rounds.as_ref().unwrap().ends.len() <= 2_000 + 2 + FEWEST);
        }
        assert!(core.decoding.round() > 10_000);
    }

    #[test]
    fn times_that_were_not_kept_are_unknown() {
        let mut core = core();
        let (mut done, mut times) = (Vec::new(), Vec::new());
        core.submit(Request { id: 1, input: 1, output: 9, hashes: &[] }, 0).unwrap();
        for _ in 0..3 {
            core.plan().unwrap();
            core.commit(&mut done);
        }
        assert!(!core.token_times(1, &mut times));
        core.keep_times(true);
        assert!(!core.token_times(1, &mut times));
        assert!(!core.token_times(2, &mut times));
    }
}
