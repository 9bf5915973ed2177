//! The end of a step. It *settles* when its outcome is certain: sequences join the decoding ones or
//! finish. Then its tokens are *handed out*: at once, or, if steps are decided ahead, after the next
//! step was decided.

use super::front::Place;
use super::plan::Planned;
use super::sequences::{Sequence, State, Stint};
use super::{Core, Event, Step, Token};
use dyno_model::Nanos;

/// A first or a last token to be handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) id: u64,
    /// Whether it is the first.
    first: bool,
    /// Whether it is the last.
    last: bool,
    place: Place,
    /// When the first token was seen, if it is not this one.
    first_seen: Nanos,
}

impl Core {
    /// Ends the planned step and adds what happened to `done`, in the order of admission. Does
    /// nothing if none is planned.
    pub fn commit(&mut self, done: &mut Vec<Event>) {
        match self.scheduler.steps_ahead {
            0 => {
                let Some(mut planned) = self.planned.take() else { return };
                self.settle(&mut planned);
                self.hand_out(&planned, done);
            }
            _ => {
                let Some(settled) = self.settled.take() else { return };
                self.hand_out(&settled, done);
            }
        }
    }

    /// Applies the outcome of a step.
    pub(super) fn settle(&mut self, planned: &mut Planned) {
        let step = planned.step;
        self.forget_finished();
        if step.decodes > 0 {
            planned.tokens = self.decoding.count();
            self.decoding.pass();
            while let Some((round, slot)) = self.next_to_finish()
                && round == self.decoding.round()
            {
                self.decoding.drop_next();
                self.stop(slot);
                self.finish(slot, false);
            }
        }
        for (slot, admission) in planned.completed.drain(..) {
            if self.sequences.is_current(slot, admission) {
                planned.tokens += 1;
                self.join(slot, &step);
            }
        }
    }

    /// Hands out the tokens of a step that has settled.
    fn hand_out(&mut self, settled: &Planned, done: &mut Vec<Event>) {
        let Planned { step, end, tokens, .. } = *settled;
        self.take_in(|at| at < step.end);
        self.seen = self.front.hand_out(end, tokens);
        (self.last, self.clock) = (Some(step), end);
        let spread = self.has_front_work();
        let mut finished = self.finished.iter_mut();
        for outcome in self.outcomes.drain(..) {
            let Outcome { id, first, last, place, first_seen } = outcome;
            let at = match first {
                true => self.seen.first(),
                false => self.seen.further(place).max(first_seen),
            };
            if first {
                done.push(Event::First { id, at });
                if spread && let Some(slot) = self.sequences.find(id) {
                    self.sequences.get_mut(slot).first_seen = at;
                }
            }
            if last {
                done.push(Event::Finished { id, at });
                finished.next().into_iter().for_each(|token| token.at = at);
            }
        }
        self.remember(self.seen, step.decodes > 0);
    }

    /// The next decoding sequence to finish, and the round in which it does.
    pub(super) fn next_to_finish(&mut self) -> Option<(u64, u32)> {
        loop {
            let (round, admission, slot) = self.decoding.next_to_finish()?;
            if self.sequences.is_current(slot, admission) {
                return Some((round, slot));
            }
            self.decoding.drop_next();
        }
    }

    /// The first token after a prefill.
    fn join(&mut self, slot: u32, step: &Step) {
        let round = self.decoding.round();
        let sequence = self.sequences.get(slot);
        let first = sequence.produced == 0;
        if sequence.produced + 1 == sequence.output {
            self.stop(slot);
            let sequence = self.sequences.get_mut(slot);
            sequence.produced += 1;
            if self.times.is_some() {
                sequence.stints.push(Stint { step: step.number, tokens: 1 });
            }
            self.finish(slot, first);
            return;
        }
        if first {
            let Sequence { id, place, .. } = *sequence;
            self.outcomes.push(Outcome { id, first, last: false, place, first_seen: 0 });
        }
        let sequence = self.sequences.get_mut(slot);
        sequence.produced += 1;
        sequence.state = State::Decoding;
        (sequence.joined, sequence.round) = (step.number, round);
        let left = sequence.output - sequence.produced;
        self.decoding.join(sequence.tokens(), left, sequence.admission, slot);
    }

    /// Removes a stopped sequence, which has got its last token.
    fn finish(&mut self, slot: u32, first: bool) {
        let sequence = self.sequences.get_mut(slot);
        let Sequence { id, place, first_seen, output, entered, .. } = *sequence;
        self.outcomes.push(Outcome { id, first, last: true, place, first_seen });
        self.finished.push(Token { id, number: output, last: true, at: 0 });
        self.finished_entries.push((id, entered));
        if let Some(times) = &mut self.times {
            times.keep(id, std::mem::take(&mut sequence.stints), place);
        }
        self.sequences.remove(slot);
    }

    /// Forgets what finished in the step before.
    pub(super) fn forget_finished(&mut self) {
        self.finished.clear();
        self.finished_entries.clear();
        if let Some(times) = &mut self.times {
            times.forget_finished();
        }
    }

    /// Whether a sequence got a token in this step, the last one that has settled.
    pub(super) fn got_token(sequence: &Sequence, step: &Step) -> bool {
        match sequence.state {
            State::Decoding => step.decodes > 0 || sequence.joined == step.number,
            State::Preempted => sequence.owed == Some(step.number),
            _ => false,
        }
    }

    /// Withholds what a request got in a step that is not handed out yet; whether it finished.
    pub(super) fn withhold(&mut self, id: u64) -> bool {
        if self.settled.is_none() {
            return false;
        }
        let finished = self.finished.len();
        self.outcomes.retain(|outcome| outcome.id != id);
        self.finished.retain(|token| token.id != id);
        self.finished_entries.retain(|(other, _)| *other != id);
        if let Some(times) = &mut self.times {
            times.forget(id);
        }
        self.finished.len() < finished
    }
}
