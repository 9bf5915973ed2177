//! How long a server that refuses a request asks to wait: `Retry-After` as seconds or as a date, and
//! `retry-after-ms`, which some send as well because it is finer.

use super::ResponseHead;
use dyno_model::when::parse_http_date;
use dyno_model::{MS, Nanos, SEC};

/// The longest time that is kept as it was stated; how long to wait is decided by who waits.
const LONGEST_S: f64 = 1e9;

impl ResponseHead {
    /// The delay that the server asks for; absent where it does not, or what it says is not a time.
    pub fn retry_after(&self) -> Option<Nanos> {
        self.delay("retry-after-ms", MS).or_else(|| self.delay("retry-after", SEC)).or_else(|| {
            let until = parse_http_date(self.header("retry-after")?)?;
            // The server's own clock: nobody knows how far ours is from it.
            let now = parse_http_date(self.header("date")?)?;
            Some(until.saturating_sub(now).min(LONGEST_S as u64) * SEC)
        })
    }

    fn delay(&self, name: &str, unit: Nanos) -> Option<Nanos> {
        let count: f64 = self.header(name)?.trim().parse().ok()?;
        let seconds = count * (unit as f64 / SEC as f64);
        let known = seconds.is_finite() && seconds >= 0.0;
        known.then(|| (seconds.min(LONGEST_S) * SEC as f64) as Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(headers: &str) -> Option<f64> {
        let bytes = format!("HTTP/1.1 429 Too Many Requests\r\n{headers}\r\n");
        let (head, _) = ResponseHead::parse(bytes.as_bytes()).unwrap().unwrap();
        head.retry_after().map(|delay| delay as f64 / SEC as f64)
    }

    #[test]
    fn seconds_milliseconds_and_dates() {
        assert_eq!(stated("Retry-After: 3\r\n"), Some(3.0));
        assert_eq!(stated("retry-after: 0.25 \r\n"), Some(0.25));
        assert_eq!(stated("retry-after: 2\r\nretry-after-ms: 1500\r\n"), Some(1.5));
        let date = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
        assert_eq!(stated(&format!("{date}Date: Sun, 06 Nov 1994 08:49:30 GMT\r\n")), Some(7.0));
        // In the past: at once.
        assert_eq!(stated(&format!("{date}Date: Sun, 06 Nov 1994 08:50:00 GMT\r\n")), Some(0.0));
        assert_eq!(stated(date), None, "without the server's clock it says nothing");
    }

    #[test]
    fn what_is_not_a_time_is_absent_and_what_is_absurd_is_bounded() {
        for text in ["", "soon", "-3", "NaN", "inf", "1e999"] {
            assert_eq!(stated(&format!("Retry-After: {text}\r\n")), None, "{text}");
        }
        assert_eq!(stated(""), None);
        assert_eq!(stated("Retry-After: 1e300\r\n"), Some(1e9));
    }
}
