//! Several runs: their own spread shows how much runs differ.

use super::effect::{Basis, Effect, Estimate, logarithm};

/// The change from the runs of A to those of B, by Welch's test on logarithms. A single
/// run is assumed to vary as the several on the other side do.
///
/// Absent with fewer than two runs on both sides, none on one, or a metric that is not above 0.
pub fn rounds(a: &[f64], b: &[f64]) -> Option<Effect> {
    let (a, b) = (Sample::new(a)?, Sample::new(b)?);
    let (basis, [of_a, of_b]) = match (a.variance, b.variance) {
        (Some(of_a), Some(of_b)) => (Basis::Rounds, [of_a, of_b]),
        (Some(only), None) | (None, Some(only)) => (Basis::OneAgainstSeveral, [only; 2]),
        (None, None) => return None,
    };
    let parts = [of_a / a.count, of_b / b.count];
    let square = parts[0] + parts[1];
    let freedom = match basis {
        Basis::Rounds if square > 0.0 => {
            let part = |part: f64, count: f64| part * part / (count - 1.0);
            square * square / (part(parts[0], a.count) + part(parts[1], b.count))
        }
        // Pooled, where a side of one adds nothing.
        _ => a.count + b.count - 2.0,
    };
    let log = Estimate {
        value: b.mean - a.mean,
        errors: [square.sqrt(); 2],
        freedom,
        spread: (of_a + of_b).sqrt(),
    };
    Effect::new(log, basis, [a.count as usize, b.count as usize])
}

/// The change from A to B where the runs at the same place were made one right after the other.
/// What changed from round to round for both cancels out.
///
/// Absent with fewer than two rounds, sides of different length, or a metric that is not above 0.
pub fn paired(a: &[f64], b: &[f64]) -> Option<Effect> {
    if a.len() != b.len() {
        return None;
    }
    let difference = |(a, b): (&f64, &f64)| Some(logarithm(*b)? - logarithm(*a)?);
    let differences: Option<Vec<f64>> = a.iter().zip(b).map(difference).collect();
    let sample = Sample::of(&differences?)?;
    let spread = sample.variance?.sqrt();
    let log = Estimate {
        value: sample.mean,
        errors: [spread / sample.count.sqrt(); 2],
        freedom: sample.count - 1.0,
        spread,
    };
    Effect::new(log, Basis::Paired, [a.len(); 2])
}

/// Mean and variance of logarithms.
struct Sample {
    count: f64,
    mean: f64,
    /// Absent where there is only one.
    variance: Option<f64>,
}

impl Sample {
    fn new(values: &[f64]) -> Option<Self> {
        let logarithms: Option<Vec<f64>> = values.iter().map(|value| logarithm(*value)).collect();
        Self::of(&logarithms?)
    }

    fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { count, mean, variance: (count > 1.0).then(|| squares / (count - 1.0)) })
    }
}
