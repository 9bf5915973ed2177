//! Wall-clock time for people: UTC in ISO 8601, to the second.

/// Nanoseconds since 1970 as `2026-01-31T12:34:56Z`.
pub(crate) fn utc(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The Gregorian date so many days after 1970-01-01, counted in 400-year eras that begin on
/// the first of March.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let civil = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(civil <= 2), civil, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400 * 1_000_000_000), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_767_225_599_999_999_999), "2025-12-31T23:59:59Z");
        assert_eq!(utc(1_772_323_200 * 1_000_000_000), "2026-03-01T00:00:00Z");
    }
}
