//! Cells: numbers with a fixed number of decimals or the sign of absence, and untrusted text escaped
//! for the place where it is shown.

use super::remarks::LONGEST;
use crate::text::ABSENT;
pub(super) use crate::text::whole;
use dyno_model::summary::Distribution;
use dyno_words::escape::escape;

/// A number with so many decimals, or [`ABSENT`].
pub(super) fn fixed(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.decimals$}"))
}

/// A number with its unit, or [`ABSENT`] alone.
pub(super) fn with_unit(value: Option<f64>, decimals: usize, unit: &str) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| format!("{value:.decimals$} {unit}"))
}

/// The mean of a distribution.
pub(super) fn mean(of: &Option<Distribution>) -> Option<f64> {
    of.as_ref().and_then(|of| of.mean)
}

/// Milliseconds as seconds.
pub(super) fn seconds(millis: Option<f64>) -> Option<f64> {
    millis.map(|millis| millis / 1e3)
}

/// Untrusted text on its own line.
pub(super) fn plain(text: &str) -> String {
    escape(text, LONGEST)
}

/// Untrusted text within Markdown: nothing in it is markup, and it cannot end a cell.
pub fn markdown(text: &str) -> String {
    let mut shown = String::new();
    for c in plain(text).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '~' | '[' | ']' | '#' | '$' | '!' => {
                shown.extend(['\\', c]);
            }
            c => shown.push(c),
        }
    }
    shown
}

/// A row of a Markdown table.
pub(super) fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(
            markdown("a|b <script>alert(1)</script>\n模型 🚀"),
            "a\\|b &lt;script&gt;alert(1)&lt;/script&gt;\\\\n模型 🚀"
        );
        assert_eq!(
            markdown("![x](y) `z` **b** ~~c~~"),
            "\\!\\[x\\](y) \\`z\\` \\*\\*b\\*\\* \\~\\~c\\~\\~"
        );
    }

    #[test]
    fn an_absent_value_is_not_zero() {
        assert_eq!(fixed(None, 2), "–");
        assert_eq!(fixed(Some(0.0), 2), "0.00");
        assert_eq!(with_unit(None, 2, "sec"), "–");
        assert_eq!(whole(None), "–");
    }

    proptest! {
        #[test]
        fn a_name_never_ends_its_cell(text in any::<String>()) {
            let shown = markdown(&text);
            prop_assert!(shown.chars().all(|c| !c.is_control() && c != '<' && c != '>'));
            let bytes: Vec<char> = shown.chars().collect();
            let mut escaped = false;
            for c in bytes {
                prop_assert!(c != '|' || escaped, "{shown}");
                escaped = c == '\\' && !escaped;
            }
        }
    }
}
