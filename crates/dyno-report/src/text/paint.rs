//! Colour, where it is enabled.

use super::TextOptions;
use dyno_model::{Decision, Verdict};

fn paint(text: &str, code: &str, options: &TextOptions) -> String {
    if options.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Values that should not be trusted: struck through and dimmed.
pub(super) fn struck(text: &str, options: &TextOptions) -> String {
    paint(text, "2;9", options)
}

/// A verdict in its colour.
pub(super) fn verdict(verdict: Verdict, options: &TextOptions) -> String {
    let code = match verdict {
        Verdict::Valid => "32",
        Verdict::Unjudged => "36",
        Verdict::Suspect => "33",
        Verdict::Invalid => "1;31",
    };
    paint(verdict.name(options.language), code, options)
}

/// The outcome of an SLO, in the colours of verdicts.
pub(super) fn outcome(text: &str, outcome: Decision, options: &TextOptions) -> String {
    let code = match outcome {
        Decision::Met => "32",
        Decision::Missed => "1;31",
        Decision::Inconclusive => "33",
    };
    paint(text, code, options)
}

/// A heading.
pub(super) fn heading(text: &str, options: &TextOptions) -> String {
    paint(text, "1", options)
}
