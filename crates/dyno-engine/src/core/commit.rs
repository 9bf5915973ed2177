//! The end of a step: tokens, and sequences that join the decoding ones or finish.

use super::sequences::{State, Stint};
use super::{Core, Event, Step, Token};
use dyno_model::Nanos;

impl Core {
    /// Ends the planned step and adds what happened to `done`, in the order of admission. Does
    /// nothing if none is planned.
    pub fn commit(&mut self, done: &mut Vec<Event>) {
        let Some(planned) = self.planned.take() else { return };
        let step = planned.step;
        (self.last, self.clock) = (Some(step), planned.end);
        self.forget_finished();
        if step.decodes > 0 {
            self.decoding.pass();
            self.remember_round(step.end);
            while let Some((round, slot)) = self.next_to_finish()
                && round == self.decoding.round()
            {
                self.decoding.drop_next();
                self.stop(slot);
                self.finish(slot, step.end, done);
            }
        }
        for (slot, admission) in planned.completed {
            if self.sequences.is_current(slot, admission) {
                self.join(slot, &step, done);
            }
        }
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
    fn join(&mut self, slot: u32, step: &Step, done: &mut Vec<Event>) {
        let round = self.decoding.round();
        let sequence = self.sequences.get(slot);
        if sequence.produced == 0 {
            done.push(Event::First { id: sequence.id, at: step.end });
        }
        if sequence.produced + 1 == sequence.output {
            self.stop(slot);
            let sequence = self.sequences.get_mut(slot);
            sequence.produced += 1;
            if self.rounds.is_some() {
                sequence.stints.push(Stint { first: step.end, round, tokens: 1 });
            }
            self.finish(slot, step.end, done);
            return;
        }
        let sequence = self.sequences.get_mut(slot);
        sequence.produced += 1;
        sequence.state = State::Decoding;
        (sequence.joined, sequence.round, sequence.first) = (step.number, round, step.end);
        let left = sequence.output - sequence.produced;
        self.decoding.join(sequence.tokens(), left, sequence.admission, slot);
    }

    /// Removes a stopped sequence, which has got its last token.
    fn finish(&mut self, slot: u32, at: Nanos, done: &mut Vec<Event>) {
        let sequence = self.sequences.get_mut(slot);
        let id = sequence.id;
        done.push(Event::Finished { id, at });
        self.finished.push(Token { id, number: sequence.output, last: true });
        self.finished_entries.push((id, sequence.entered));
        if let Some(rounds) = &mut self.rounds {
            rounds.keep(id, std::mem::take(&mut sequence.stints));
        }
        self.sequences.remove(slot);
    }

    /// Forgets what finished in the step before.
    pub(super) fn forget_finished(&mut self) {
        self.finished.clear();
        self.finished_entries.clear();
        if let Some(rounds) = &mut self.rounds {
            rounds.forget_finished();
        }
    }
}
