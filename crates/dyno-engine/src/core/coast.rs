//! Many decode steps at once: while no sequence joins, leaves or finishes, a step differs from the
//! previous one only by its tokens.

use super::clock::Fine;
use super::{Core, Policy, Step};
use dyno_model::Nanos;

/// How far steps can be taken at once.
struct Reach {
    /// Rounds until just before a sequence finishes.
    rounds: u64,
    /// A step must start before this time, or a request may be admitted.
    quiet: Nanos,
    /// A step must have ended by this time.
    until: Nanos,
}

/// How long rounds take while no sequence joins or leaves, without noise.
struct Pace {
    /// Each round.
    flat: Fine,
    /// Each token of KV cache that is read.
    each: Fine,
    /// Sequences that decode; each round reads as many more tokens.
    count: u128,
    /// Tokens that the first round reads.
    tokens: u128,
}

impl Pace {
    /// The time of `rounds` rounds.
    fn time(&self, rounds: u64) -> Fine {
        let rounds = u128::from(rounds);
        let growth = self.count * (rounds * rounds.saturating_sub(1) / 2);
        let looked_back = rounds * self.tokens + growth;
        self.flat.times(rounds).plus(self.each.times(looked_back))
    }
}

impl Core {
    /// Takes the next steps as long as they only decode, cause no event and end by `until`, and adds
    /// them to `log`. Equivalent to `plan` and `commit` for each of them.
    pub(crate) fn coast(&mut self, until: Nanos, log: Option<&mut Vec<Step>>) {
        let Some(last) = self.last.filter(|_| self.planned.is_none() && self.partial.is_none())
        else {
            return;
        };
        let Some((finish, _)) = self.next_to_finish() else { return };
        let rounds = finish - self.decoding.round() - 1;
        let reach = Reach { rounds, quiet: self.quiet_until(last.end), until };
        let pace = self.pace();
        let steady = self.noise.is_none() && self.cost.slow_down.is_none();
        let unseen = log.is_none() && self.rounds.is_none() && steady;
        if unseen && pace.time(1) >= Fine::NANO {
            self.leap(last, &reach, &pace);
        } else {
            self.walk(last, &reach, &pace, log);
        }
    }

    /// Steps that start before this time admit no request, as long as none finishes.
    fn quiet_until(&self, now: Nanos) -> Nanos {
        let full = self.sequences.running() >= self.scheduler.max_seqs
            || self.scheduler.policy == Policy::Chunked
                && self.decoding.count() >= self.scheduler.token_budget;
        if full || self.blocked {
            return Nanos::MAX;
        }
        match self.queue.first() {
            _ if !self.preempted.is_empty() => now,
            Some((at, _)) => at,
            None => Nanos::MAX,
        }
    }

    /// One step after another.
    fn walk(
        &mut self,
        mut last: Step,
        reach: &Reach,
        pace: &Pace,
        mut log: Option<&mut Vec<Step>>,
    ) {
        for _ in 0..reach.rounds {
            let needed = self.decoding.blocks_needed();
            if last.end >= reach.quiet || needed > self.pool.available() {
                break;
            }
            let number = last.number + 1;
            let looked_back = u128::from(self.decoding.tokens());
            let duration = pace.flat.plus(pace.each.times(looked_back));
            let end = self.end(number, last.end, duration.max(Fine::NANO));
            if end.nanos() > reach.until {
                break;
            }
            self.pool.take(needed);
            last = self.decode_step(number, last.end, end);
            self.decoding.pass();
            self.remember_round(last.end);
            self.arrive(last, end);
            if let Some(log) = &mut log {
                log.push(last);
            }
        }
    }

    /// All steps at once.
    fn leap(&mut self, last: Step, reach: &Reach, pace: &Pace) {
        let (mut can, mut cannot) = (0, reach.rounds + 1);
        // No round is shorter than the first, so that no more of them fit.
        let time = reach.until.min(reach.quiet).saturating_sub(self.clock.nanos());
        let mut rounds = reach.rounds.min(time / pace.time(1).nanos().max(1) + 2);
        while can + 1 < cannot {
            match self.within(rounds, reach, pace) {
                true => can = rounds,
                false => cannot = rounds,
            }
            rounds = can + (cannot - can) / 2;
        }
        if can == 0 {
            return;
        }
        let after = |rounds| self.clock.plus(pace.time(rounds));
        let (start, end) = (after(can - 1), after(can));
        self.pool.take(self.decoding.blocks_of_many(can));
        self.decoding.pass_many(can - 1);
        let step = self.decode_step(last.number + can, start.nanos(), end);
        self.decoding.pass();
        self.arrive(step, end);
    }

    /// Whether so many rounds find blocks, admit no request and end in time.
    fn within(&self, rounds: u64, reach: &Reach, pace: &Pace) -> bool {
        self.clock.plus(pace.time(rounds)).nanos() <= reach.until
            && self.clock.plus(pace.time(rounds - 1)).nanos() < reach.quiet
            && self.decoding.blocks_of_many(rounds) <= self.pool.available()
    }

    /// How long the rounds to come take.
    fn pace(&mut self) -> Pace {
        let (count, tokens) = (self.decoding.count(), self.decoding.tokens());
        Pace {
            flat: self.decoding_time(count),
            each: self.cost.looking_back(),
            count: u128::from(count),
            tokens: u128::from(tokens),
        }
    }

    /// The part of a step's time that depends on the number of decoding sequences alone.
    pub(super) fn decoding_time(&mut self, count: u32) -> Fine {
        let at = count as usize;
        if self.decoding_times.len() <= at {
            self.decoding_times.resize(at + 1, None);
        }
        *self.decoding_times[at].get_or_insert_with(|| self.cost.decoding(count))
    }

    /// The next step, if it only decodes.
    fn decode_step(&self, number: u64, start: Nanos, end: Fine) -> Step {
        Step {
            number,
            start,
            end: end.nanos(),
            prefill_tokens: 0,
            prefills: 0,
            decodes: self.decoding.count(),
            kv_tokens: self.decoding.tokens(),
            preempted: 0,
        }
    }

    /// Ends a step in which no sequence finished.
    fn arrive(&mut self, step: Step, end: Fine) {
        (self.last, self.clock) = (Some(step), end);
        self.forget_finished();
    }
}
