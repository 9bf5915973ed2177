//! Many decode steps at once: while no sequence joins, leaves or finishes, a step differs from the
//! previous one only by its tokens.

use super::clock::Fine;
use super::{Core, Policy, Step};
use dyno_model::Nanos;

/// How far steps can be taken at once.
pub(super) struct Reach {
    /// Rounds until just before a sequence finishes.
    pub(super) rounds: u64,
    /// A step must start before this time, or a request may be admitted.
    pub(super) quiet: Nanos,
    /// A step must have ended by this time.
    pub(super) until: Nanos,
}

/// How long rounds take while no sequence joins or leaves, without noise.
pub(super) struct CoastPace {
    /// The launch of each.
    pub(super) launch: Fine,
    /// Each round.
    flat: Fine,
    /// Each token of KV cache that is read.
    each: Fine,
    /// Sequences that decode; each round reads as many more tokens.
    count: u128,
    /// Tokens that the first round reads.
    tokens: u128,
}

impl CoastPace {
    /// Whether the device always takes longer than the launch: no round is shorter than the first.
    pub(super) fn hides_launch(&self) -> bool {
        let first = self.time(1);
        first >= Fine::NANO && first >= self.launch
    }

    /// The time of one round in which so many tokens are read.
    pub(super) fn round(&self, tokens: u64) -> Fine {
        self.flat.plus(self.each.times(u128::from(tokens))).max(Fine::NANO)
    }

    /// The time of `rounds` rounds.
    pub(super) fn time(&self, rounds: u64) -> Fine {
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
        if self.partial.is_some() || self.settled.is_some() {
            return;
        }
        let Some((finish, _)) = self.next_to_finish() else { return };
        // What the front end takes in delays what it hands out after that.
        let until = self.intake.first().map_or(until, |(at, _)| until.min(at));
        let rounds = finish - self.decoding.round() - 1;
        let quiet = self.quiet_until(self.clock.nanos());
        let reach = Reach { rounds, quiet, until };
        let steady = self.noise.is_none() && self.cost.slow_down.is_none();
        let unseen = log.is_none() && self.times.is_none() && self.front.is_idle() && steady;
        match (self.scheduler.steps_ahead, self.planned.take()) {
            (0, None) => self.coast_one_by_one(&reach, unseen, log),
            (0, planned) => self.planned = planned,
            (_, Some(flying)) if flying.step.prefills == 0 => {
                self.planned = Some(self.coast_ahead(flying, &reach, unseen, log));
            }
            (_, planned) => self.planned = planned,
        }
    }

    /// The same, if a step is decided at the end of the one before.
    fn coast_one_by_one(&mut self, reach: &Reach, unseen: bool, log: Option<&mut Vec<Step>>) {
        let Some(last) = self.last else { return };
        let pace = self.pace(self.decoding.tokens());
        match unseen && pace.hides_launch() {
            true => self.leap(last, reach, &pace),
            false => self.walk(last, reach, &pace, log),
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
        pace: &CoastPace,
        mut log: Option<&mut Vec<Step>>,
    ) {
        for _ in 0..reach.rounds {
            let needed = self.decoding.blocks_needed();
            if last.end >= reach.quiet || needed > self.pool.available() {
                break;
            }
            let number = last.number + 1;
            let lasts = self.lasts(number, last.end, pace.round(self.decoding.tokens()));
            let (_, end) = self.run(last.end, Fine::default(), lasts, pace.launch);
            if end.nanos() > reach.until {
                break;
            }
            self.pool.take(needed);
            last = self.decode_step(number, last.end, end);
            self.decoding.pass();
            self.arrive(last, end);
            if let Some(log) = &mut log {
                log.push(last);
            }
        }
    }

    /// All steps at once.
    fn leap(&mut self, last: Step, reach: &Reach, pace: &CoastPace) {
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
    fn within(&self, rounds: u64, reach: &Reach, pace: &CoastPace) -> bool {
        self.clock.plus(pace.time(rounds)).nanos() <= reach.until
            && self.clock.plus(pace.time(rounds - 1)).nanos() < reach.quiet
            && self.decoding.blocks_of_many(rounds) <= self.pool.available()
    }

    /// How long the rounds to come take, the first of which reads so many tokens.
    pub(super) fn pace(&mut self, tokens: u64) -> CoastPace {
        let count = self.decoding.count();
        CoastPace {
            launch: self.cost.launch.time(0, 0, count),
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
        self.decoding_of(number, start, end, self.decoding.tokens())
    }

    /// A step that only decodes and reads so many tokens.
    pub(super) fn decoding_of(&self, number: u64, start: Nanos, end: Fine, tokens: u64) -> Step {
        Step {
            number,
            start,
            end: end.nanos(),
            prefill_tokens: 0,
            prefills: 0,
            decodes: self.decoding.count(),
            kv_tokens: tokens,
            preempted: 0,
        }
    }

    /// Hands out a step in which no sequence finished.
    pub(super) fn arrive(&mut self, step: Step, end: Fine) {
        (self.last, self.clock) = (Some(step), end);
        self.seen = self.front.hand_out(end, self.decoding.count());
        self.remember(self.seen, true);
        self.forget_finished();
    }
}
