//! What each level says about the capacity, and whether the levels agree.

use super::posterior;
use crate::level::{HeldLoad, LevelKind, MeasuredLevel};
use dyno_stats::trend;

/// Loads farther apart than this, as logarithms, contradict each other if the higher one met the SLO
/// and the lower one missed it. Noise alone does not do that.
const CONTRADICTION: f64 = 0.15;
/// Levels with a larger margin say little about where the capacity is.
const NEAR: f64 = 1.0;

/// What one level says about the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Evidence {
    /// The logarithm of the load that was asked for.
    pub(super) asked: f64,
    /// The logarithm of the rate that arrived, where known; else the same.
    pub(super) at: f64,
    /// Requests that were measured.
    pub(super) requests: u64,
    /// The observation.
    pub(super) seen: Seen,
}

/// The observation at a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Seen {
    /// A margin, and its standard error if it is known.
    Margin { margin: f64, error: Option<f64> },
    /// Met or missed.
    Sign { held: bool },
}

impl Evidence {
    /// The evidence of a level; `None` if it cannot be judged.
    pub(super) fn of(level: &MeasuredLevel) -> Option<Self> {
        let finite = |value: &f64| value.is_finite() && *value > 0.0;
        let load = Some(level.load).filter(finite)?;
        let arrived = level.arrived_rate.filter(finite).filter(|_| level.kind == LevelKind::Rate);
        let at = arrived.unwrap_or(load).ln();
        let seen = match level.held {
            _ if !level.valid => return None,
            HeldLoad::By(margin) if margin.log_ratio.is_finite() => Seen::Margin {
                margin: margin.log_ratio,
                error: margin.error.filter(|error| error.is_finite() && *error >= 0.0),
            },
            HeldLoad::Yes => Seen::Sign { held: true },
            HeldLoad::No => Seen::Sign { held: false },
            HeldLoad::By(_) | HeldLoad::Unsure => return None,
        };
        Some(Self { asked: load.ln(), at, requests: level.requests, seen })
    }

    pub(super) fn held(&self) -> bool {
        match self.seen {
            Seen::Margin { margin, .. } => margin <= 0.0,
            Seen::Sign { held } => held,
        }
    }
}

/// Logarithms of the highest requested load that met the SLO and of the lowest that missed it.
pub(super) fn extremes(evidence: &[Evidence]) -> (Option<f64>, Option<f64>) {
    let of = |held: bool| evidence.iter().filter(move |e| e.held() == held).map(|e| e.asked);
    (of(true).max_by(f64::total_cmp), of(false).min_by(f64::total_cmp))
}

/// Whether a load met the SLO far above one that missed it.
pub(super) fn contradicts(evidence: &[Evidence]) -> bool {
    matches!(extremes(evidence), (Some(held), Some(failed)) if held - failed > CONTRADICTION)
}

/// By what share the capacity changed during the search, if it did.
pub(super) fn drift(evidence: &[Evidence], edge: f64) -> Option<f64> {
    let slope = posterior::slope(evidence, edge);
    let edges: Vec<f64> = evidence
        .iter()
        .filter_map(|one| match one.seen {
            Seen::Margin { margin, .. } if margin.abs() < NEAR => Some(one.at - margin / slope),
            _ => None,
        })
        .map(|place| (place - edge).exp())
        .collect();
    trend(&edges).filter(dyno_stats::Trend::is_trend).map(|trend| trend.growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margin(load: f64, margin: f64) -> Evidence {
        Evidence {
            asked: load.ln(),
            at: load.ln(),
            requests: 4_000,
            seen: Seen::Margin { margin, error: None },
        }
    }

    #[test]
    fn a_hold_far_above_a_failure_contradicts_it_and_a_near_one_does_not() {
        assert!(contradicts(&[margin(50.0, -0.1), margin(40.0, 0.1), margin(60.0, -0.1)]));
        assert!(!contradicts(&[margin(42.0, -0.1), margin(40.0, 0.1), margin(38.0, -0.1)]));
    }

    #[test]
    fn an_edge_that_moves_is_seen_and_one_that_rests_is_not() {
        let load = |i: i32| 10.0 * if i % 2 == 0 { 0.97 } else { 1.03 };
        let moving = |i: i32| 10.0 * (1.0 - 0.04 * f64::from(i));
        let at = |i: i32, edge: f64| margin(load(i), 2.0 * (load(i) / edge).ln());
        let drifting: Vec<_> = (0..9).map(|i| at(i, moving(i))).collect();
        assert!(drift(&drifting, 8.4_f64.ln()).is_some_and(|share| share < -0.2));
        let resting: Vec<_> = (0..9).map(|i| at(i, 10.0)).collect();
        assert_eq!(drift(&resting, 10.0_f64.ln()), None);
    }
}
