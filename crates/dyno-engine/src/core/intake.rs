//! Requests on their way through the front end to the queue.

use super::Core;
use super::request::{RefusedRequest, Request};
use super::sequences::{Sequence, State, longest};
use dyno_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

impl Core {
    /// Accepts a request that arrives at `at`. It is queued when the front end is done with it and
    /// joins no step that starts before that.
    ///
    /// Times need not be in order: the queue is by time, whatever the order of submission.
    pub fn submit(&mut self, request: Request<'_>, at: Nanos) -> Result<(), RefusedRequest> {
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
    pub(super) fn take_in(&mut self, arrived: impl Fn(Nanos) -> bool) {
        while let Some((at, slot)) = self.intake.first().filter(|(at, _)| arrived(*at)) {
            self.take_turn(at, slot);
        }
    }

    /// The first request that is arriving takes its turn in the front end.
    pub(super) fn take_turn(&mut self, at: Nanos, slot: u32) {
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
    pub(super) fn first_to_be_queued(&self, until: Nanos) -> Option<Nanos> {
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
    pub(super) fn enqueue(&mut self, slot: u32, over: Nanos, order: u64) {
        let at = self.front.queues(over);
        self.sequences.get_mut(slot).state = State::Queued { at, order };
        self.queue.insert((at, order), slot);
        self.blocked = false;
    }

    /// Whether a request would be refused, and why.
    pub fn check(&self, request: &Request<'_>) -> Result<(), RefusedRequest> {
        let Request { id, input, output, .. } = *request;
        if input == 0 {
            return Err(RefusedRequest::NoInput);
        }
        if output == 0 {
            return Err(RefusedRequest::NoOutput);
        }
        match self.scheduler.context {
            Some(context) if u64::from(input) + u64::from(output) > u64::from(context) => {
                return Err(RefusedRequest::TooLong { context, input, output });
            }
            _ => {}
        }
        if self.scheduler.blocks(longest(input, output)) > self.scheduler.kv_blocks {
            let pool = self.scheduler.kv_tokens();
            return Err(RefusedRequest::NeverFits { pool, input, output });
        }
        match self.sequences.find(id).is_some() || self.is_owed_its_end(id) {
            true => Err(RefusedRequest::Duplicate(id)),
            false => Ok(()),
        }
    }

    /// Whether a request has finished in a step that is not handed out yet.
    pub(super) fn is_owed_its_end(&self, id: u64) -> bool {
        self.settled.is_some() && self.finished.iter().any(|token| token.id == id)
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
}
