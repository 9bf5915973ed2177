//! Times as traces write them, as nanoseconds: dates with a time of day, and plain numbers.

use serde_json::Value;

const SECOND: u64 = 1_000_000_000;

/// A date and a time of day, such as `2023-11-16 18:17:03.9799600` or
/// `2024-05-10T00:00:00.009930+00:00`, as nanoseconds since 1970. Without an offset it is taken
/// for UTC: only differences count. Digits below a nanosecond are left out.
pub(super) fn date_time(text: &str) -> Option<u64> {
    let text = text.trim();
    let (date, time) = text.split_once([' ', 'T', 't'])?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 {
        return None;
    }
    let days = days(digits(year)?, digits(month)?, digits(day)?)?;

    let (time, offset) = match time.find(['+', '-', 'Z', 'z']) {
        Some(at) => (&time[..at], offset(&time[at..])?),
        None => (time, 0),
    };
    let mut parts = time.trim_end().split(':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let seconds = parts.next().unwrap_or("0");
    if parts.next().is_some() || hour > 23 || minute > 59 || seconds.is_empty() {
        return None;
    }
    let nanos = decimal(seconds, 9)?;
    // A leap second is the sixtieth.
    if nanos >= 61 * SECOND {
        return None;
    }
    let local = (days * 86_400 + hour * 3_600 + minute * 60).checked_mul(SECOND)? + nanos;
    local.checked_add_signed(-offset)
}

/// `Z`, `+00:00`, `-0730` or `+02`, in nanoseconds.
fn offset(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, text) = (if text.starts_with('-') { -1 } else { 1 }, text.get(1..)?);
    let (hours, minutes) = match (text.split_once(':'), text.len()) {
        (Some(parts), _) => parts,
        (None, 2) => (text, "0"),
        (None, 4) => (text.get(..2)?, text.get(2..)?),
        (None, _) => return None,
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let seconds = i64::try_from(hours * 3_600 + minutes * 60).ok()?;
    (hours < 24 && minutes < 60).then_some(sign * seconds * SECOND as i64)
}

/// Days from 1970 to a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let leaps_before = |year: u64| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    const BEFORE: [u64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    // The clock holds nanoseconds until 2554.
    if !(1970..=2500).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let index = month as usize;
    let extra = u64::from(leap(year));
    let long = BEFORE[index] - BEFORE[index - 1] + if month == 2 { extra } else { 0 };
    if !(1..=long).contains(&day) {
        return None;
    }
    let before = BEFORE[index - 1] + if month > 2 { extra } else { 0 };
    Some((year - 1970) * 365 + leaps_before(year) - leaps_before(1970) + before + day - 1)
}

/// A number that was written with up to nine digits and nothing else.
fn digits(text: &str) -> Option<u64> {
    let plain = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
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
            "2023-11-16 -1:17:03",
            "99999-11-16 18:17:03",
            "2023-11-16 18:17:99999999999999999999",
        ] {
            assert_eq!(date_time(text), None, "{text}");
        }
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
            prop_assert_eq!(days(year, month, left + 1), Some(day));
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
