//! Batch means: the error of a mean from the scatter of means of consecutive samples.

/// How many batches.
pub(super) const BATCHES: usize = 20;
/// Student's 97.5 % point with 19 degrees of freedom.
pub(super) const STUDENT_95: f64 = 2.093;
/// Student's 99.5 % point with 18 degrees of freedom.
pub(super) const STUDENT_99: f64 = 2.878;
/// The largest correlation between neighbours that is corrected for.
const MOST_CORRELATION: f64 = 0.8;
/// Added to the observed correlation: it has an error itself, and stopping as soon as the interval is
/// narrow favours moments at which it is underestimated.
const PRECAUTION: f64 = 0.15;

/// Means of equally many consecutive samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batches {
    pub(super) means: [f64; BATCHES],
}

impl Batches {
    /// Of at least as many samples as there are batches.
    pub(super) fn new(samples: impl ExactSizeIterator<Item = f64>) -> Self {
        let count = samples.len().max(1);
        let (mut sums, mut sizes) = ([0.0; BATCHES], [0_u32; BATCHES]);
        for (i, sample) in samples.enumerate() {
            let batch = (i * BATCHES / count).min(BATCHES - 1);
            sums[batch] += sample;
            sizes[batch] += 1;
        }
        let mut means = sums;
        for (mean, size) in means.iter_mut().zip(sizes) {
            *mean /= f64::from(size.max(1));
        }
        Self { means }
    }

    pub(super) fn mean(&self) -> f64 {
        self.means.iter().sum::<f64>() / BATCHES as f64
    }

    /// Standard error of the mean of all.
    pub(super) fn error(&self) -> f64 {
        let mean = self.mean();
        let rest = self.means.map(|m| m - mean);
        (scatter(&rest, 1.0) / BATCHES as f64).sqrt()
    }
}

/// The variance of the residuals of batches after `fitted` parameters, enlarged if neighbours are
/// correlated, because the batches are too short then.
pub(super) fn scatter(rest: &[f64; BATCHES], fitted: f64) -> f64 {
    let count = BATCHES as f64;
    let power: f64 = rest.iter().map(|r| r * r).sum();
    if power <= 0.0 {
        return 0.0;
    }
    let lagged: f64 = rest.windows(2).map(|w| w[0] * w[1]).sum();
    // So few batches underestimate the correlation, by about 1 / count for each fitted parameter.
    let seen = lagged / power + fitted / count;
    let correlation = (seen + PRECAUTION).clamp(0.0, MOST_CORRELATION);
    power / (count - fitted) * (1.0 + correlation) / (1.0 - correlation)
}
