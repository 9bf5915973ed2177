//! How far a fitted engine is from levels: means of absolute errors.

use anyhow::Result;
use dyno_engine::twin::Twin;
use dyno_fit::{Figures, Missed, Quantity, Trial, rerun};

/// What is compared.
pub(super) const COMPARED: [(Quantity, &str); 5] = [
    (Quantity::Rate, "req/s"),
    (Quantity::TtftMean, "TTFT mean"),
    (Quantity::ItlMean, "ITL mean"),
    (Quantity::LatencyP50, "latency p50"),
    (Quantity::LatencyP90, "latency p90"),
];

/// The mean absolute error of each quantity, as a share.
pub(super) type Means = [f64; COMPARED.len()];

/// The errors of one fit.
#[derive(Debug, Clone)]
pub(super) struct Errors {
    pub(super) fitted: Means,
    pub(super) left_out: Means,
    /// For each group of levels, the errors of each of them.
    pub(super) predicted: Vec<Vec<Means>>,
}

/// On the levels that it was fitted to.
pub(super) fn of_levels(levels: &[(Trial, Option<Figures>)]) -> Means {
    let errors = levels
        .iter()
        .filter_map(|(trial, simulated)| Some(between(&Figures::of(trial)?, simulated.as_ref()?)));
    mean(&errors.collect::<Vec<_>>())
}

/// On levels that were left out.
pub(super) fn left_out(missed: &[Missed]) -> Means {
    let error = |one: &Missed| {
        COMPARED.map(|(quantity, _)| one.by.get(&quantity).map_or(1.0, |by| by.exp_m1().abs()))
    };
    mean(&missed.iter().map(error).collect::<Vec<_>>())
}

/// On levels that it never saw. One that it cannot serve is an error of 100 %.
pub(super) fn predicted(twin: &Twin, trials: impl Iterator<Item = Trial>) -> Result<Vec<Means>> {
    let mut errors = Vec::new();
    for trial in trials {
        let measured = Figures::of(&trial);
        let simulated = rerun(&trial, twin.core(1)?).and_then(|trial| Figures::of(&trial));
        errors.push(match (measured, simulated) {
            (Some(measured), Some(simulated)) => between(&measured, &simulated),
            _ => [1.0; COMPARED.len()],
        });
    }
    Ok(errors)
}

fn between(measured: &Figures, simulated: &Figures) -> Means {
    COMPARED.map(|(quantity, _)| (simulated.get(quantity) / measured.get(quantity) - 1.0).abs())
}

/// The mean over levels.
pub(super) fn mean(errors: &[Means]) -> Means {
    std::array::from_fn(|at| {
        errors.iter().map(|means| means[at]).sum::<f64>() / errors.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_levels() {
        let means = mean(&[[0.1, 0.0, 0.0, 0.0, 1.0], [0.3, 0.0, 0.0, 0.5, 1.0]]);
        assert!((means[0] - 0.2).abs() < 1e-12 && (means[3] - 0.25).abs() < 1e-12, "{means:?}");
    }

    #[test]
    fn a_miss_is_a_logarithm_and_its_error_a_share() {
        let one = |by: f64| Missed {
            label: String::new(),
            kind: dyno_fit::TrialKind::Open,
            by: [(Quantity::Rate, by.ln())].into(),
        };
        let means = left_out(&[one(1.1), one(0.8)]);
        assert!((means[0] - 0.15).abs() < 1e-12, "{means:?}");
        // What was not predicted at all is wholly wrong.
        assert_eq!(means[1], 1.0);
    }
}
