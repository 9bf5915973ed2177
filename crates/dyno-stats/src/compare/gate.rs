//! Whether B may replace A: is it worse by more than is allowed?
//!
//! It fails by the same test and the same correction as differences are called, with the limit in
//! the place of no change. So for a limit of 0 or more, what fails is also called worse.

use super::effect::Effect;
use super::holm::{Tested, holm};
use super::power::{Wanted, more_rounds};
use super::verdict::{Better, CHANCE};

/// Each end of a metric's own interval is wrong with half of this probability: 5 %.
const OWN: f64 = 0.1;
/// The probability that as many runs as are asked for do not settle it, in both directions.
const UNSETTLED: f64 = 0.4;

/// What a gate says, and the interval that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gated {
    /// Pass, fail or inconclusive.
    pub gate: GateTest,
    /// The ends of the change, each right with 95 %. The worse one has to be within the limit to pass,
    /// the better one beyond it to fail: where it seems so, it is that corrected for the number of
    /// tests.
    pub interval: [f64; 2],
}

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GateTest {
    /// B is not worse by more than is allowed.
    Pass,
    /// B is worse by more than is allowed.
    Fail,
    /// Inconclusive.
    Inconclusive {
        /// About so many more rounds of each side would settle it if the change is as it seems;
        /// absent where they are more than [`MOST_MORE`](super::MOST_MORE).
        more_rounds: Option<u32>,
    },
}

/// Whether B is worse than A by more than the share `most`, in each of several metrics: 0.05 allows
/// a latency 5 % higher or a throughput 5 % lower, −0.05 asks for one that is 5 % better.
///
/// One that fails is enough for B to fail. So those are corrected for all of them (Holm): if nothing
/// is worse than allowed, anything fails at most once in 40 times. All have to pass, so each needs
/// no correction: where anything is worse than allowed, all pass at most once in 20 times.
pub fn gate(effects: &[(Effect, Better)], most: f64) -> Vec<Gated> {
    let limit = |better: Better| match better {
        Better::Lower => libm::log1p(most),
        Better::Higher => libm::log1p(-most.min(1.0)),
    };
    let beyond = |(effect, better): &(Effect, Better)| effect.log.beyond(limit(*better), *better);
    let tested = holm(&effects.iter().map(beyond).collect::<Vec<_>>(), CHANCE);
    let of = |((effect, better), tested): (&(Effect, Better), Tested)| {
        gated(effect, *better, limit(*better), tested)
    };
    effects.iter().zip(tested).map(of).collect()
}

fn gated(effect: &Effect, better: Better, limit: f64, tested: Tested) -> Gated {
    let ([low, high], [corrected_low, corrected_high]) =
        (effect.log.interval(OWN), effect.log.interval(tested.chance));
    let value = effect.log.value;
    let (ends, passes, seems_worse) = match better {
        Better::Lower if low > limit => ([corrected_low, high], false, true),
        Better::Lower => ([low, high], high <= limit, value > limit),
        Better::Higher if high < limit => ([low, corrected_high], false, true),
        Better::Higher => ([low, high], low >= limit, value < limit),
    };
    let gate = if tested.corrected < CHANCE {
        GateTest::Fail
    } else if passes {
        GateTest::Pass
    } else {
        let chance = if seems_worse { tested.chance } else { OWN };
        let wanted = Wanted { distance: (limit - value).abs(), chance, missing: UNSETTLED };
        GateTest::Inconclusive { more_rounds: more_rounds(effect, wanted) }
    };
    Gated { gate, interval: ends.map(libm::expm1) }
}
