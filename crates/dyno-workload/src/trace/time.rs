//! Times as traces write them, as nanoseconds: dates with a time of day, and numbers with a unit.

use dyno_model::{Message, message};
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use serde_json::Value;

const SECOND: u64 = 1_000_000_000;

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// A date with a time of day.
    Date,
    /// Azure's: a date, or whole milliseconds in files that others made of it.
    DateOrMilliseconds,
    /// Nobody has said: a date speaks for itself, a number does not.
    Unsaid,
}

impl Unit {
    /// A time in this unit, in nanoseconds. A date is one whatever the unit of numbers is.
    pub(crate) fn read(self, value: &Value) -> Option<u64> {
        let date = || value.as_str().and_then(date_time);
        match self {
            Self::Seconds => number(value, 9).or_else(date),
            Self::Milliseconds => number(value, 6).or_else(date),
            Self::Microseconds => number(value, 3).or_else(date),
            Self::Nanoseconds => number(value, 0).or_else(date),
            Self::Date | Self::Unsaid => date(),
            Self::DateOrMilliseconds => date().or_else(|| whole(value)?.checked_mul(1_000_000)),
        }
    }

    /// What a number is too large for, and the unit in which it would be a date of our time.
    pub(super) fn too_large_for(self, value: &Value) -> Option<(Message, Option<&'static str>)> {
        let of = match self {
            Self::Seconds => message!("a time in seconds", "以秒表示的时间"),
            Self::Milliseconds | Self::DateOrMilliseconds => {
                message!("a time in milliseconds", "以毫秒表示的时间")
            }
            Self::Microseconds => message!("a time in microseconds", "以微秒表示的时间"),
            Self::Nanoseconds => message!("a time in nanoseconds", "以纳秒表示的时间"),
            Self::Date | Self::Unsaid => return None,
        };
        let digits = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let value = digits.parse::<f64>().ok()?;
        if !value.is_finite() || value < 0.0 || self.read_number(&digits).is_some() {
            return None;
        }
        let meant =
            [("ms", Self::Milliseconds), ("us", Self::Microseconds), ("ns", Self::Nanoseconds)];
        let is_it = |unit: Self| unit.read_number(&digits).is_some_and(is_present_day);
        let meant = meant.into_iter().find(|(_, unit)| is_it(*unit)).map(|(name, _)| name);
        Some((of, meant))
    }

    fn read_number(self, digits: &str) -> Option<u64> {
        let places = match self {
            Self::Seconds => 9,
            Self::Milliseconds | Self::DateOrMilliseconds => 6,
            Self::Microseconds => 3,
            Self::Nanoseconds => 0,
            Self::Date | Self::Unsaid => return None,
        };
        decimal(digits, places)
    }

    /// What a time looks like, for a message.
    pub(crate) fn such_as(self) -> Message {
        match self {
            Self::Seconds => {
                message!("a time in seconds such as 61.114", "以秒表示的时间（例如 61.114）")
            }
            Self::Milliseconds => {
                message!("a time in milliseconds such as 27482", "以毫秒表示的时间（例如 27482）")
            }
            Self::Microseconds => message!(
                "a time in microseconds such as 27482000",
                "以微秒表示的时间（例如 27482000）"
            ),
            Self::Nanoseconds => message!(
                "a time in nanoseconds such as 27482000000",
                "以纳秒表示的时间（例如 27482000000）"
            ),
            Self::Date => message!(
                "a date such as 2024-05-10 00:00:00.25, 2024-05-10T00:00:00Z, 2024/05/10 00:00:00 \
                 +02:00 or 20240510T000000Z",
                "日期（例如 2024-05-10 00:00:00.25、2024-05-10T00:00:00Z、2024/05/10 00:00:00 +02:00 或 \
                 20240510T000000Z）"
            ),
            Self::DateOrMilliseconds => message!(
                "a time such as 2024-05-10 00:00:00.009930+00:00 or 27482 whole milliseconds",
                "时间（例如 2024-05-10 00:00:00.009930+00:00，或整数毫秒 27482）"
            ),
            Self::Unsaid => message!(
                "a date such as 2024-05-10 00:00:00; for a number add unit=s, unit=ms, unit=us or \
                 unit=ns",
                "日期（例如 2024-05-10 00:00:00）；数字请加 unit=s、unit=ms、unit=us 或 unit=ns"
            ),
        }
    }
}

/// A whole number or its text.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64(),
    }
}

/// Whether a time, as nanoseconds since 1970, is a date from 2010 to 2039: numbers that are meant as
/// dates are.
pub(super) fn is_present_day(nanos: u64) -> bool {
    const YEAR: u64 = 31_556_952 * SECOND;
    (40 * YEAR..70 * YEAR).contains(&nanos)
}

/// Whether a time that could be read is a date.
pub(super) fn is_date(text: &str) -> bool {
    text.contains([':', 'T', 't'])
}

