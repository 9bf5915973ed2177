//! The horizontal axis of a plot: how it is spaced, and what stands at it.

use super::axis::Tick;
use super::numbers;
use super::scale::{self, Scale, Spacing, bounds};

/// More loads than this are not named one by one.
const MANY: usize = 20;

/// What stands at the horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ticks {
    /// The loads that were measured, in the spacing in which they lie more evenly.
    Loads,
    /// The same, always in powers of two.
    Doubling,
    /// Round figures from 0 on.
    Round,
    /// Round times.
    Clock,
    /// Round figures, in a logarithmic spacing.
    Decades,
}

impl Ticks {
    /// From the least to the greatest of the loads and of what lies beyond them, on these pixels.
    pub(super) fn scale(self, loads: &[f64], beyond: &[f64], [from, to]: [f64; 2]) -> Scale {
        let all = loads.iter().chain(beyond).copied();
        let [low, high] = bounds(all).unwrap_or([0.0, 1.0]);
        let spacing = match self {
            Self::Loads => scale::evener(loads),
            Self::Doubling | Self::Decades => Spacing::Log,
            Self::Round | Self::Clock => Spacing::Linear,
        };
        let spacing = if low > 0.0 { spacing } else { Spacing::Linear };
        let (low, high) = match self {
            Self::Round | Self::Clock if high > 0.0 || low < 0.0 => (low.min(0.0), high.max(0.0)),
            Self::Round | Self::Clock => (0.0, 1.0),
            Self::Decades if is_narrow(low, high) => (low * 0.95, high * 1.05),
            Self::Decades if low > 0.0 => scale::log(low, high, 8).0.into(),
            Self::Loads | Self::Doubling | Self::Decades => (low, high),
        };
        Scale { spacing, low, high, from, to }
    }

    /// The places that have a name.
    pub(super) fn along(self, loads: &[f64], x: &Scale) -> Vec<Tick> {
        let tick = |(value, label): (f64, String)| Tick { at: x.at(value), label };
        let alone = |value: f64| tick((value, numbers::label(value)));
        match self {
            Self::Loads | Self::Doubling if loads.len() > MANY => {
                among(x).into_iter().map(alone).collect()
            }
            Self::Loads | Self::Doubling => loads.iter().copied().map(alone).collect(),
            Self::Decades if x.spacing == Spacing::Log && !is_narrow(x.low, x.high) => {
                scale::log(x.low, x.high, 8).1.into_iter().map(alone).collect()
            }
            Self::Round | Self::Decades => {
                let values = scale::multiples(x.low, x.high, scale::step(x.high - x.low, 10));
                let labels = numbers::labels(&values);
                values.into_iter().zip(labels).map(tick).collect()
            }
            Self::Clock => {
                let values = scale::times(x.low, x.high, 8);
                values.into_iter().map(|value| tick((value, numbers::time(value)))).collect()
            }
        }
    }
}

/// Figures so near to each other that there may be no 1, 2 or 5 between them.
fn is_narrow(low: f64, high: f64) -> bool {
    low > 0.0 && high / low < 5.0
}

/// Round figures on an axis of loads.
fn among(x: &Scale) -> Vec<f64> {
    match x.spacing {
        Spacing::Linear => scale::multiples(x.low, x.high, scale::step(x.high - x.low, 10)),
        Spacing::Log => scale::doublings(x.low, x.high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let x = Ticks::Decades.scale(&[low, high], &[], [0.0, 500.0]);
        let ticks = Ticks::Decades.along(&[low, high], &x);
        assert!(ticks.iter().all(|tick| (0.0..=500.0).contains(&tick.at)), "{ticks:?}");
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn a_logarithmic_axis_has_round_figures_however_narrow_it_is() {
        assert_eq!(labels(3.0, 70.0), ["2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(150.0, 156.0), ["145", "150", "155", "160"]);
        assert_eq!(labels(150.0, 150.0), ["144", "146", "148", "150", "152", "154", "156"]);
        assert_eq!(labels(0.1, 10_000.0).len(), 6);
    }
}
