//! Wall-clock time as Dyno writes it: UTC, to the second.

use jiff::Timestamp;
use std::time::Duration;

/// Nanoseconds since 1970 for people, in ISO 8601: `2026-01-31T12:34:56Z`.
pub fn utc(unix_ns: u64) -> String {
    written(unix_ns, "%Y-%m-%dT%H:%M:%SZ")
}

/// Nanoseconds since 1970 for the names of files: `20261115T041500Z`.
pub fn compact(unix_ns: u64) -> String {
    written(unix_ns, "%Y%m%dT%H%M%SZ")
}

/// Reads a date (`2026-01-31`, midnight UTC) or a time ([`utc`], also with another offset), as
/// nanoseconds since 1970.
pub fn parse_utc(text: &str) -> Option<u64> {
    let text = text.trim();
    let time: Timestamp = text.parse().or_else(|_| format!("{text}T00:00:00Z").parse()).ok()?;
    u64::try_from(time.as_nanosecond()).ok()
}

/// Reads the date of an HTTP header (`Sun, 06 Nov 1994 08:49:37 GMT`), as seconds since 1970.
pub fn parse_http_date(text: &str) -> Option<u64> {
    let time = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    u64::try_from(time.as_second()).ok()
}

fn written(unix_ns: u64, format: &str) -> String {
    // The last nanosecond of a `u64` is in 2554; the calendar ends in 9999.
    (Timestamp::UNIX_EPOCH + Duration::from_nanos(unix_ns)).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEC;

    #[test]
    fn known_moments() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400 * SEC), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_767_225_599_999_999_999), "2025-12-31T23:59:59Z");
        assert_eq!(utc(1_772_323_200 * SEC), "2026-03-01T00:00:00Z");
        assert_eq!(utc(u64::MAX), "2554-07-21T23:34:33Z");
    }

    #[test]
    fn dates_and_times_are_read() {
        assert_eq!(parse_utc("2000-02-29"), Some(951_782_400 * SEC));
        assert_eq!(parse_utc(" 2000-02-29T00:00:01Z "), Some(951_782_401 * SEC));
        assert_eq!(parse_utc("2000-02-29T01:00:00+01:00"), Some(951_782_400 * SEC));
        for text in ["", "2000", "2001-02-29", "yesterday", "1960-01-01"] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
    }

    #[test]
    fn dates_of_http() {
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse_http_date(" Thu, 01 Jan 1970 00:00:05 GMT"), Some(5));
        for text in ["", "120", "Sun Nov  6 08:49:37 1994", "Wed, 31 Dec 1969 23:59:59 GMT"] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
    }

    #[test]
    fn times_in_names() {
        assert_eq!(compact(0), "19700101T000000Z");
        assert_eq!(compact(951_827_696 * SEC), "20000229T123456Z");
        assert_eq!(compact(1_794_717_000 * SEC), "20261115T043000Z");
    }
}