/// Whether a date that could be read says in which zone it is.
pub(super) fn names_zone(text: &str) -> bool {
    let time = text.trim().split_once([' ', 'T', 't']).map_or("", |(_, time)| time);
    time.contains(['+', '-', 'Z', 'z', 'U', 'G'])
}

/// A date and a time of day, such as `2023-11-16 18:17:03.9799600`, `2023/11/16 18:17:03,979 UTC`,
/// `2024-05-10T00:00:00.009930+00:00` or `20240510T000000Z`, as nanoseconds since 1970. Without an
/// offset it is taken for UTC. Digits below a nanosecond are left out.
pub(super) fn date_time(text: &str) -> Option<u64> {
    let (date, time) = text.trim().split_once([' ', 'T', 't'])?;
    let (time, offset) = match time.find(['+', '-', 'Z', 'z', 'U', 'G']) {
        Some(at) => (&time[..at], offset(&time[at..])?),
        None => (time, Offset::UTC),
    };
    let time = time.trim_end();
    let dashed;
    let (date, time) = match date.len() {
        8 if date.is_ascii() && time.is_ascii() && time.len() >= 6 && !time.contains(':') => {
            dashed = format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]);
            (format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..]), dashed.as_str())
        }
        // One kind of separator, not both.
        _ if date.contains('/') && !date.contains('-') => (date.replace('/', "-"), time),
        _ => (date.to_owned(), time),
    };
    // Seconds are read apart: they may have more digits than a clock, and a sixtieth is a leap
    // second.
    let (time, nanos) = match time.match_indices(':').nth(1) {
        Some((at, _)) => {
            let seconds = time[at + 1..].replacen(',', ".", 1);
            (&time[..at], decimal(&seconds, 9).filter(|n| *n < 61 * SECOND)?)
        }
        None => (time, 0),
    };
    let minute = DateTime::strptime("%Y-%m-%d %H:%M", format!("{date} {time}")).ok()?;
    let minute = offset.to_timestamp(minute).ok()?.as_nanosecond();
    u64::try_from(minute).ok()?.checked_add(nanos)
}

/// `Z`, `UTC`, `GMT`, `+00:00`, `-0730` or `+02`.
fn offset(text: &str) -> Option<Offset> {
    if ["z", "utc", "gmt"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
        return Some(Offset::UTC);
    }
    ["%:::z", "%z"]
        .iter()
        .find_map(|format| BrokenDownTime::parse(format, text).ok()?.offset())
        .filter(|offset| offset.seconds().abs() < 86_400)
}

/// A number or its text, in units of which there are 10^`places` nanoseconds: 9 for seconds,
/// 6 for milliseconds.
pub(super) fn number(value: &Value, places: u32) -> Option<u64> {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(whole) => whole.checked_mul(10_u64.pow(places)),
            None => decimal(&number.to_string(), places),
        },
        Value::String(text) => decimal(text.trim(), places),
        _ => None,
    }
}

/// `12`, `12.5` or `1.25e+2`, times 10^`places`; digits beyond those are left out.
fn decimal(text: &str, places: u32) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) {
        return scientific(text, places);
    }
    let scale = 10_u64.pow(places);
    let kept = &fraction[..fraction.len().min(places as usize)];
    let part = match kept {
        "" => 0,
        kept => kept.parse::<u64>().ok()? * 10_u64.pow(places - kept.len() as u32),
    };
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)
}

