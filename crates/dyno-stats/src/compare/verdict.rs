//! The conclusion from a change and its interval.

use super::effect::Effect;
use super::power::{Wanted, more_runs};

/// The error probability of intervals and tests.
pub(super) const CHANCE: f64 = 0.05;
/// The probability that as many runs as are asked for do not settle it.
const UNSETTLED: f64 = 0.2;
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
pub enum Verdict {
    /// B is higher than A.
    Higher,
    /// B is lower than A.
    Lower,
    /// No difference was seen, and there is none larger than this share.
    NoLargerThan(f64),
    /// Inconclusive: there may or may not be a difference that matters.
    NotEnough {
        /// About so many more runs of each side would settle it; absent where they are more than
        /// [`MOST_MORE`](super::MOST_MORE).
        more_runs: Option<u32>,
    },
}

impl Verdict {
    /// Whether B is better; absent where no difference was called.
    pub fn is_better(self, better: Better) -> Option<bool> {
        match self {
            Self::Higher => Some(better == Better::Higher),
            Self::Lower => Some(better == Better::Lower),
            Self::NoLargerThan(_) | Self::NotEnough { .. } => None,
        }
    }
}

/// What may be said of a change whose p-value, corrected for all metrics that are compared
/// ([`holm`](super::holm)), is `corrected`, where differences up to `margin` do not matter.
///
/// A difference is called where that p-value is below 5 %. Otherwise there is none larger than the
/// farther end of the interval, if that is within the margin.
pub fn verdict(effect: &Effect, corrected: f64, margin: f64) -> Verdict {
    if corrected < CHANCE {
        return if effect.change > 0.0 { Verdict::Higher } else { Verdict::Lower };
    }
    let largest = effect.low.abs().max(effect.high.abs());
    if largest <= margin {
        return Verdict::NoLargerThan(largest);
    }
    let wanted = Wanted { distance: libm::log1p(margin), chance: CHANCE, missing: UNSETTLED };
    Verdict::NotEnough { more_runs: more_runs(effect, wanted) }
}
