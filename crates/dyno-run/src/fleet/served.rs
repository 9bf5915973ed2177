//! Whether the target still serves, as all agents together see it. One agent that sees nothing but failures
//! is no proof: it may have the wrong key, or no way to the server.

use dyno_model::fleet::{AgentSeen, Beat};
use dyno_model::outcome::Outcome;
use dyno_model::record::RequestRecord;
use dyno_model::{Nanos, SEC};

/// The target is lost after this many failures of all agents without a sign of life to any,
const FAILURES: u64 = 50;
/// if they have gone on for this long: as for a single client.
const UNSERVED: Nanos = 30 * SEC;
/// An agent that opens no connection gives up after 3 s. The target has served others meanwhile if something
/// arrived there in the last of them; before, it may have been on its way.
const SERVED_WITHIN: Nanos = 2 * SEC;

/// Follows the beats of all agents during a level.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// What arrived so far, when that changed last, and the failures until then.
    life: u64,
    at: Option<Nanos>,
    failures: u64,
    /// All failures so far, and when the last of them were seen.
    failed: (u64, Nanos),
    /// Failures since, and for how long.
    pub(super) lost: Option<(u64, Nanos)>,
}

impl Served {
    /// Takes what agents have done so far.
    pub(super) fn beats(&mut self, seen: &[AgentSeen], now: Nanos) {
        let beats = || seen.iter().filter_map(|agent| agent.beat);
        // Tokens of a response that fails show nothing, as for a single client.
        let of_use = |beat: Beat| beat.completed + beat.tokens.saturating_sub(beat.wasted);
        let life: u64 = beats().map(of_use).sum();
        let failures: u64 = beats().map(|beat| beat.failed + beat.shed).sum();
        let began = *self.at.get_or_insert(now);
        if life > self.life {
            (self.life, self.at, self.failures) = (life, Some(now), failures);
            return;
        }
        // Silence is no failure: what was not refused may take its time.
        if failures > self.failed.0 {
            self.failed = (failures, now);
        }
        let count = failures.saturating_sub(self.failures);
        let time = self.failed.1.saturating_sub(began);
        if count >= FAILURES && time >= UNSERVED {
            self.lost.get_or_insert((count, time));
        }
    }
}

/// What the records of a level say of the target.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// When something arrived last.
    last: Option<Nanos>,
    /// The last request that was refused or failed.
    pub(super) failure: Option<Box<RequestRecord>>,
}

impl Signs {
    pub(super) fn note(&mut self, record: &RequestRecord) {
        let arrived = match record.outcome {
            Outcome::Completed => Some(record.end),
            _ => record.last,
        };
        self.last = self.last.max(arrived);
        if record.outcome.class().is_some() {
            self.failure = Some(Box::new(record.clone()));
        }
    }

    /// The target still served others when an agent gave it up.
    pub(super) fn served_at(&self, given_up: Nanos) -> bool {
        self.last.is_some_and(|last| last.saturating_add(SERVED_WITHIN) > given_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::outcome::FailureClass;
    use dyno_model::record::Phase;

    fn seen(agents: &[(u64, u64, u64)]) -> Vec<AgentSeen> {
        let agent = |&(completed, failed, tokens): &(u64, u64, u64)| AgentSeen {
            name: String::new(),
            beat: Some(Beat { completed, failed, tokens, ..Beat::default() }),
            heard: 0,
            done: false,
            lost: None,
        };
        agents.iter().map(agent).collect()
    }

    /// The second in which the target is lost, with these beats.
    fn lost_at(beats: impl Fn(u64) -> Vec<AgentSeen>) -> Option<u64> {
        let mut served = Served::default();
        (0..200).find(|second| {
            served.beats(&beats(*second), second * SEC);
            served.lost.is_some()
        })
    }

    #[test]
    fn one_agent_that_only_fails_does_not_lose_the_target_for_all() {
        assert_eq!(lost_at(|s| seen(&[(0, 10 * s, 0), (s, 0, 0)])), None);
        // Nor where the others are slow, as long as something arrives.
        assert_eq!(lost_at(|s| seen(&[(0, 10 * s, 0), (s / 25, 0, 0)])), None);
        assert_eq!(lost_at(|s| seen(&[(0, 10 * s, 0), (0, 0, s)])), None);
    }

    #[test]
    fn it_is_lost_once_nobody_was_served_for_a_while() {
        assert_eq!(lost_at(|s| seen(&[(0, 10 * s, 0), (0, s, 0)])), Some(30));
        // From the last success of any agent on.
        assert_eq!(lost_at(|s| seen(&[(s.min(2), s, 0), (s.min(7), s, 0)])), Some(37));
        // Few failures are no proof, even of all agents.
        assert_eq!(lost_at(|s| seen(&[(0, s / 5, 0), (0, s / 5, 0)])), Some(125));
        assert_eq!(lost_at(|_| seen(&[(0, 20, 0), (0, 20, 0)])), None);
        assert_eq!(lost_at(|_| Vec::new()), None);
    }

    #[test]
    fn a_server_that_refused_many_at_once_may_take_its_time_for_the_rest() {
        assert_eq!(lost_at(|_| seen(&[(0, 400, 0), (0, 400, 0)])), None);
        let late = |s: u64| if s < 150 { (9, 0, 0) } else { (9, 60, 0) };
        assert_eq!(lost_at(|s| seen(&[late(s)])), Some(150), "until something fails again");
    }

    #[test]
    fn responses_that_break_off_show_no_life() {
        let broken = |second: u64| {
            let mut agents = seen(&[(0, 8 * second, 40 * second + 40)]);
            let beat = agents[0].beat.as_mut().unwrap();
            beat.wasted = 40 * second;
            agents
        };
        assert_eq!(lost_at(broken), Some(30));
    }

    #[test]
    fn the_target_was_there_if_others_were_served_when_one_gave_up() {
        let record = |outcome, end, last| {
            let mut record = RequestRecord::new(0, 0, 0, Phase::Measured, 0);
            (record.outcome, record.end, record.last) = (outcome, end, last);
            record
        };
        let mut signs = Signs::default();
        assert!(!signs.served_at(10 * SEC));
        signs.note(&record(Outcome::Completed, 5 * SEC, Some(5 * SEC)));
        signs.note(&record(Outcome::Failed(FailureClass::Connect), 9 * SEC, None));
        assert!(!signs.served_at(8 * SEC), "it was killed when that had arrived");
        assert!(signs.served_at(6 * SEC));
        // A stream that was cut off had been served.
        signs.note(&record(Outcome::Censored, 10 * SEC, Some(7 * SEC)));
        assert!(signs.served_at(8 * SEC));
        assert_eq!(signs.failure.map(|record| record.end), Some(9 * SEC));
    }
}
