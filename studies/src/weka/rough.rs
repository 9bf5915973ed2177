//! What recordings have and generated trees do not: values that are missing or odd, as often as in the published files.

use dyno_stats::rng::SplitMix;

/// Chances, from a seed and the number of a file.
pub(super) struct Roughness(SplitMix);

/// Requests without the time of their response.
pub(super) const WITHOUT_API_TIME: f64 = 4_274.0 / 47_948.0;
/// Requests without the time since the response before.
pub(super) const WITHOUT_THINK_TIME: f64 = 116.0 / 47_948.0;
/// Prompts that were sent before the end of the response before.
pub(super) const EARLY: f64 = 53.0 / 47_948.0;
/// Responses without tokens.
pub(super) const EMPTY: f64 = 27.0 / 48_658.0;
/// Prompts of which the last whole block before differs.
pub(super) const BLOCK_SHORT: f64 = 1_954.0 / 47_948.0;
/// Requests whose response streams.
pub(super) const STREAMED: f64 = 0.6;

impl Roughness {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        Self(SplitMix::new(SplitMix::new(seed).next_u64() ^ number))
    }

    pub(super) fn happens(&mut self, share: f64) -> bool {
        self.0.unit() < share
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }
}
