//! How long a user thinks between a response and the next turn.

use crate::random::lengths::standard_normal;
use dyno_model::Nanos;
use dyno_model::units::{UnitError, parse_duration, parse_number};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use std::str::FromStr;

/// The largest deviation of the logarithm.
const MOST_SIGMA: f64 = 5.0;

/// Think times: `2s`, `1s-5s` (uniform), `exp(2s)` (exponential, of that mean) or `lognormal(10s,2)` (of that median and
/// deviation of the logarithm).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// Uniform between two times.
    Uniform(Nanos, Nanos),
    /// Exponential, with this mean.
    Exponential(Nanos),
    /// Log-normal, with this median and this deviation of the logarithm: few are very long.
    LogNormal(Nanos, f64),
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
            Self::LogNormal(median, sigma) => {
                (median as f64 * libm::exp(sigma * standard_normal(rng))) as Nanos
            }
        }
    }
}

impl FromStr for Think {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Some(mean) = text.strip_prefix("exp(").and_then(|rest| rest.strip_suffix(')')) {
            return parse_duration(mean).map(Self::Exponential);
        }
        if let Some(both) = text.strip_prefix("lognormal(").and_then(|rest| rest.strip_suffix(')'))
        {
            let bad = || UnitError::Duration(text.to_owned());
            let (median, sigma) = both.split_once(',').ok_or_else(bad)?;
            let sigma = parse_number(sigma.trim()).ok().filter(|sigma| *sigma <= MOST_SIGMA);
            return Ok(Self::LogNormal(parse_duration(median.trim())?, sigma.ok_or_else(bad)?));
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
        let heavy: Think = "lognormal(10s,2)".parse().unwrap();
        let mut drawn: Vec<u64> = (0..20_000).map(|_| heavy.sample(&mut rng)).collect();
        drawn.sort_unstable();
        assert!(drawn[10_000].abs_diff(10 * SEC) < SEC, "{}", drawn[10_000]);
        let long = drawn.iter().filter(|time| **time > 60 * SEC).count() as f64 / 20_000.0;
        assert!((0.17..0.20).contains(&long), "{long}");
        assert_eq!("0".parse(), Ok(Think::Fixed(0)));
        for bad in [
            "",
            "2",
            "5s-1s",
            "exp(2)",
            "exp(2s",
            "-1s",
            "normal(1s)",
            "lognormal(1s)",
            "lognormal(1s,9)",
            "lognormal(1,1)",
        ] {
            assert!(bad.parse::<Think>().is_err(), "{bad}");
        }
    }
}
