//! Rounds of the same level, a line each: the mean, and how far rounds lie apart.

use super::TextOptions;
use crate::messages::Say;
use dyno_model::summary::{Repeated, Spread};
use dyno_words::columns::{ABSENT, cut_middle, left, number, right, wrap};
use dyno_words::escape::escape;

const LABEL: usize = 22;

/// A small table; nothing where no level was repeated.
pub(super) fn repeats(repeated: &[Repeated], options: &TextOptions) -> String {
    if repeated.is_empty() {
        return String::new();
    }
    let say = |say: Say| say.text(options.language);
    let (name, about) = (say(Say::Repeats), say(Say::RepeatsAbout));
    let mut out = format!("\n{}", wrap(name, about, options.width));
    let heads = [Say::RequestRate, Say::OutputRate, Say::TtftP50, Say::ItlP50];
    out.push_str(&line("", say(Say::Rounds), heads.map(|head| say(head).to_owned())));
    for level in repeated {
        let label = cut_middle(&escape(&level.label, 80), LABEL);
        let cells =
            [level.requests_per_s, level.output_tokens_per_s, level.ttft_p50_ms, level.itl_p50_ms];
        out.push_str(&line(&label, &level.rounds.to_string(), cells.map(cell)));
    }
    out
}

fn line(label: &str, rounds: &str, [a, b, c, d]: [String; 4]) -> String {
    let mut line = format!("  {} {}", left(label, LABEL), right(rounds, 6));
    for (cell, columns) in [(a, 11), (b, 11), (c, 12), (d, 11)] {
        line.push_str(&format!(" {}", right(&cell, columns)));
    }
    format!("{}\n", line.trim_end())
}

fn cell(spread: Option<Spread>) -> String {
    spread.map_or_else(
        || ABSENT.to_owned(),
        |spread| format!("{} ±{:.1}%", number(spread.mean), spread.deviation_percent),
    )
}
