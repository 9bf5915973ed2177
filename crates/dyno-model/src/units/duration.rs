//! Durations: `500ms`, `1.5s`, `5min`, `1h30m`.

use super::{UnitError, leading_number};
use crate::Nanos;

/// A unit of time.
#[derive(Debug, Clone, Copy)]
pub struct DurationUnit {
    /// Its spellings, the usual one first.
    pub names: &'static [&'static str],
    /// What it is called in a sentence.
    pub meaning: &'static str,
    nanos: f64,
}

/// Every unit of time, the smallest first.
pub const DURATION_UNITS: &[DurationUnit] = &[
    DurationUnit { names: &["ns"], meaning: "nanoseconds", nanos: 1.0 },
    DurationUnit { names: &["us", "µs", "μs"], meaning: "microseconds", nanos: 1e3 },
    DurationUnit { names: &["ms"], meaning: "milliseconds", nanos: 1e6 },
    DurationUnit { names: &["s", "sec", "second", "seconds"], meaning: "seconds", nanos: 1e9 },
    DurationUnit { names: &["m", "min", "minute", "minutes"], meaning: "minutes", nanos: 60e9 },
    DurationUnit { names: &["h", "hr", "hour", "hours"], meaning: "hours", nanos: 3600e9 },
    DurationUnit { names: &["d", "day", "days"], meaning: "days", nanos: 86_400e9 },
];

const LONGEST: f64 = 10_000.0 * 3600e9;

/// Reads `500ms`, `1.5s`, `5min`, `1h30m`. A unit is required, except for a bare `0`. In a
/// compound duration, each unit appears once, the largest first.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    let trimmed = text.trim();
    let (mut rest, mut total, mut previous) = (trimmed, 0.0, None);
    while !rest.is_empty() {
        let (number, after) = leading_number(rest);
        let value: f64 = number.parse().map_err(|_| UnitError::Duration(text.to_owned()))?;
        let after = after.trim_start();
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.' || c.is_whitespace())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return without_unit(trimmed, number, value, previous);
        }
        let rank = DURATION_UNITS.iter().position(|known| known.names.contains(&unit)).ok_or_else(
            || UnitError::UnknownUnit { text: trimmed.to_owned(), unit: unit.to_owned() },
        )?;
        if previous.is_some_and(|previous| previous <= rank) {
            return Err(UnitError::Order(trimmed.to_owned()));
        }
        previous = Some(rank);
        total += value * DURATION_UNITS[rank].nanos;
        rest = after.trim_start();
    }
    match previous {
        None => Err(UnitError::Duration(text.to_owned())),
        Some(_) if total > LONGEST => Err(UnitError::TooLong(text.to_owned())),
        Some(_) => Ok(total.round() as Nanos),
    }
}

fn without_unit(
    text: &str,
    number: &str,
    value: f64,
    previous: Option<usize>,
) -> Result<Nanos, UnitError> {
    match previous {
        None if number != text => Err(UnitError::Duration(text.to_owned())),
        None if value == 0.0 => Ok(0),
        None => Err(UnitError::MissingUnit(text.to_owned())),
        Some(rank) => Err(UnitError::MissingLastUnit {
            text: text.to_owned(),
            part: number.to_owned(),
            guess: DURATION_UNITS[rank.saturating_sub(1)].names[0],
        }),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEC;

    #[test]
    fn durations_are_read_with_their_units() {
        for (text, nanos) in [
            ("500ms", 500_000_000),
            (" 1.5s ", 1_500_000_000),
            ("2h", 7_200 * SEC),
            ("20us", 20_000),
            ("0", 0),
            ("5min", 300 * SEC),
            ("5 min", 300 * SEC),
            ("90s", 90 * SEC),
            ("90 seconds", 90 * SEC),
            ("2d", 172_800 * SEC),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn compound_durations_add_up() {
        for (text, seconds) in
            [("1h30m", 5_400), ("1h 30min", 5_400), ("1d2h3m4s", 93_784), ("1.5h30s", 5_430)]
        {
            assert_eq!(parse_duration(text), Ok(seconds * SEC), "{text}");
        }
        assert_eq!(parse_duration("1s500ms"), Ok(1_500_000_000));
    }

    #[test]
    fn errors_name_what_is_wrong() {
        assert_eq!(parse_duration("60"), Err(UnitError::MissingUnit("60".into())));
        for text in ["fast", "", "-3s", "1.2.3s", "s", "5 5"] {
            assert_eq!(parse_duration(text), Err(UnitError::Duration(text.into())), "{text}");
        }
        assert_eq!(parse_duration("99999h"), Err(UnitError::TooLong("99999h".into())));
        for text in ["30m1h", "1h1h", "1m30m"] {
            assert_eq!(parse_duration(text), Err(UnitError::Order(text.into())), "{text}");
        }
        let said = |text| parse_duration(text).unwrap_err().to_string();
        assert!(said("1h30").contains("write 1h30m"), "{}", said("1h30"));
        assert!(said("5x").contains("`x` in `5x` is not a unit of time"), "{}", said("5x"));
        assert!(said("5M").contains("`M` in `5M`"), "{}", said("5M"));
    }

    #[test]
    fn printing_reads_back() {
        for nanos in [0, 17, 1_500, 20_000_000, 1_500_000_000, 90_000_000_000] {
            assert_eq!(parse_duration(&format_duration(nanos)), Ok(nanos));
        }
    }

    #[test]
    fn the_smallest_unit_comes_first() {
        assert!(DURATION_UNITS.is_sorted_by(|a, b| a.nanos < b.nanos));
    }
}
