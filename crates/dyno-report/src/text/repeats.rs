//! Rounds of the same level, a line each: the mean, and how far rounds lie apart.

use super::TextOptions;
use super::layout::{ABSENT, cut_middle, number, width, wrap};
use crate::escape::escape;
use crate::summary::{Repeated, Spread};

const LABEL: usize = 22;

/// A small table; nothing where no level was repeated.
pub(super) fn repeats(repeated: &[Repeated], options: &TextOptions) -> String {
    if repeated.is_empty() {
        return String::new();
    }
    let about = "mean of the rounds, and the standard deviation between them in percent";
    let mut out = format!("\n{}", wrap("Repeats: ", about, options.width));
    out.push_str(&line(
        "",
        "rounds",
        ["req/s", "out tok/s", "TTFT p50 ms", "ITL p50 ms"].map(str::to_owned),
    ));
    for level in repeated {
        let label = cut_middle(&escape(&level.label, 80), LABEL);
        let cells =
            [level.requests_per_s, level.output_tokens_per_s, level.ttft_p50_ms, level.itl_p50_ms];
        out.push_str(&line(&label, &level.rounds.to_string(), cells.map(cell)));
    }
    out
}

fn line(label: &str, rounds: &str, [a, b, c, d]: [String; 4]) -> String {
    let pad = " ".repeat(LABEL.saturating_sub(width(label)));
    let line = format!("  {label}{pad} {rounds:>6} {a:>11} {b:>11} {c:>12} {d:>11}");
    format!("{}\n", line.trim_end())
}

fn cell(spread: Option<Spread>) -> String {
    spread.map_or_else(
        || ABSENT.to_owned(),
        |spread| format!("{} ±{:.1}%", number(spread.mean), spread.deviation_percent),
    )
}
