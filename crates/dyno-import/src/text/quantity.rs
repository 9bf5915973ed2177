//! Numbers as people write them, with their units: `1,234.5`, `13.67sec`, `901.59  tokens/sec`.

/// The contents of a cell for a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Empty, or a sign of absence.
    Absent,
    /// A number.
    Number(Quantity<'a>),
    /// Something else.
    Other,
}

/// A number and the unit after it, which may be empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity<'a> {
    pub(crate) value: f64,
    pub(crate) unit: &'a str,
    /// Digits after the point.
    pub(crate) decimals: usize,
}

/// What a value measures, and its default unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A time, in seconds by default.
    Seconds,
    /// A time, in milliseconds by default.
    Millis,
    /// Requests per second.
    RequestRate,
    /// Tokens per second.
    TokenRate,
    /// A count or a mean of counts.
    Plain,
}

const ABSENT: [&str; 12] =
    ["", "-", "--", "–", "—", "n/a", "na", "nan", "none", "null", "not set", "/"];

/// Reads the contents of a cell, or the text after a colon.
pub(crate) fn cell(text: &str) -> Cell<'_> {
    let text = text.trim().trim_matches(['*', '`']).trim();
    if ABSENT.contains(&text.to_ascii_lowercase().as_str()) {
        return Cell::Absent;
    }
    match quantity(text) {
        Some(quantity) => Cell::Number(quantity),
        None => Cell::Other,
    }
}

/// A number that is not negative, and what follows it.
pub(crate) fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let whole =
        text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',').len();
    let (digits, rest) = text.split_at(whole);
    let digits = ungrouped(digits)?;
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            rest.split_at(end)
        }
        None => ("", rest),
    };
    if digits.is_empty() && fraction.is_empty() {
        return None;
    }
    let (exponent, unit) = exponent(rest);
    let unit = unit.trim();
    // `1.2.3` and `5,6` are not numbers with a unit.
    if unit.starts_with(['.', ',', '-', '+']) || unit.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value: f64 = format!("{digits}.{fraction}e{exponent}").parse().ok()?;
    value.is_finite().then_some(Quantity { value, unit, decimals: fraction.len() })
}

/// Digits without thousands separators, which must be in the right places.
fn ungrouped(digits: &str) -> Option<String> {
    let mut groups = digits.split(',');
    let first = groups.next().unwrap_or_default();
    let grouped = digits.contains(',');
    let fits = groups.all(|group| group.len() == 3) && (1..=3).contains(&first.len());
    (!grouped || fits).then(|| digits.replace(',', ""))
}

/// A power of ten, and what follows it.
fn exponent(text: &str) -> (i32, &str) {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return (0, text) };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let end = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let sign = rest.len() - digits.len();
    match rest.get(..sign + end).and_then(|number| number.parse().ok()) {
        Some(power) => (power, rest.get(sign + end..).unwrap_or_default()),
        None => (0, text),
    }
}

impl Measure {
    /// The measure that a unit belongs to, with its size in milliseconds or per second.
    fn of_unit(unit: &str) -> Option<(Self, f64)> {
        let unit: String = unit.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        Some(match unit.as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" | "秒" => (Self::Seconds, 1e3),
            "ms" | "msec" | "millisecond" | "milliseconds" | "毫秒" => (Self::Millis, 1.0),
            "us" | "µs" | "μs" | "microsecond" | "microseconds" | "微秒" => {
                (Self::Millis, 1e-3)
            }
            "min" | "mins" | "minute" | "minutes" | "分钟" => (Self::Seconds, 60e3),
            "req/s"
            | "req/sec"
            | "reqs/s"
            | "requests/s"
            | "requests/sec"
            | "request/s"
            | "rps"
            | "qps"
            | "requests per second"
            | "请求/秒" => (Self::RequestRate, 1.0),
            "tok/s" | "tok/sec" | "toks/s" | "token/s" | "token/sec" | "tokens/s"
            | "tokens/sec" | "output token/s" | "output tokens/s" | "tokens per second"
            | "token/秒" | "tokens/秒" => (Self::TokenRate, 1.0),
            "tokens" | "token" | "requests" | "request" | "reqs" | "req" | "个" | "次" => {
                (Self::Plain, 1.0)
            }
            _ => return None,
        })
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Seconds | Self::Millis)
    }

    /// A value in milliseconds, or per second, or unchanged. The unit after the number decides, then that
    /// of its name, then the tool's default. `None` where that unit does not fit.
    pub(crate) fn of(self, quantity: Quantity<'_>, name_unit: Option<&str>) -> Option<f64> {
        let stated = if quantity.unit.is_empty() { name_unit } else { Some(quantity.unit) };
        let factor = match stated {
            Some(unit) => {
                let (measure, factor) = Self::of_unit(unit)?;
                let fits = measure == self || (measure.is_time() && self.is_time());
                fits.then_some(factor)?
            }
            None if self == Self::Seconds => 1e3,
            None => 1.0,
        };
        Some(neat(quantity.value * factor))
    }
}

