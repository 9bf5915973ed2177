//! Noise: one factor per step, which depends on the seed and the number of the step alone, so that
//! other steps do not change it. `libm` makes it the same on every machine.

use super::clock::Fine;
use dyno_stats::rng::SplitMix;

/// The factors on the steps of one run.
#[derive(Debug, Clone)]
pub(crate) struct Noise {
    key: u64,
    sigma: f64,
}

impl Noise {
    /// Log-normal factors with this standard deviation of their logarithm and mean 1.
    pub(crate) fn new(seed: u64, sigma: f64) -> Self {
        Self { key: SplitMix::new(seed).next_u64(), sigma }
    }

    /// Whether there is none.
    pub(crate) fn is_none(&self) -> bool {
        self.sigma == 0.0
    }

    /// The duration of a step, with its noise.
    pub(crate) fn apply(&self, step: u64, duration: Fine) -> Fine {
        match self.is_none() {
            true => duration,
            false => duration.scaled(self.factor(step)).max(Fine::NANO),
        }
    }

    /// The factor on a step.
    fn factor(&self, step: u64) -> f64 {
        let scattered = SplitMix::new(self.key ^ step).next_u64();
        let mut draws = SplitMix::new(scattered);
        let radius = libm::sqrt(-2.0 * libm::log(draws.unit()));
        let normal = radius * libm::cos(std::f64::consts::TAU * draws.unit());
        libm::exp(self.sigma * normal - 0.5 * self.sigma * self.sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_log_normal_with_mean_one() {
        let noise = Noise::new(7, 0.2);
        let factors: Vec<f64> = (0..40_000).map(|step| noise.factor(step)).collect();
        let n = factors.len() as f64;
        let mean = factors.iter().sum::<f64>() / n;
        let logs: Vec<f64> = factors.iter().map(|f| f.ln()).collect();
        let log_mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|l| (l - log_mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 1.0).abs() < 0.005, "{mean}");
        assert!((variance.sqrt() - 0.2).abs() < 0.004, "{variance}");
        // Neighbours are unrelated.
        let together: f64 =
            logs.windows(2).map(|w| (w[0] - log_mean) * (w[1] - log_mean)).sum::<f64>() / n;
        assert!((together / variance).abs() < 0.02, "{together}");
    }

    #[test]
    fn a_factor_depends_on_seed_and_step_alone() {
        let (noise, again) = (Noise::new(1, 0.1), Noise::new(1, 0.1));
        let late = noise.factor(1_000);
        (0..10).for_each(|step| assert_ne!(again.factor(step), again.factor(step + 1)));
        assert_eq!(again.factor(1_000), late);
        assert_ne!(Noise::new(2, 0.1).factor(1_000), late);
        let second = Fine::from_seconds(1.0);
        assert_eq!(Noise::new(1, 0.0).apply(3, second), second);
        assert_ne!(noise.apply(3, second), second);
    }
}
