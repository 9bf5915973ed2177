//! Open-loop arrivals on an absolute schedule that depends on nothing but plan and seed:
//! the same bytes on any machine (its logarithms come from `libm`, not from the platform).

use dyno_model::Nanos;
use dyno_model::plan::Arrival;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A generator for one purpose: the same seed gives unrelated streams for different uses.
pub fn seeded(seed: u64, level: u32, purpose: &[u8; 8]) -> ChaCha8Rng {
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&level.to_le_bytes());
    key[16..24].copy_from_slice(purpose);
    ChaCha8Rng::from_seed(key)
}

/// Endless arrival offsets of the plain process, in order, from the start of a level. How many fall
/// into a given time is random; see [`PacedArrivals`](crate::paced::PacedArrivals).
#[derive(Debug, Clone)]
pub struct Arrivals {
    rng: ChaCha8Rng,
    arrival: Arrival,
    rate: f64,
    /// Sum of the gaps so far, in mean gaps.
    sum: f64,
    index: u64,
}

impl Arrivals {
    /// The arrivals of a level.
    pub fn new(seed: u64, level: u32, rate: f64, arrival: Arrival) -> Self {
        Self { rng: seeded(seed, level, b"arrivals"), arrival, rate, sum: 0.0, index: 0 }
    }

    /// When the next arrival is due, in mean gaps from the start.
    pub(crate) fn next_due(&mut self) -> f64 {
        let gaps = match self.arrival {
            Arrival::Constant => self.index as f64,
            Arrival::Poisson => {
                self.sum -= libm::log(self.uniform());
                self.sum
            }
            Arrival::Gamma { shape } => {
                self.sum += self.gamma(shape) / shape;
                self.sum
            }
        };
        self.index += 1;
        gaps
    }

    /// Where the last arrival was, in mean gaps from the start; 0 before the first.
    pub(crate) fn past(&self) -> f64 {
        self.sum
    }

    /// Skips this many arrivals.
    pub(crate) fn pass(&mut self, arrivals: u64) {
        for _ in 0..arrivals {
            self.next_due();
        }
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * libm::sqrt(-2.0 * libm::log(s) / s);
            }
        }
    }

    /// Gamma with unit scale, by Marsaglia and Tsang.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(self.uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let t = 1.0 + c * x;
            let v = t * t * t;
            if v > 0.0 && libm::log(self.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

impl Iterator for Arrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        Some((self.next_due() * 1e9 / self.rate).round() as Nanos)
    }
}
