//! Counts and durations in readable form.

use dyno_model::{MS, Message, Nanos, SEC, message};

/// A count with its digits in groups of three: `1,000`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 request`, `1,000 requests`.
pub(crate) fn requests(count: u64) -> Message {
    match count {
        1 => message!("1 request", "1 个请求"),
        _ => message!("{} requests", "{} 个请求", grouped(count)),
    }
}

/// `1 session`, `1,000 sessions`.
pub(crate) fn sessions(count: u64) -> Message {
    match count {
        1 => message!("1 session", "1 个会话"),
        _ => message!("{} sessions", "{} 个会话", grouped(count)),
    }
}

/// A duration in its two largest units: `9 min 58 s`. Below a minute it has a fraction.
pub(crate) fn spoken(nanos: Nanos) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let two = |seconds: u64, large: u64, name: &str, small: u64, other: &str| match (
        seconds / large,
        seconds % large / small,
    ) {
        (whole, 0) => format!("{} {name}", grouped(whole)),
        (whole, rest) => format!("{} {name} {rest} {other}", grouped(whole)),
    };
    let fraction = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    // Rounded first, so that 59.9996 s are a minute.
    match nanos.saturating_add(SEC / 2) / SEC {
        _ if nanos == 0 => "0 s".to_owned(),
        _ if nanos < MS => format!("{} ms", nanos as f64 / MS as f64),
        _ if nanos < SEC => format!("{} ms", fraction(nanos as f64 / MS as f64)),
        _ if nanos < MINUTE * SEC - MS => format!("{} s", fraction(nanos as f64 / SEC as f64)),
        seconds if seconds < HOUR => two(seconds, MINUTE, "min", 1, "s"),
        seconds if seconds < DAY => two(seconds, HOUR, "h", MINUTE, "min"),
        seconds => two(seconds, DAY, "d", HOUR, "h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_durations_are_said_as_people_do() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(requests(1_234_567).to_string(), "1,234,567 requests");
        assert_eq!(requests(1).to_string(), "1 request");
        for (nanos, said) in [
            (0, "0 s"),
            (1_500, "0.0015 ms"),
            (250 * MS, "250 ms"),
            (12 * SEC + 300 * MS, "12.3 s"),
            (60 * SEC - 1, "1 min"),
            (598 * SEC, "9 min 58 s"),
            (7_500 * SEC, "2 h 5 min"),
            (6 * 86_400 * SEC + 23 * 3_600 * SEC, "6 d 23 h"),
        ] {
            assert_eq!(spoken(nanos), said);
        }
        assert!(spoken(Nanos::MAX).ends_with(" h"));
    }
}
