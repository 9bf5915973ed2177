//! How long agents may take, and what they may say: an agent that keeps answering calls but does nothing
//! else, or that says what cannot be, is given up like one that is gone.

use crate::message::{Done, Prepare};
use dyno_model::Nanos;
use dyno_model::fleet::Beat;
use dyno_model::plan::Warmup;
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

impl Patience {
    /// How long after the start a level is over by its plan; absent where requests bound it.
    pub(crate) fn of_level(&self, prepare: &Prepare) -> Option<Duration> {
        let plan = &prepare.plan;
        let warmup = match plan.warmup {
            None => 0,
            Some(Warmup::Duration(time)) => time,
            Some(Warmup::Requests(_)) => return None,
        };
        let time = plan.duration_ns?.checked_add(warmup)?.checked_add(plan.drain_ns)?;
        Duration::from_nanos(time).checked_add(self.to_end)
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
    pub(crate) fn why(self, time: &str) -> String {
        match self {
            Self::Settling => format!("it answers calls, but did not get ready within {time}"),
            Self::Preparing => {
                format!("it answers calls, but was not ready for the level within {time}")
            }
            Self::Ending => format!("it answers calls, but did not end the level within {time}"),
            Self::Stopping => format!("it answers calls, but did not stop within {time}"),
        }
    }
}

/// More than anything that is counted or measured; sums of what many agents say cannot overflow below it.
const MOST: u64 = 1 << 50;

/// Whether these numbers can be true.
pub(crate) fn can_be(beat: &Beat) -> bool {
    let Beat { sent, completed, failed, shed, in_flight, tokens, lag_ns, ttft_ns, latency_ns } =
        *beat;
    let times = [lag_ns, ttft_ns.unwrap_or(0), latency_ns.unwrap_or(0)];
    let counts = [sent, completed, failed, shed, in_flight, tokens];
    counts.iter().chain(&times).all(|number| *number <= MOST)
}

/// Whether what an agent says of a level can be true.
pub(crate) fn can_have_done(done: &Done) -> bool {
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
        let done = Done {
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
        assert!(!can_have_done(&Done { start_error_ns: i64::MIN, ..done.clone() }));
        assert!(!can_have_done(&Done { bytes: u64::MAX, ..done }));
    }

    #[test]
    fn a_level_is_over_by_its_plan() {
        let patience = Patience { to_end: Duration::from_secs(2), ..Patience::default() };
        let mut plan = LevelPlan::closed_loop(1, 5);
        plan.drain_ns = 3_000_000_000;
        let of = |plan: &LevelPlan| {
            let plan = plan.clone();
            patience.of_level(&Prepare { level: 0, plan, taken: 0, failures: None })
        };
        assert_eq!(of(&plan), None, "requests bound it");
        plan.duration_ns = Some(4_000_000_000);
        assert_eq!(of(&plan), Some(Duration::from_secs(9)));
        plan.warmup = Some(Warmup::Requests(3));
        assert_eq!(of(&plan), None);
        assert_eq!(patience.of_stop(None), Duration::from_secs(2));
        assert_eq!(patience.of_stop(Some(plan.drain_ns)), Duration::from_secs(5));
    }
}
