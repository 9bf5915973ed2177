//! Whether B may replace A: is it worse by more than is allowed?

use super::effect::Effect;
use super::power::{Wanted, more_rounds};
use super::verdict::Better;

/// Each end of the interval is wrong with half of this probability: 5 %.
const CHANCE: f64 = 0.1;
/// The probability that as many runs as are asked for do not settle it, in both directions.
const UNSETTLED: f64 = 0.4;

/// What a gate says, and the interval that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gated {
    /// Pass, fail or inconclusive.
    pub gate: Gate,
    /// The ends of the change; each is right with 95 %.
    pub interval: [f64; 2],
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// B is not worse by more than is allowed.
    Pass,
    /// B is worse by more than is allowed.
    Fail,
    /// Inconclusive.
    CannotTell {
        /// About so many more rounds of each side would settle it if the change is as it seems;
        /// absent where they are more than [`MOST_MORE`](super::MOST_MORE).
        more_rounds: Option<u32>,
    },
}

/// Whether B is worse than A by more than the share `most`: 0.05 allows a latency 5 % higher or a
/// throughput 5 % lower, −0.05 asks for one that is 5 % better.
///
/// It passes where the change is surely (95 %) within the bound, and fails where it is surely
/// beyond. So a regression larger than is allowed passes at most once in 20 times, and one that is
/// allowed fails at most once in 20 times, however few the runs.
pub fn gate(effect: &Effect, better: Better, most: f64) -> Gated {
    let [low, high] = effect.log.interval(CHANCE);
    // Signed so that more is worse.
    let (bound, [low, high], value) = match better {
        Better::Lower => (libm::log1p(most), [low, high], effect.log.value),
        Better::Higher => (-libm::log1p(-most.min(1.0)), [-high, -low], -effect.log.value),
    };
    let gate = if high <= bound {
        Gate::Pass
    } else if low > bound {
        Gate::Fail
    } else {
        let wanted = Wanted { distance: (bound - value).abs(), chance: CHANCE, missing: UNSETTLED };
        Gate::CannotTell { more_rounds: more_rounds(effect, wanted) }
    };
    Gated { gate, interval: effect.interval(CHANCE) }
}
