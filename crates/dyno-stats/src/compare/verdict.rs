//! The conclusion from a change and its interval.

use super::effect::Effect;
use super::holm::{Tested, holm};
use super::power::{Wanted, more_rounds};

/// The error probability of intervals and tests.
pub(super) const CHANCE: f64 = 0.05;
/// The probability that as many rounds as are asked for do not rule out a difference beyond the
/// margin, in both directions.
const NOT_RULED_OUT: f64 = 0.2;
/// The probability that as many rounds as are asked for do not show a difference that is as it
/// seems, in both directions.
const NOT_SHOWN: f64 = 0.4;
/// A difference that does not matter is at most this large, by default.
pub const MARGIN: f64 = 0.05;

/// In which direction a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better: a throughput.
    Higher,
    /// Less is better: a latency.
    Lower,
}

/// A conclusion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ComparisonVerdict {
    /// B is higher than A.
    Higher,
    /// B is lower than A.
    Lower,
    /// No difference was seen, and there is none larger than this share.
    NoLargerThan(f64),
    /// Inconclusive: there may or may not be a difference that matters.
    NotEnough {
        /// About so many more rounds of each side would settle it; absent where they are more than
        /// [`MOST_MORE`](super::MOST_MORE).
        more_rounds: Option<u32>,
    },
}

impl ComparisonVerdict {
    /// Whether B is better; absent where no difference was called.
    pub fn is_better(self, better: Better) -> Option<bool> {
        match self {
            Self::Higher => Some(better == Better::Higher),
            Self::Lower => Some(better == Better::Lower),
            Self::NoLargerThan(_) | Self::NotEnough { .. } => None,
        }
    }
}

/// A conclusion with the interval that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Concluded {
    /// The conclusion.
    pub verdict: ComparisonVerdict,
    /// The ends of the change. Corrected for the number of tests where a difference was called or
    /// nothing is decided: it contains 0 exactly where none was called. Where a difference is
    /// ruled out, the metric's own 95 % interval, which does that.
    pub interval: [f64; 2],
    /// The p-value, corrected for the number of tests.
    pub corrected: f64,
}

/// What may be said of several changes at once, where differences up to `margin` do not matter.
///
/// A difference is called where its p-value, corrected for all of them (Holm), is below 5 %.
/// Otherwise there is none larger than the farther end of its own interval, if that is within the
/// margin.
pub fn conclude(effects: &[Effect], margin: f64) -> Vec<Concluded> {
    let chances: Vec<f64> = effects.iter().map(|effect| effect.p).collect();
    let tested = holm(&chances, CHANCE);
    effects.iter().zip(tested).map(|(effect, tested)| concluded(effect, tested, margin)).collect()
}

fn concluded(effect: &Effect, Tested { corrected, chance }: Tested, margin: f64) -> Concluded {
    let of = |verdict, interval| Concluded { verdict, interval, corrected };
    let interval = effect.interval(chance);
    if corrected < CHANCE {
        let verdict =
            if effect.change > 0.0 { ComparisonVerdict::Higher } else { ComparisonVerdict::Lower };
        return of(verdict, interval);
    }
    let largest = effect.low.abs().max(effect.high.abs());
    if largest <= margin {
        return of(ComparisonVerdict::NoLargerThan(largest), [effect.low, effect.high]);
    }
    let ruled_out =
        Wanted { distance: libm::log1p(margin), chance: CHANCE, missing: NOT_RULED_OUT };
    let shown = Wanted { distance: effect.log.value.abs(), chance, missing: NOT_SHOWN };
    let ways = [ruled_out, shown].map(|wanted| more_rounds(effect, wanted));
    of(ComparisonVerdict::NotEnough { more_rounds: ways.into_iter().flatten().min() }, interval)
}
