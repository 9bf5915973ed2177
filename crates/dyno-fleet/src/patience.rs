//! How long agents may take, and what they may say: an agent that keeps answering calls but does nothing
//! else, or that says what cannot be, is given up like one that is gone.

use crate::message::{AgentLevelEnd, PrepareLevel};
use dyno_model::fleet::Beat;
use dyno_model::plan::{Load, Plan, Warmup};
use dyno_model::{Message, Nanos, message};
use std::time::Duration;

/// How long agents that answer calls may take for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// To open the data and the tokenizer, or to ask for the next piece of a file.
    pub to_settle: Duration,
    /// To prepare a level.
    pub to_prepare: Duration,
    /// To end a level, beyond the time that the plan gives it.
    pub to_end: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            to_settle: Duration::from_secs(600),
            to_prepare: Duration::from_secs(300),
            to_end: Duration::from_secs(30),
        }
    }
}

/// What the requests of a run may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Requests {
    /// One of them, with its attempts.
    longest: Duration,
    /// There may be conversations: nothing is in flight while their users think.
    may_think: bool,
}

impl Requests {
    pub(crate) fn of(plan: &Plan) -> Self {
        // The last attempt begins within the time that the first one has.
        let attempts = if plan.shed_retries.is_some() { 2 } else { 1 };
        let longest = Duration::from_nanos(plan.timeouts.total_ns.saturating_mul(attempts));
        Self { longest, may_think: plan.data.spec.is_some() }
    }
}

/// When an agent is given up that does not end a level, all counted from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    /// From then on, if it does nothing any more.
    pub(crate) due: Duration,
    /// How long it must have done nothing.
    pub(crate) at_rest: Duration,
    /// Whatever it says that it does.
    pub(crate) most: Duration,
}

impl Limit {
    /// The limit that is exceeded by one that has been at rest for a time, if any.
    pub(crate) fn exceeded(&self, took: Duration, at_rest: Option<Duration>) -> Option<Duration> {
        let rests = at_rest.is_some_and(|time| time >= self.at_rest);
        match took {
            _ if took >= self.most => Some(self.most),
            _ if took >= self.due && rests => Some(self.due),
            _ => None,
        }
    }
}

impl Patience {
    /// When a level is over by its plan; absent where requests bound it. A request may take longer than
    /// that: one that was sent last when a number of requests or a trace ended the level is waited for, and
    /// the measured time of a closed loop begins with a response that ends after a timed warm-up.
    pub(crate) fn of_level(&self, prepare: &PrepareLevel, requests: Requests) -> Option<Limit> {
        let plan = &prepare.plan;
        let warmup = match plan.warmup {
            None => 0,
            Some(Warmup::Duration(time)) => time,
            Some(Warmup::Requests(_)) => return None,
        };
        let lasts = plan.duration_ns.or_else(|| plan.load.ramp().map(|ramp| ramp.over_ns))?;
        let time = lasts.checked_add(warmup)?.checked_add(plan.drain_ns)?;
        let due = Duration::from_nanos(time).checked_add(self.to_end)?;
        let closed = matches!(plan.load, Load::Concurrency { .. });
        let at_rest = match closed && warmup > 0 && requests.may_think {
            true => requests.longest.max(self.to_end),
            false => self.to_end,
        };
        Some(Limit { due, at_rest, most: due.checked_add(requests.longest)? })
    }

    /// How long a level may last once agents were told to stop: those that had begun may drain, unless
    /// they are to give up what is in flight.
    pub(crate) fn of_stop(&self, drain: Option<Nanos>) -> Duration {
        self.to_end.saturating_add(Duration::from_nanos(drain.unwrap_or(0)))
    }
}

/// What an agent that answers calls did not do in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Late {
    Settling,
    Preparing,
    Ending,
    Stopping,
}

impl Late {
    /// Why it is given up.
    pub(crate) fn why(self, time: &str) -> Message {
        match self {
            Self::Settling => message!(
                "it answers calls, but did not get ready within {time}",
                "它有应答，但未在 {time} 内就绪"
            ),
            Self::Preparing => message!(
                "it answers calls, but was not ready for the level within {time}",
                "它有应答，但未在 {time} 内准备好该档位"
            ),
            Self::Ending => message!(
                "it answers calls, but did not end the level within {time}",
                "它有应答，但未在 {time} 内结束该档位"
            ),
            Self::Stopping => message!(
                "it answers calls, but did not stop within {time}",
                "它有应答，但未在 {time} 内停止"
            ),
        }
    }
}

/// More than anything that is counted or measured; sums of what many agents say cannot overflow below it.
const MOST: u64 = 1 << 50;

/// Whether an agent does something: requests are in flight, or its numbers change.
pub(crate) fn is_at_work(beat: &Beat, before: Option<&Beat>) -> bool {
    let counts = |beat: &Beat| {
        let Beat { sent, completed, failed, shed, in_flight, tokens, .. } = *beat;
        [sent, completed, failed, shed, in_flight, tokens]
    };
    beat.in_flight > 0 || before.is_none_or(|before| counts(before) != counts(beat))
}