/// Ten digits, so that `3.213` seconds are 3213 milliseconds and not a little more.
pub(crate) fn neat(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// A name as it is compared: lower case, single spaces, without its unit, which comes second.
pub(crate) fn name(text: &str) -> (String, Option<&str>) {
    let text = text.trim().trim_matches(['*', '`']).trim().trim_end_matches([':', '：']).trim();
    let unit = text.strip_suffix([')', '）']).and_then(|open| {
        let at = open.rfind(['(', '（'])?;
        let inner = open.get(at..)?.trim_start_matches(['(', '（']).trim();
        Measure::of_unit(inner).map(|_| (at, inner))
    });
    let (bare, unit) = match unit {
        Some((at, unit)) => (text.get(..at).unwrap_or(text), Some(unit)),
        None => (text, None),
    };
    let words: Vec<&str> = bare.split_whitespace().collect();
    (words.join(" ").to_lowercase().replace(" (", "("), unit)
}

/// The measure of a unit in a name, where it says more than the name.
pub(crate) fn measure_of(unit: Option<&str>) -> Option<Measure> {
    unit.and_then(Measure::of_unit).map(|(measure, _)| measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        quantity(text).map(|quantity| quantity.value)
    }

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(value("1,234.5"), Some(1234.5));
        assert_eq!(value("12,345,678"), Some(12_345_678.0));
        assert_eq!(value(".5"), Some(0.5));
        assert_eq!(value("7."), Some(7.0));
        assert_eq!(value("1e-3"), Some(0.001));
        assert_eq!(quantity("13.67sec"), Some(Quantity { value: 13.67, unit: "sec", decimals: 2 }));
        assert_eq!(quantity("5 exa").map(|q| (q.value, q.unit)), Some((5.0, "exa")));
    }

    #[test]
    fn what_is_no_number_is_not_made_one() {
        for text in ["1,5", "1,23,4", "1.2.3", "-3", "1-2", ".", "abc", "1e999", "12,3456", ","] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_is_absent() {
        for text in ["", "  ", "–", "N/A", "nan", "**-**", "not set", "None"] {
            assert_eq!(cell(text), Cell::Absent, "{text}");
        }
        assert_eq!(cell("oops"), Cell::Other);
    }

    #[test]
    fn the_unit_behind_a_number_decides() {
        let of = |text: &str, unit| Measure::Millis.of(quantity(text).unwrap(), unit);
        assert_eq!(of("2.5", None), Some(2.5));
        assert_eq!(of("2.5", Some("s")), Some(2500.0));
        assert_eq!(of("2.5 ms", Some("s")), Some(2.5));
        assert_eq!(of("2.5 req/s", None), None);
        assert_eq!(of("2.5 parsec", None), None);
        assert_eq!(Measure::Seconds.of(quantity("3.213").unwrap(), None), Some(3213.0));
    }

    #[test]
    fn names_are_compared_without_units() {
        assert_eq!(name("Mean TTFT (ms):"), ("mean ttft".into(), Some("ms")));
        assert_eq!(name("Total Token throughput (tok/s):").0, "total token throughput");
        assert_eq!(
            name("Total generated tokens (retokenized):"),
            ("total generated tokens(retokenized)".into(), None)
        );
        assert_eq!(name("**延迟（秒）**"), ("延迟".into(), Some("秒")));
    }
}
