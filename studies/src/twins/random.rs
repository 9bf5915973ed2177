//! Draws of random systems and loads.

use dyno_stats::rng::SplitMix;

/// Numbers that follow from a seed.
pub(super) struct Draws(SplitMix);

impl Draws {
    /// Those of one system and purpose.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Self(SplitMix::new(SplitMix::new(seed ^ (purpose << 48)).next_u64()))
    }

    /// A number between two.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// A number between two whose logarithm is uniform.
    pub(super) fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// One of several.
    pub(super) fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len())]
    }

    /// Whether something with this probability happens.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// An exponential time with this mean.
    pub(super) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.0.unit().ln()
    }

    /// A whole number between two, both included.
    pub(super) fn length(&mut self, low: u32, high: u32) -> u32 {
        low + self.0.below((high - low) as usize + 1) as u32
    }
}
