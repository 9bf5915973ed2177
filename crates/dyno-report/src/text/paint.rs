//! Colour, where it is wanted.

use super::TextOptions;
use crate::verdict::Verdict;

fn paint(text: &str, code: &str, options: &TextOptions) -> String {
    if options.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A verdict in its colour.
pub(super) fn verdict(verdict: Verdict, options: &TextOptions) -> String {
    let code = match verdict {
        Verdict::Valid => "32",
        Verdict::Suspect => "33",
        Verdict::Invalid => "1;31",
    };
    paint(&verdict.to_string(), code, options)
}

/// A heading.
pub(super) fn heading(text: &str, options: &TextOptions) -> String {
    paint(text, "1", options)
}
