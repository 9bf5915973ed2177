//! Quantities as people type them: durations, counts, rates and shares. Every flag, settings file
//! and specification reads its numbers here, so `1h30m` and `1.5k` work everywhere or nowhere.

mod count;
mod duration;

pub use count::{COUNT_UNITS, parse_count, parse_number, parse_rate};
pub use duration::{DURATION_UNITS, format_duration, parse_duration};

use crate::Nanos;
use crate::message::Localized;

/// Why a quantity could not be read.
#[derive(Debug, Clone, Localized, PartialEq, Eq)]
pub enum UnitError {
    /// The text is not a number followed by a unit.
    #[message(
        "`{0}` is not a duration; write a number with a unit, such as 500ms, 60s, 5min or 1h30m",
        "`{0}` 不是时长；请写带单位的数字，例如 500ms、60s、5min 或 1h30m"
    )]
    Duration(String),
    /// A number without a unit, where one is required.
    #[message(
        "`{0}` has no unit; write {0}s for seconds or {0}ms for milliseconds",
        "`{0}` 没有单位；秒请写 {0}s，毫秒请写 {0}ms"
    )]
    MissingUnit(String),
    /// The last part of a compound duration has no unit.
    #[message(
        "`{part}` at the end of `{text}` has no unit; write {text}{guess}",
        "`{text}` 末尾的 `{part}` 没有单位；请写 {text}{guess}"
    )]
    MissingLastUnit {
        /// The whole duration.
        text: String,
        /// The number without a unit.
        part: String,
        /// The unit that follows the one before it.
        guess: &'static str,
    },
    /// A unit that does not measure time.
    #[message(
        "`{unit}` in `{text}` is not a unit of time; use ns, us, ms, s, min, h or d",
        "`{text}` 中的 `{unit}` 不是时间单位；请用 ns、us、ms、s、min、h 或 d"
    )]
    UnknownUnit {
        /// The whole duration.
        text: String,
        /// The unit as typed.
        unit: String,
    },
    /// The parts of a compound duration are not in descending order.
    #[message(
        "the parts of `{0}` are out of order; write each unit once, the largest first: 1h30m",
        "`{0}` 各部分的顺序不对；每个单位只写一次，从大到小：1h30m"
    )]
    Order(String),
    /// Larger than the clock can hold.
    #[message("`{0}` is too long; the longest duration is 10000h", "`{0}` 过长；时长最多为 10000h")]
    TooLong(String),
    /// The text is not a share.
    #[message(
        "`{0}` is not a share; write a percentage such as 1% or a fraction such as 0.01",
        "`{0}` 不是比例；请写百分数（例如 1%）或小数（例如 0.01）"
    )]
    Share(String),
    /// The text is not a number.
    #[message(
        "`{0}` is not a number; write digits, with k, M or G for thousands and more: 1.5k",
        "`{0}` 不是数字；请写数字，可加 k、M 或 G 表示千、百万或十亿：1.5k"
    )]
    Number(String),
    /// A count with a fraction.
    #[message("`{0}` is not a whole number", "`{0}` 不是整数")]
    NotWhole(String),
    /// A suffix that does not scale a number.
    #[message(
        "`{unit}` in `{text}` is not a multiplier; use k (thousand), M (million) or G (billion)",
        "`{text}` 中的 `{unit}` 不是倍数；请用 k（千）、M（百万）或 G（十亿）"
    )]
    UnknownMultiplier {
        /// The number as typed.
        text: String,
        /// Its suffix.
        unit: String,
    },
    /// Larger than any number that Dyno works with.
    #[message("`{0}` is too large", "`{0}` 过大")]
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