fn scientific(text: &str, places: u32) -> Option<u64> {
    let written = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['e', 'E']);
    let value = text.parse::<f64>().ok().filter(|_| written)?;
    let scaled = (value * 10_f64.powi(places as i32)).round();
    (0.0..u64::MAX as f64).contains(&scaled).then_some(scaled as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_as_the_public_traces_write_them() {
        // 2023-11-16 is day 19,677 of the epoch.
        let day = 19_677 * 86_400 * SECOND;
        let at = |hour: u64, minute: u64, second: u64| (hour * 60 + minute) * 60 + second;
        let evening = day + at(18, 17, 3) * SECOND;
        for (text, nanos) in [
            ("2023-11-16 18:17:03.9799600", evening + 979_960_000),
            ("2023-11-16T18:17:03.9799600Z", evening + 979_960_000),
            ("2023-11-16 18:17:03", evening),
            ("2023-11-16 18:17:03.123456789123", evening + 123_456_789),
            ("2023-11-16 18:17:03.000000001+00:00", evening + 1),
            ("2023-11-16 20:17:03+02:00", evening),
            ("2023-11-16 10:47:03.5-0730", evening + SECOND / 2),
            ("2023-11-16 18:17", evening - 3 * SECOND),
            ("2023/11/16 18:17:03", evening),
            ("2023-11-16 18:17:03,250", evening + SECOND / 4),
            ("2023-11-16 18:17:03.5 UTC", evening + SECOND / 2),
            ("2023/11/16 20:17:03,5 +02:00", evening + SECOND / 2),
            ("20231116T181703Z", evening),
            ("20231116T181703.250+0000", evening + SECOND / 4),
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 00:00:00", 11_016 * 86_400 * SECOND),
            ("2024-05-10 00:00:00.009930+00:00", 19_853 * 86_400 * SECOND + 9_930_000),
        ] {
            assert_eq!(date_time(text), Some(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "yesterday",
            "2023-11-16",
            "2023-13-01 00:00:00",
            "2023-02-29 00:00:00",
            "1900-01-01 00:00:00",
            "1969-12-31 23:59:59",
            "1970-01-01 00:00:00+01:00",
            "2023-11-16 24:00:00",
            "2023-11-16 18:60:00",
            "2023-11-16 18:17:61",
            "2023-11-16 18:17:03.5.5",
            "2023-11-16 18:17:03+25:00",
            "2023-11-16 18:17:03 +é",
            "16/11/2023 18:17:03",
            "11/16/2023 18:17:03",
            "2023/11-16 18:17:03",
            "2023-11-16 18:17:03,5,5",
            "2023-11-16 18:17:03 UTC+2",
            "20231116T1817",
            "20231316T181703Z",
            "2023-11-16 -1:17:03",
            "99999-11-16 18:17:03",
            "2023-11-16 18:17:99999999999999999999",
        ] {
            assert_eq!(date_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_too_large_for_its_unit_is_told_with_the_unit_it_may_be_in() {
        let said = |(of, unit): (Message, _)| (of.to_string(), unit);
        let too_large =
            |unit: Unit, text: &str| unit.too_large_for(&Value::String(text.into())).map(said);
        let ms = |unit| Some(("a time in milliseconds".to_owned(), unit));
        let micros = "1770109200000000";
        assert_eq!(too_large(Unit::Milliseconds, micros), ms(Some("us")));
        assert_eq!(too_large(Unit::DateOrMilliseconds, micros), ms(Some("us")));
        let nanos = serde_json::json!(1_770_109_200_000_000_000_u64);
        assert_eq!(Unit::Milliseconds.too_large_for(&nanos).map(said), ms(Some("ns")));
        let seconds = too_large(Unit::Seconds, "1770109200000.5");
        assert_eq!(seconds, Some(("a time in seconds".to_owned(), Some("ms"))));
        let never = too_large(Unit::Milliseconds, "99999999999999999999999");
        assert_eq!(never, ms(None));
        for fits in ["1770109200000", "-5", "nan", "soon", "2026-02-03 09:00:00"] {
            assert_eq!(too_large(Unit::Milliseconds, fits), None, "{fits}");
        }
        assert_eq!(too_large(Unit::Date, micros), None);
    }

    #[test]
    fn numbers_keep_every_nanosecond() {
        let seconds = |text: &str| number(&Value::String(text.into()), 9);
        assert_eq!(seconds("19440110.0"), Some(19_440_110 * SECOND));
        assert_eq!(seconds(" 5 "), Some(5 * SECOND));
        assert_eq!(seconds("1700000000.123456789"), Some(1_700_000_000_123_456_789));
        assert_eq!(seconds("1.5e+2"), Some(150 * SECOND));
        for wrong in ["-1", "", "nan", "inf", "1e400", "1,5", "0x10", "99999999999999999999"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(number(&serde_json::json!(27_482), 6), Some(27_482_000_000));
        assert_eq!(number(&serde_json::json!(61.114), 9), Some(61_114_000_000));
        assert_eq!(number(&serde_json::json!(-3), 6), None);
        assert_eq!(number(&serde_json::json!(1e300), 6), None);
        assert_eq!(number(&serde_json::json!(u64::MAX), 6), None);
        assert_eq!(number(&serde_json::json!([1]), 6), None);
    }

    proptest! {
        #[test]
        fn each_day_is_one_after_the_day_before(day in 0_u64..190_000) {
            // Counted by hand from the first of January 1970 on.
            let (mut year, mut left) = (1970_u64, day);
            let four = |year: u64| year.is_multiple_of(4) && !matches!(year, 2100 | 2200 | 2300 | 2500);
            let long = |year: u64| if four(year) { 366 } else { 365 };
            while left >= long(year) {
                left -= long(year);
                year += 1;
            }
            let mut month = 1;
            loop {
                let length = match month {
                    2 => long(year) - 337,
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                if left < length {
                    break;
                }
                left -= length;
                month += 1;
            }
            let text = format!("{year}-{month:02}-{:02} 00:00", left + 1);
            prop_assert_eq!(date_time(&text), Some(day * 86_400 * SECOND));
        }

        #[test]
        fn any_text_is_a_time_or_none(text in "\\PC{0,40}") {
            let _ = (date_time(&text), number(&Value::String(text), 9));
        }

        #[test]
        fn texts_like_times_are_a_time_or_none(text in "[0-9]{1,5}-[0-9]{1,3}-[0-9é]{1,3}[ T][0-9:.eE+Zz-]{0,24}") {
            let _ = (date_time(&text), number(&Value::String(text), 6));
        }
    }
}
