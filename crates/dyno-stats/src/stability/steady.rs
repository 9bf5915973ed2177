//! Whether samples are steady: both halves have the same mean, and the second has no trend.

use super::FEWEST_SAMPLES;
use super::batches::{BATCHES, Batches, STUDENT_99, scatter};

/// Whether samples in the order of time are steady. Absent with fewer than twice
/// [`FEWEST_SAMPLES`], a sample that is not a finite number, or a mean of 0.
///
/// They are not if the mean of the first half differs from that of the second (a level that was
/// filling), or if the second half has a trend (one that still is, or a queue that grows):
/// significantly at 1 %, and by more than `tolerance` times the mean.
pub fn is_steady(samples: &[f64], tolerance: f64) -> Option<bool> {
    if samples.len() < 2 * FEWEST_SAMPLES || samples.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let all = Batches::new(samples.iter().copied());
    let later = Batches::new(samples[samples.len() / 2..].iter().copied());
    let limit = tolerance * all.mean().abs();
    if limit == 0.0 && tolerance != 0.0 {
        return None;
    }
    let matters =
        |(change, error): (f64, f64)| change.abs() > limit && change.abs() > STUDENT_99 * error;
    Some(!matters(step(&all)) && !matters(growth(&later)))
}

/// The difference of the means of the halves, and its standard error.
fn step(batches: &Batches) -> (f64, f64) {
    let half = BATCHES / 2;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, second) = (mean(&batches.means[..half]), mean(&batches.means[half..]));
    let mut rest = batches.means;
    rest[..half].iter_mut().for_each(|m| *m -= first);
    rest[half..].iter_mut().for_each(|m| *m -= second);
    (second - first, (scatter(&rest, 2.0) * 2.0 / half as f64).sqrt())
}

/// The growth from beginning to end along the best-fitting straight line, and its standard error.
fn growth(batches: &Batches) -> (f64, f64) {
    let mean = batches.mean();
    let middle = (BATCHES as f64 - 1.0) / 2.0;
    let place = |i: usize| i as f64 - middle;
    let spread: f64 = (0..BATCHES).map(|i| place(i).powi(2)).sum();
    let values = || batches.means.iter().enumerate();
    let slope = values().map(|(i, m)| place(i) * (m - mean)).sum::<f64>() / spread;
    let mut rest = batches.means;
    rest.iter_mut().enumerate().for_each(|(i, m)| *m -= mean + slope * place(i));
    let count = BATCHES as f64;
    (slope * count, (scatter(&rest, 2.0) / spread).sqrt() * count)
}
