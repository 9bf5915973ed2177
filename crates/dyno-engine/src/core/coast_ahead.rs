//! Many decode steps at once where each is decided while the one before is on its way: the engine
//! decides the next, waits for the device, and hands out the one before.

use super::clock::Fine;
use super::coast::{CoastPace, Reach};
use super::plan::Planned;
use super::{Core, Step};

impl Core {
    /// Decides further steps behind one that is on its way, and hands out those before; returns the
    /// one that is then on its way.
    pub(super) fn coast_ahead(
        &mut self,
        flying: Planned,
        reach: &Reach,
        unseen: bool,
        log: Option<&mut Vec<Step>>,
    ) -> Planned {
        // The first step to be decided reads what the one on its way adds.
        let tokens = self.decoding.tokens() + u64::from(self.decoding.count());
        let pace = self.pace(tokens);
        if !(unseen && pace.hides_launch()) {
            return self.walk_ahead(flying, reach, &pace, log);
        }
        // Once the launch is hidden, each step ends when the device is done with it.
        let hidden = self.clock.plus(pace.launch) <= flying.end;
        if hidden { self.leap_ahead(flying, reach, &pace) } else { flying }
    }

    /// One step after another.
    fn walk_ahead(
        &mut self,
        mut flying: Planned,
        reach: &Reach,
        pace: &CoastPace,
        mut log: Option<&mut Vec<Step>>,
    ) -> Planned {
        for _ in 0..reach.rounds {
            let (start, count) = (self.clock.nanos(), self.decoding.count());
            let needed = self.blocks_behind(1);
            if start >= reach.quiet.min(reach.until) || needed > self.pool.available() {
                break;
            }
            let number = flying.step.number + 1;
            let tokens = self.decoding.tokens() + u64::from(count);
            let lasts = self.lasts(number, start, pace.round(tokens));
            let (launched, done) = self.run(start, flying.end, lasts, pace.launch);
            let end = flying.end.max(launched);
            if end.nanos() > reach.until {
                break;
            }
            self.pool.take(needed);
            self.decoding.pass();
            let next = self.decoding_of(number, start, done, tokens);
            let ended = Step { end: end.nanos(), ..flying.step };
            self.arrive(ended, end);
            flying = on_its_way(next, launched, done);
            if let Some(log) = &mut log {
                log.push(ended);
            }
        }
        flying
    }

    /// All steps at once.
    fn leap_ahead(&mut self, flying: Planned, reach: &Reach, pace: &CoastPace) -> Planned {
        let (mut can, mut cannot) = (0, reach.rounds + 1);
        // No round is shorter than the first, so that no more of them fit.
        let time = reach.until.min(reach.quiet).saturating_sub(self.clock.nanos());
        let mut rounds = reach.rounds.min(time / pace.time(1).nanos().max(1) + 3);
        while can + 1 < cannot {
            match self.within_ahead(rounds, &flying, reach, pace) {
                true => can = rounds,
                false => cannot = rounds,
            }
            rounds = can + (cannot - can) / 2;
        }
        if can == 0 {
            return flying;
        }
        let (start, end) = (self.decided_at(can, &flying, pace), ended_at(can, &flying, pace));
        let done = ended_at(can + 1, &flying, pace);
        let number = flying.step.number + can;
        let ended = match can {
            1 => Step { end: end.nanos(), ..flying.step },
            _ => {
                let start = self.decided_at(can - 1, &flying, pace);
                let tokens = self.decoding.tokens() + u64::from(self.decoding.count()) * (can - 1);
                self.decoding_of(number - 1, start.nanos(), end, tokens)
            }
        };
        self.pool.take(self.blocks_behind(can));
        self.decoding.pass_many(can);
        let step = self.decoding_of(number, start.nanos(), done, self.decoding.tokens());
        self.arrive(ended, end);
        on_its_way(step, start.plus(pace.launch), done)
    }

    /// Whether so many further steps find blocks, admit no request and let as many end in time.
    fn within_ahead(&self, rounds: u64, flying: &Planned, reach: &Reach, pace: &CoastPace) -> bool {
        ended_at(rounds, flying, pace).nanos() <= reach.until
            && self.decided_at(rounds, flying, pace).nanos() < reach.quiet.min(reach.until)
            && self.blocks_behind(rounds) <= self.pool.available()
    }

    /// When the last of so many further steps is decided: when the one two before it has ended.
    fn decided_at(&self, rounds: u64, flying: &Planned, pace: &CoastPace) -> Fine {
        match rounds {
            1 => self.clock,
            _ => ended_at(rounds - 1, flying, pace),
        }
    }

    /// Blocks that so many steps take behind the one on its way, which has its own.
    fn blocks_behind(&self, rounds: u64) -> u64 {
        self.decoding.blocks_of_many(rounds + 1) - self.decoding.blocks_needed()
    }
}

/// A step that only decodes and is on its way.
fn on_its_way(step: Step, launched: Fine, end: Fine) -> Planned {
    Planned { step, launched, end, completed: Vec::new(), tokens: 0 }
}

/// When the last of so many steps has ended, of which the first is on its way.
fn ended_at(rounds: u64, flying: &Planned, pace: &CoastPace) -> Fine {
    flying.end.plus(pace.time(rounds - 1))
}
