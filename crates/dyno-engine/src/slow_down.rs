//! An engine that gets slower over time, as `10%/min`: what a client sees of thermal throttling, a
//! noisy neighbour or a congested network.

use dyno_model::{Message, Nanos, message};
use std::fmt;
use std::str::FromStr;

/// Time units of a rate, and how many of each an hour has.
const UNITS: &[(&str, u64)] = &[("s", 3_600), ("min", 60), ("h", 1)];
const BILLION: f64 = 1e9;
/// The largest factor; an engine that is always busy would otherwise slow down exponentially.
const SLOWEST: f64 = 100.0;
/// The largest slow-down per second.
const STEEPEST: f64 = SLOWEST * 3_600.0;

/// Slows everything down in proportion to the time since the engine started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlowDown {
    /// Billionths an hour, so that rates by the second, minute and hour are whole numbers.
    billionths: u64,
}

impl SlowDown {
    /// Whether the engine keeps its speed.
    pub fn is_none(&self) -> bool {
        self.billionths == 0
    }

    /// The slow-down factor at `at` after the engine's start; at most 100.
    pub fn factor(&self, at: Nanos) -> f64 {
        (1.0 + self.billionths as f64 / BILLION * (at as f64 / 3.6e12)).min(SLOWEST)
    }

    /// `time`, slowed down by the factor at `at`.
    pub(crate) fn stretched(&self, time: Nanos, at: Nanos) -> Nanos {
        if self.is_none() { time } else { (time as f64 * self.factor(at)).round() as Nanos }
    }
}

impl FromStr for SlowDown {
    type Err = Message;

    fn from_str(text: &str) -> Result<Self, Message> {
        let wrong = || {
            message!(
                "`{text}` is not a slow-down rate; write a share per time, such as 10%/min, 1%/s or 50%/h",
                "`{text}` 不是变慢的速度；请写单位时间内的比例，例如 10%/min、1%/s 或 50%/h"
            )
        };
        if text.trim() == "0" {
            return Ok(Self::default());
        }
        let (share, unit) = text.split_once('/').ok_or_else(wrong)?;
        let share = share.trim().strip_suffix('%').ok_or_else(wrong)?.trim();
        let digits = |c: char| c.is_ascii_digit() || c == '.';
        let percent: f64 = share.parse().map_err(|_| wrong())?;
        let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(wrong)?;
        let per_hour = percent / 100.0 * unit.1 as f64;
        if !share.chars().all(digits) || per_hour > STEEPEST {
            return Err(wrong());
        }
        Ok(Self { billionths: (per_hour * BILLION).round() as u64 })
    }
}

impl fmt::Display for SlowDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("0");
        }
        let (unit, number) = match self.billionths.is_multiple_of(60) {
            true => ("min", 60),
            false => ("h", 1),
        };
        write!(f, "{}%/{unit}", (self.billionths / number) as f64 / 1e7)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::SEC;

    #[test]
    fn rates_are_read_and_printed_back() {
        for (text, printed) in [
            ("10%/min", "10%/min"),
            ("1%/s", "60%/min"),
            ("50%/h", "50%/h"),
            (" 2.5 % / h ", "2.5%/h"),
        ] {
            let read: SlowDown = text.parse().unwrap();
            assert_eq!(read.to_string(), printed);
            assert_eq!(printed.parse(), Ok(read));
        }
        assert!("0".parse::<SlowDown>().unwrap().is_none());
        assert_eq!(SlowDown::default().to_string(), "0");
    }

    #[test]
    fn nonsense_is_refused_with_what_would_be_right() {
        for text in ["", "10%", "10/min", "-1%/s", "x%/s", "10%/day", "NaN%/s", "inf%/s", "1e9%/s"]
        {
            let error = text.parse::<SlowDown>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("10%/min"), "{error}");
        }
    }

    #[test]
    fn it_grows_with_the_time_since_the_start() {
        let slow: SlowDown = "50%/min".parse().unwrap();
        assert_eq!(slow.factor(0), 1.0);
        assert_eq!(slow.factor(60 * SEC), 1.5);
        assert_eq!(slow.stretched(100, 120 * SEC), 200);
        assert_eq!(slow.factor(u64::MAX), 100.0);
        assert_eq!(SlowDown::default().stretched(u64::MAX, SEC), u64::MAX);
    }
}