/// Whether these numbers can be true.
pub(crate) fn can_be(beat: &Beat) -> bool {
    let Beat { sent, completed, failed, shed, in_flight, tokens, wasted, .. } = *beat;
    let Beat { lag_ns, ttft_ns, latency_ns, .. } = *beat;
    let times = [lag_ns, ttft_ns.unwrap_or(0), latency_ns.unwrap_or(0)];
    let counts = [sent, completed, failed, shed, in_flight, tokens, wasted];
    counts.iter().chain(&times).all(|number| *number <= MOST)
}

/// Whether what an agent says of a level can be true.
pub(crate) fn can_have_done(done: &AgentLevelEnd) -> bool {
    let counts = [done.start_error_ns.unsigned_abs(), done.taken, done.failed, done.bytes];
    counts.iter().all(|number| *number <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::frame::Ending;
    use dyno_model::plan::LevelPlan;

    #[test]
    fn numbers_that_cannot_be() {
        assert!(can_be(&Beat { sent: 1 << 40, ..Beat::default() }));
        assert!(!can_be(&Beat { tokens: u64::MAX, ..Beat::default() }));
        assert!(!can_be(&Beat { ttft_ns: Some(u64::MAX), ..Beat::default() }));
        let done = AgentLevelEnd {
            level: 0,
            ending: Ending::Requests,
            start_error_ns: -5,
            taken: 7,
            failed: 0,
            lost_target: None,
            trouble: None,
            told: serde_json::Value::Null,
            bytes: 1 << 40,
        };
        assert!(can_have_done(&done));
        assert!(!can_have_done(&AgentLevelEnd { start_error_ns: i64::MIN, ..done.clone() }));
        assert!(!can_have_done(&AgentLevelEnd { bytes: u64::MAX, ..done }));
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_level_is_over_by_its_plan() {
        let patience = Patience { to_end: seconds(2), ..Patience::default() };
        let requests = Requests { longest: seconds(100), may_think: true };
        let mut plan = LevelPlan::closed_loop(1, 5);
        plan.drain_ns = 3_000_000_000;
        let of = |plan: &LevelPlan| {
            let plan = plan.clone();
            patience.of_level(&PrepareLevel { level: 0, plan, taken: 0, failures: None }, requests)
        };
        assert_eq!(of(&plan), None, "requests bound it");
        plan.duration_ns = Some(4_000_000_000);
        let limit = Limit { due: seconds(9), at_rest: seconds(2), most: seconds(109) };
        assert_eq!(of(&plan), Some(limit));
        plan.warmup = Some(Warmup::Duration(1_000_000_000));
        let thinking = Limit { due: seconds(10), at_rest: seconds(100), most: seconds(110) };
        assert_eq!(of(&plan), Some(thinking), "users may think when the warm-up ends");
        plan.warmup = Some(Warmup::Requests(3));
        assert_eq!(of(&plan), None);
        let over_ns = 7_000_000_000;
        let arrival = dyno_model::plan::Arrival::Poisson;
        let load = Load::Ramp { from: 1.0, to: 2.0, over_ns, steps: None, arrival };
        let ramp = LevelPlan { drain_ns: 3_000_000_000, ..LevelPlan::new(load) };
        assert_eq!(of(&ramp).map(|limit| limit.due), Some(seconds(12)));
        assert_eq!(patience.of_stop(None), seconds(2));
        assert_eq!(patience.of_stop(Some(plan.drain_ns)), seconds(5));
    }

    #[test]
    fn one_at_work_is_given_more_time_than_one_at_rest() {
        let limit = Limit { due: seconds(10), at_rest: seconds(2), most: seconds(60) };
        assert_eq!(limit.exceeded(seconds(9), Some(seconds(9))), None);
        assert_eq!(limit.exceeded(seconds(11), Some(seconds(2))), Some(seconds(10)));
        assert_eq!(
            limit.exceeded(seconds(11), Some(seconds(1))),
            None,
            "it has just begun to rest"
        );
        assert_eq!(limit.exceeded(seconds(59), None), None);
        assert_eq!(limit.exceeded(seconds(60), None), Some(seconds(60)), "at some time it is over");
    }

    #[test]
    fn work_is_seen_in_beats() {
        let before = Beat { sent: 3, completed: 3, tokens: 40, ..Beat::default() };
        assert!(!is_at_work(&Beat { lag_ns: 7, ttft_ns: Some(1), ..before }, Some(&before)));
        assert!(is_at_work(&Beat { tokens: 41, ..before }, Some(&before)));
        assert!(is_at_work(&before, None), "the first of a level");
        let waiting = Beat { sent: 4, in_flight: 1, ..before };
        assert!(is_at_work(&waiting, Some(&waiting)), "a response that is not streamed");
    }

    #[test]
    fn a_request_takes_as_long_as_its_attempts() {
        let mut plan = Plan::new(dyno_model::plan::Target::at("http://127.0.0.1:9"));
        plan.timeouts.total_ns = 5_000_000_000;
        assert_eq!(Requests::of(&plan), Requests { longest: seconds(5), may_think: false });
        (plan.shed_retries, plan.data.spec) = (Some(8), Some("sessions".to_owned()));
        assert_eq!(Requests::of(&plan), Requests { longest: seconds(10), may_think: true });
    }
}
