//! How an agent's clock relates to the coordinator's, from calls and their answers.

use dyno_model::Nanos;
use dyno_model::fleet::ClockFit;

/// A call and its answer: two times on the coordinator's clock and, between them, two on the agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamps {
    /// The call was sent; coordinator's clock.
    pub sent: Nanos,
    /// It arrived; agent's clock.
    pub received: Nanos,
    /// The answer was sent; agent's clock.
    pub answered: Nanos,
    /// It arrived; coordinator's clock.
    pub back: Nanos,
}

/// Compares the clock of one agent with the coordinator's.
#[derive(Debug, Clone, Default)]
pub struct ClockSync {
    samples: Vec<Stamps>,
}

impl ClockSync {
    /// Takes a call and its answer into account. Times that contradict each other are left out.
    pub fn add(&mut self, stamps: Stamps) {
        let apart = stamps.back.checked_sub(stamps.sent);
        let there = stamps.answered.checked_sub(stamps.received);
        if apart.zip(there).is_some_and(|(apart, there)| there <= apart) {
            self.samples.push(stamps);
        }
    }

    /// How the clocks relate, as far as is known: by the shortest round trip.
    pub fn fit(&self) -> Option<ClockFit> {
        let best = self.samples.iter().min_by_key(|stamps| round_trip(stamps))?;
        let there = i128::from(best.sent) - i128::from(best.received);
        let back = i128::from(best.back) - i128::from(best.answered);
        let round_trip_ns = round_trip(best);
        Some(ClockFit {
            offset_ns: i64::try_from((there + back) / 2).ok()?,
            bound_ns: round_trip_ns / 2 + 1,
            drift_ppb: 0,
            at: best.received,
            round_trip_ns,
        })
    }
}

fn round_trip(stamps: &Stamps) -> u64 {
    (stamps.back - stamps.sent) - (stamps.answered - stamps.received)
}
