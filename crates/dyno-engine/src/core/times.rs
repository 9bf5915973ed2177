//! When each token of a request was seen, if that is kept: the time of each step, and for each
//! request the steps in which it took part.

use super::Core;
use super::front::{Place, Seen};
use super::keys::NumberMap;
use super::sequences::{State, Stint};
use dyno_model::Nanos;
use std::collections::VecDeque;

/// Steps that are kept before any is dropped.
const FEWEST: usize = 16;

/// A request that finished in the last step.
#[derive(Debug, Clone)]
struct Finished {
    stints: Vec<Stint>,
    place: Place,
}

/// When the tokens of the steps were seen that requests in the engine still need.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    /// From when.
    steps: VecDeque<Nanos>,
    /// For how long; empty if all tokens of a step are seen at once.
    spans: VecDeque<Nanos>,
    /// The number of the first step that is kept.
    first: u64,
    /// The number of steps at which to look for some to drop.
    most: usize,
    /// Those steps in which no sequence decoded.
    pauses: VecDeque<u64>,
    finished: NumberMap<Finished>,
}

impl Times {
    fn new(first: u64) -> Self {
        Self {
            steps: VecDeque::new(),
            spans: VecDeque::new(),
            first,
            most: FEWEST,
            pauses: VecDeque::new(),
            finished: NumberMap::default(),
        }
    }

    /// Keeps a step.
    fn push(&mut self, seen: Seen, spread: bool, decoded: bool) {
        if !decoded {
            self.pauses.push_back(self.first + self.steps.len() as u64);
        }
        self.steps.push_back(seen.from);
        if spread {
            self.spans.push_back(seen.span);
        }
    }

    /// When the tokens of a step that is kept are seen.
    fn seen(&self, place: usize) -> Seen {
        Seen { from: self.steps[place], span: self.spans.get(place).copied().unwrap_or(0) }
    }

    /// Keeps what a request that finished took part in.
    pub(crate) fn keep(&mut self, id: u64, stints: Vec<Stint>, place: Place) {
        self.finished.insert(id, Finished { stints, place });
    }

    /// Forgets a request that finished.
    pub(crate) fn forget(&mut self, id: u64) {
        self.finished.remove(&id);
    }

    /// Forgets what finished in the step before.
    pub(crate) fn forget_finished(&mut self) {
        self.finished.clear();
    }

    /// The first step that a request which finished needs.
    fn needed_by_finished(&self) -> Option<u64> {
        self.finished.values().filter_map(|ended| ended.stints.first()).map(|it| it.step).min()
    }

    /// Drops the steps before this one. So many sequences were looked at to find it: it may be
    /// done again after as many steps.
    fn drop_before(&mut self, step: u64, looked_at: usize) {
        let old = (step.saturating_sub(self.first) as usize).min(self.steps.len());
        self.steps.drain(..old);
        self.spans.drain(..old.min(self.spans.len()));
        self.first += old as u64;
        let passed = self.pauses.partition_point(|pause| *pause < self.first);
        self.pauses.drain(..passed);
        self.most = 2 * self.steps.len() + looked_at + FEWEST;
    }

    /// Adds the times of the tokens of a stint that are handed out and still known.
    fn extend(&self, stint: &Stint, place: Place, into: &mut Vec<Nanos>) {
        let from = stint.step.checked_sub(self.first).map(|from| from as usize);
        let Some(from) = from.filter(|from| *from < self.steps.len()) else { return };
        let first = self.seen(from);
        let at = if into.is_empty() { first.first() } else { first.further(place) };
        let mut last = into.last().copied().unwrap_or(0).max(at);
        into.push(last);
        let (from, more) = (from + 1, stint.tokens as usize - 1);
        let to = self.steps.len().min(from + more);
        let pauses = self.pauses.partition_point(|pause| *pause <= stint.step);
        if pauses == self.pauses.len() && self.spans.is_empty() {
            into.extend(self.steps.range(from..to));
            return;
        }
        let mut pauses = self.pauses.range(pauses..).peekable();
        let decoded = (from..self.steps.len())
            .filter(|step| pauses.next_if_eq(&&(self.first + *step as u64)).is_none());
        into.extend(decoded.take(more).map(|step| {
            last = last.max(self.seen(step).further(place));
            last
        }));
    }
}

impl Core {
    /// Whether to keep what [`token_times`](Self::token_times) needs. Call before the first
    /// request: the times of requests that are already in the engine are incomplete.
    pub fn keep_times(&mut self, keep: bool) {
        match (keep, &self.times) {
            (true, None) => self.times = Some(Times::new(self.next_handed_out())),
            (true, Some(_)) => {}
            (false, _) => self.times = None,
        }
    }

    /// Puts the time of each token that a request has got into `into`, exactly, whatever happened
    /// to it in between. It must be in the engine or have finished in the step just committed;
    /// false if it is not, or if not all times were kept.
    pub fn token_times(&self, id: u64, into: &mut Vec<Nanos>) -> bool {
        into.clear();
        let Some(times) = &self.times else { return false };
        let owed = u32::from(self.settled.is_some());
        if let Some(ended) = times.finished.get(&id) {
            ended.stints.iter().for_each(|stint| times.extend(stint, ended.place, into));
            let all: u32 = ended.stints.iter().map(|stint| stint.tokens).sum();
            return into.len() == (all - owed) as usize;
        }
        let Some(slot) = self.sequences.find(id) else { return false };
        let sequence = self.sequences.get(slot);
        let now = sequence.stint(self.decoding.round());
        for stint in sequence.stints.iter().chain(&now) {
            times.extend(stint, sequence.place, into);
        }
        self.produced(id).is_some_and(|got| into.len() == got as usize)
    }

    /// Keeps when the tokens of a step were seen, if times are kept.
    pub(super) fn remember(&mut self, seen: Seen, decoded: bool) {
        let spread = self.has_front_work();
        let Some(times) = &mut self.times else { return };
        times.push(seen, spread, decoded);
        if times.steps.len() > times.most {
            let preempted = self.preempted.iter().map(|slot| self.sequences.get(*slot));
            let needed = self.sequences.iter().chain(preempted).filter_map(|sequence| {
                let since = (sequence.state == State::Decoding).then_some(sequence.joined);
                sequence.stints.first().map(|stint| stint.step).or(since)
            });
            let next = times.first + times.steps.len() as u64;
            let first = needed.chain(times.needed_by_finished()).min().unwrap_or(next);
            let looked_at = self.sequences.running() as usize + self.preempted.len();
            times.drop_before(first, looked_at);
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
            steps_ahead: 0,
        };
        Core::new(scheduler, Cost { base: 0.01, ..Cost::default() }, 0).unwrap()
    }

    #[test]
    fn steps_that_nobody_needs_are_dropped() {
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
            assert!(core.times.as_ref().unwrap().steps.len() <= 2_000 + 2 + FEWEST);
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
