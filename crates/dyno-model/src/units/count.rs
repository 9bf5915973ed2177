//! Counts and rates: `500`, `1.5k`, `2M`, `150/min`.

use super::{UnitError, leading_number};

/// Multipliers, with the power of ten that each stands for.
pub const COUNT_UNITS: &[(&str, &str, u32)] =
    &[("k", "thousand", 3), ("M", "million", 6), ("G", "billion", 9)];

/// Reads a whole number: `500`, `1.5k`, `2M`. The arithmetic is exact, so `1.5k` is 1500 and
/// `1.0005k` is an error.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let (number, power) = scaled(trimmed)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let missing = (power as usize)
        .checked_sub(fraction.len())
        .ok_or_else(|| UnitError::NotWhole(trimmed.to_owned()))?;
    let digits = format!("{whole}{fraction}{}", "0".repeat(missing));
    digits.parse().map_err(|_| UnitError::TooLarge(trimmed.to_owned()))
}

/// Reads a number that may have a fraction: `2.5`, `1.5k`, `1e3`.
pub fn parse_number(text: &str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    // Plain numbers keep the notations that they always had, such as 1e3.
    if let Ok(value) = trimmed.parse::<f64>() {
        return Ok(value);
    }
    let (number, power) = scaled(trimmed)?;
    format!("{number}e{power}").parse().map_err(|_| UnitError::Number(trimmed.to_owned()))
}

/// Reads a rate as events per second: `2.5`, `2.5/s`, `150/min`, `1.5k/s`.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let Some((number, unit)) = trimmed.split_once('/') else { return parse_number(trimmed) };
    let per = match unit.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hr" | "hour" => 3600.0,
        _ => return Err(UnitError::Number(trimmed.to_owned())),
    };
    Ok(parse_number(number)? / per)
}

/// The digits of a number, and the power of ten of its multiplier.
fn scaled(text: &str) -> Result<(&str, u32), UnitError> {
    let (number, unit) = leading_number(text);
    if !number.starts_with(|c: char| c.is_ascii_digit()) || number.parse::<f64>().is_err() {
        return Err(UnitError::Number(text.to_owned()));
    }
    match unit.trim_start() {
        "" => Ok((number, 0)),
        "K" => Ok((number, 3)),
        unit => match COUNT_UNITS.iter().find(|(name, ..)| *name == unit) {
            Some((.., power)) => Ok((number, *power)),
            None if !unit.chars().all(char::is_alphabetic) => {
                Err(UnitError::Number(text.to_owned()))
            }
            None => {
                let (text, unit) = (text.to_owned(), unit.to_owned());
                Err(UnitError::UnknownMultiplier { text, unit })
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_have_multipliers() {
        for (text, count) in [
            ("500", 500),
            ("1.5k", 1_500),
            ("1.5K", 1_500),
            ("2M", 2_000_000),
            (" 2 M ", 2_000_000),
            ("0.25k", 250),
            ("1.500k", 1_500),
            ("3G", 3_000_000_000),
            ("0", 0),
            ("7.0", 7),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn counts_are_whole() {
        for text in ["1.5", "1.0005k", "0.0000001M"] {
            assert_eq!(parse_count(text), Err(UnitError::NotWhole(text.into())), "{text}");
        }
        for text in ["99999999999999999999", "18446744073709551616", "99999999999G"] {
            assert_eq!(parse_count(text), Err(UnitError::TooLarge(text.into())), "{text}");
        }
        for text in ["", "-1", "k", "four", ".5k", "1.2.3k", "+4", "8 16", "1_000"] {
            assert_eq!(parse_count(text), Err(UnitError::Number(text.into())), "{text}");
        }
        let said = parse_count("2m").unwrap_err().to_string();
        assert!(said.contains("`m` in `2m` is not a multiplier"), "{said}");
        assert!(parse_count("1e3").is_err());
    }

    #[test]
    fn rates_have_a_time() {
        for (text, rate) in [
            ("2.5", 2.5),
            ("2.5/s", 2.5),
            ("150/min", 2.5),
            ("3600 / h", 1.0),
            ("1.5k", 1500.0),
            ("1.5k/s", 1500.0),
            ("1e3", 1000.0),
            (".5", 0.5),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["", "x", "5/", "5/day", "/s", "5m", "5s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
