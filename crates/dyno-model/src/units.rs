//! Reading and printing durations and shares, the way people type them.

use crate::Nanos;
use thiserror::Error;

/// Why a quantity could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// The text is not a number followed by a unit.
    #[error("`{0}` is not a duration; write a number with a unit, such as 500ms, 60s, 5m or 2h")]
    Duration(String),
    /// A number without a unit, where one is required.
    #[error("`{0}` has no unit; write {0}s for seconds or {0}ms for milliseconds")]
    MissingUnit(String),
    /// Larger than the clock can hold.
    #[error("`{0}` is too long; the longest duration is 10000h")]
    TooLong(String),
    /// The text is not a share.
    #[error("`{0}` is not a share; write a percentage such as 1% or a fraction such as 0.01")]
    Share(String),
}

const UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// Reads `500ms`, `1.5s`, `5m`, `2h`; a unit is required, except for a bare `0`.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let value: f64 = number.parse().map_err(|_| UnitError::Duration(text.to_owned()))?;
    let unit = unit.trim();
    if unit.is_empty() {
        return if value == 0.0 { Ok(0) } else { Err(UnitError::MissingUnit(trimmed.to_owned())) };
    }
    let scale = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, scale)| *scale)
        .ok_or_else(|| UnitError::Duration(text.to_owned()))?;
    let nanos = value * scale;
    if nanos > 10_000.0 * 3600e9 {
        return Err(UnitError::TooLong(text.to_owned()));
    }
    Ok(nanos.round() as Nanos)
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

/// Prints a duration so that [`parse_duration`] reads it back: `500ms`, `1.5s`, `60s`.
pub fn format_duration(nanos: Nanos) -> String {
    let (scale, unit) = match nanos {
        0 => return "0s".to_owned(),
        n if n < 1_000 => (1.0, "ns"),
        n if n < 1_000_000 => (1e3, "us"),
        n if n < 1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{}{unit}", nanos as f64 / scale)
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
    fn durations_are_read_with_their_units() {
        assert_eq!(parse_duration("500ms"), Ok(500_000_000));
        assert_eq!(parse_duration(" 1.5s "), Ok(1_500_000_000));
        assert_eq!(parse_duration("2h"), Ok(7_200_000_000_000));
        assert_eq!(parse_duration("20us"), Ok(20_000));
        assert_eq!(parse_duration("0"), Ok(0));
    }

    #[test]
    fn a_missing_unit_and_nonsense_are_named() {
        assert_eq!(parse_duration("60"), Err(UnitError::MissingUnit("60".into())));
        assert_eq!(parse_duration("fast"), Err(UnitError::Duration("fast".into())));
        assert_eq!(parse_duration("5 days"), Err(UnitError::Duration("5 days".into())));
        assert_eq!(parse_duration("99999h"), Err(UnitError::TooLong("99999h".into())));
        assert_eq!(parse_duration("-3s"), Err(UnitError::Duration("-3s".into())));
    }

    #[test]
    fn printing_reads_back() {
        for nanos in [0, 17, 1_500, 20_000_000, 1_500_000_000, 90_000_000_000] {
            assert_eq!(parse_duration(&format_duration(nanos)), Ok(nanos));
        }
    }

    #[test]
    fn shares() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share("0.5"), Ok(0.5));
        assert!(parse_share("150%").is_err());
    }
}
