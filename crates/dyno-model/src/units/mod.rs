//! Quantities as people type them: durations, counts, rates and shares. Every flag, settings file
//! and specification reads its numbers here, so `1h30m` and `1.5k` work everywhere or nowhere.

mod count;
mod duration;

pub use count::{COUNT_UNITS, parse_count, parse_number, parse_rate};
pub use duration::{DURATION_UNITS, format_duration, parse_duration};

use crate::Nanos;
use thiserror::Error;

/// Why a quantity could not be read.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum UnitError {
    /// The text is not a number followed by a unit.
    #[error(
        "`{0}` is not a duration; write a number with a unit, such as 500ms, 60s, 5min or 1h30m"
    )]
    Duration(String),
    /// A number without a unit, where one is required.
    #[error("`{0}` has no unit; write {0}s for seconds or {0}ms for milliseconds")]
    MissingUnit(String),
    /// The last part of a compound duration has no unit.
    #[error("`{part}` at the end of `{text}` has no unit; write {text}{guess}")]
    MissingLastUnit {
        /// The whole duration.
        text: String,
        /// The number without a unit.
        part: String,
        /// The unit that follows the one before it.
        guess: &'static str,
    },
    /// A unit that does not measure time.
    #[error("`{unit}` in `{text}` is not a unit of time; use ns, us, ms, s, min, h or d")]
    UnknownUnit {
        /// The whole duration.
        text: String,
        /// The unit as typed.
        unit: String,
    },
    /// The parts of a compound duration are not in descending order.
    #[error("the parts of `{0}` are out of order; write each unit once, the largest first: 1h30m")]
    Order(String),
    /// Larger than the clock can hold.
    #[error("`{0}` is too long; the longest duration is 10000h")]
    TooLong(String),
    /// The text is not a share.
    #[error("`{0}` is not a share; write a percentage such as 1% or a fraction such as 0.01")]
    Share(String),
    /// The text is not a number.
    #[error("`{0}` is not a number; write digits, with k, M or G for thousands and more: 1.5k")]
    Number(String),
    /// A count with a fraction.
    #[error("`{0}` is not a whole number")]
    NotWhole(String),
    /// A suffix that does not scale a number.
    #[error(
        "`{unit}` in `{text}` is not a multiplier; use k (thousand), M (million) or G (billion)"
    )]
    UnknownMultiplier {
        /// The number as typed.
        text: String,
        /// Its suffix.
        unit: String,
    },
    /// Larger than any number that Dyno works with.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// Splits a text into the number it starts with and the rest.
fn leading_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(end)
}

/// Reads `1%` or `0.01` as a fraction between 0 and 1.
pub fn parse_share(text: &str) -> Result<f64, UnitError> {
    let bad = || UnitError::Share(text.to_owned());
    let trimmed = text.trim();
    let value = match trimmed.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| bad())? / 100.0,
        None => trimmed.parse::<f64>().map_err(|_| bad())?,
    };
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(bad()) }
}

/// Nanoseconds as milliseconds, for people.
pub fn to_ms(nanos: Nanos) -> f64 {
    nanos as f64 / 1e6
}

/// Nanoseconds as seconds, for people.
pub fn to_s(nanos: Nanos) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share("0.5"), Ok(0.5));
        assert!(parse_share("150%").is_err());
    }
}
