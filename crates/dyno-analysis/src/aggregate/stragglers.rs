//! Stragglers: single requests that kept a level running, so that they do not halve throughput
//! unnoticed.

use dyno_model::summary::{Straggler, round6};
use dyno_model::units::{to_ms, to_s};

/// How many of the last requests to end are considered.
const LOOKED_AT: usize = 8;
/// A straggler takes longer than so many median latencies…
const SLOW: f64 = 3.0;
/// …and stretches the level by more than this share of it.
const STRETCH: f64 = 0.1;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Ending {
    end: u64,
    index: u64,
    sent: u64,
    outcome: String,
}

/// The requests that ended last.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastToEnd {
    latest: Vec<Ending>,
}

impl LastToEnd {
    pub(crate) fn add(
        &mut self,
        index: u64,
        sent: u64,
        end: u64,
        outcome: impl FnOnce() -> String,
    ) {
        let full = self.latest.len() == LOOKED_AT;
        if full && self.latest.last().is_some_and(|l| (l.end, l.index) > (end, index)) {
            return;
        }
        let new = Ending { end, index, sent, outcome: outcome() };
        let at = self.latest.partition_point(|other| *other > new);
        self.latest.insert(at, new);
        self.latest.truncate(LOOKED_AT);
    }

    /// Those that stretched a level of `duration` with such a median latency, the last first.
    pub(crate) fn stragglers(&self, median_ns: f64, duration: u64) -> Vec<Straggler> {
        let slow = |e: &&Ending| e.end.saturating_sub(e.sent) as f64 > SLOW * median_ns;
        let found: Vec<&Ending> = self.latest.iter().take_while(slow).collect();
        let Some(normal) = self.latest.get(found.len()) else {
            return Vec::new();
        };
        let stretch = |e: &Ending| e.end.saturating_sub(normal.end);
        if found.first().is_none_or(|e| stretch(e) as f64 <= STRETCH * duration as f64) {
            return Vec::new();
        }
        let straggler = |e: &&Ending| Straggler {
            index: e.index,
            outcome: e.outcome.clone(),
            took_ms: round6(to_ms(e.end.saturating_sub(e.sent))),
            stretched_s: round6(to_s(stretch(e))),
        };
        found.iter().map(straggler).collect()
    }
}
