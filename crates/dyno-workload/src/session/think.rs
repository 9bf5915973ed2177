//! How long a user thinks between a response and the next turn.

use dyno_model::Nanos;
use dyno_model::units::{UnitError, parse_duration};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use std::str::FromStr;

/// Think times: `2s`, `1s-5s` (uniform) or `exp(2s)` (exponential, of that mean).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// Uniform between two times.
    Uniform(Nanos, Nanos),
    /// Exponential, with this mean.
    Exponential(Nanos),
}

impl Default for Think {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

impl Think {
    /// Draws a think time.
    pub(crate) fn sample(self, rng: &mut ChaCha8Rng) -> Nanos {
        // Between 0 and 1, never 0.
        let mut unit = || ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        match self {
            Self::Fixed(time) => time,
            Self::Uniform(low, high) => low + (unit() * (high - low) as f64) as Nanos,
            Self::Exponential(mean) => (-libm::log(unit()) * mean as f64) as Nanos,
        }
    }
}

impl FromStr for Think {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Some(mean) = text.strip_prefix("exp(").and_then(|rest| rest.strip_suffix(')')) {
            return parse_duration(mean).map(Self::Exponential);
        }
        let Some((low, high)) = text.split_once('-') else {
            return parse_duration(text).map(Self::Fixed);
        };
        let (low, high) = (parse_duration(low)?, parse_duration(high)?);
        match low <= high {
            true => Ok(Self::Uniform(low, high)),
            false => Err(UnitError::Duration(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn times_are_read_and_drawn_as_they_say() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut mean = |text: &str| {
            let think: Think = text.parse().unwrap();
            (0..20_000).map(|_| think.sample(&mut rng)).sum::<u64>() / 20_000
        };
        assert_eq!(mean("2s"), 2 * SEC);
        assert!(mean("1s-5s").abs_diff(3 * SEC) < SEC / 20);
        assert!(mean("exp(2s)").abs_diff(2 * SEC) < SEC / 20);
        assert_eq!("0".parse(), Ok(Think::Fixed(0)));
        for bad in ["", "2", "5s-1s", "exp(2)", "exp(2s", "-1s", "normal(1s)"] {
            assert!(bad.parse::<Think>().is_err(), "{bad}");
        }
    }
}
