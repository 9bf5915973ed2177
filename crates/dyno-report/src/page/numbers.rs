//! Numbers as the page shows them: about three digits, with a comma between thousands. The script's
//! `show` follows the same rule.

use crate::text::{ABSENT, number};

/// About three significant digits.
pub(super) fn grouped(value: f64) -> String {
    separated(&number(value))
}

/// [`grouped`], or [`ABSENT`].
pub(super) fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), grouped)
}

/// A whole number.
pub(super) fn counted(count: u64) -> String {
    separated(&count.to_string())
}

/// [`counted`], or [`ABSENT`].
pub(super) fn counted_or_absent(count: Option<u64>) -> String {
    count.map_or_else(|| ABSENT.to_owned(), counted)
}

/// A share in percent, or [`ABSENT`].
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| ABSENT.to_owned(), |share| format!("{} %", grouped(share * 100.0)))
}

/// Commas between the thousands of every number in a text, such as `1250 … 1300 ms`. Digits after a
/// decimal point and parts of words are left alone.
pub(super) fn separated_in(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        out.push_str(before);
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '_');
        match out.ends_with(inside) || after.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            true => out.push_str(digits),
            false => out.push_str(&separated(digits)),
        }
        rest = after;
    }
    out + rest
}

fn separated(plain: &str) -> String {
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_owned();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(grouped(999.0), "999");
        assert_eq!(grouped(1234.0), "1,234");
        assert_eq!(grouped(12345.4), "12,345");
        assert_eq!(grouped(-1234567.0), "-1,234,567");
        assert_eq!(grouped(0.123), "0.12");
        assert_eq!(counted(1000), "1,000");
        assert_eq!(shown(None), ABSENT);
        assert_eq!(percent(Some(0.125)), "12.5 %");
    }

    #[test]
    fn numbers_in_a_text_are_separated() {
        let cases = [
            ("≈1250", "≈1,250"),
            ("+1250.5 … +13000.2 %", "+1,250.5 … +13,000.2 %"),
            ("0.12345", "0.12345"),
            ("c1024 a1024b 2048x", "c1024 a1024b 2048x"),
            ("1,250", "1,250"),
            ("no difference larger than 3.0 %", "no difference larger than 3.0 %"),
        ];
        for (plain, separated) in cases {
            assert_eq!(separated_in(plain), separated);
        }
    }
}
