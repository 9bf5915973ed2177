//! Random numbers for simulated runs, the same for the same seed.

/// A generator of random numbers (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1, neither included.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Between two values, each power of ten as likely as any other.
    pub(super) fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }

    /// With mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// With mean 1 and a gamma distribution of this shape: 1, or 0.5.
    pub(super) fn gap(&mut self, shape: f64) -> f64 {
        if shape == 1.0 {
            return self.exponential();
        }
        // The square of a normal variable.
        self.lognormal(1.0).ln().powi(2)
    }

    /// With median 1.
    pub(super) fn lognormal(&mut self, sigma: f64) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        (sigma * radius * (std::f64::consts::TAU * self.unit()).cos()).exp()
    }
}
