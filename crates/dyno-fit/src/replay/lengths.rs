//! Lengths of the requests of a level: deterministic, with the measured mean.

use crate::table::TableLevel;

/// Lengths by the number of the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    input: u32,
    output: f64,
    spread: f64,
}

impl Lengths {
    /// Prompts of one length and responses of the level's mean and of this spread.
    pub(super) fn new(level: &TableLevel, spread: f64) -> Self {
        Self { input: level.input.round().max(1.0) as u32, output: level.output, spread }
    }

    /// Tokens of every prompt.
    pub(super) fn input(&self) -> u32 {
        self.input
    }

    /// Tokens of a response.
    pub(super) fn output(&self, index: u64) -> u32 {
        if self.spread == 0.0 {
            // Whole numbers with exactly this mean: the steps of a line.
            let line = |n: u64| (self.output * n as f64 + 0.5) as u64;
            return (line(index + 1) - line(index)).max(1) as u32;
        }
        // Multiples of the golden ratio cover the unit interval more evenly than random numbers.
        let unit = (0.5 + index as f64 * 0.618_033_988_749_894_9).fract();
        (self.output * (1.0 + self.spread * normal(unit))).round().max(1.0) as u32
    }
}

/// The standard normal value below which this share lies (Odeh and Evans, to 1e-7).
fn normal(share: f64) -> f64 {
    let tail = share.min(1.0 - share).max(1e-12);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 0.322_232_431_088
        + t * (1.0
            + t * (0.342_242_088_547 + t * (0.020_423_121_024_5 + t * 0.453_642_210_148e-4)));
    let below = 0.099_348_462_606
        + t * (0.588_581_570_495
            + t * (0.531_103_462_366 + t * (0.103_537_752_85 + t * 0.385_607_006_34e-2)));
    let value = t - above / below;
    if share < 0.5 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_known_values() {
        for (share, value) in [(0.5, 0.0), (0.9, 1.281_551_6), (0.99, 2.326_347_9)] {
            assert!((normal(share) - value).abs() < 1e-6, "{share}: {}", normal(share));
            assert!((normal(1.0 - share) + value).abs() < 1e-6);
        }
    }

    #[test]
    fn lengths_have_the_measured_mean() {
        for spread in [0.0, 0.3] {
            let lengths = Lengths { input: 40, output: 240.52, spread };
            let sum: u64 = (0..1000).map(|index| u64::from(lengths.output(index))).sum();
            assert!((sum as f64 / 1000.0 - 240.52).abs() < 0.5, "{spread}: {sum}");
        }
    }
}
