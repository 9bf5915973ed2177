//! Rounds of the same level, a line each: the mean, and the spread between rounds.

use super::TextOptions;
use super::grid::{Column, small};
use crate::messages::Say;
use dyno_model::summary::{Repeated, Spread};
use dyno_words::columns::{ABSENT, cut_middle, number, wrap};
use dyno_words::escape::escape;

const LABEL: usize = 22;

/// A small table; nothing where no level was repeated.
pub(super) fn repeats(repeated: &[Repeated], options: &TextOptions) -> String {
    if repeated.is_empty() {
        return String::new();
    }
    let say = |say: Say| say.text(options.language);
    let column = |head: Say, rank: u8, cell: fn(&Repeated) -> String| {
        let cells = repeated.iter().map(cell).collect();
        Column { group: String::new(), head: say(head).to_owned(), cells, rank, nominal: 0 }
    };
    let mut columns = vec![
        column(Say::Rounds, 4, |level| level.rounds.to_string()),
        column(Say::RequestRate, 2, |level| cell(level.requests_per_s)),
    ];
    columns.extend(match repeated.iter().any(|level| level.inputs_per_s.is_some()) {
        true => vec![
            column(Say::InputRate, 0, |level| cell(level.inputs_per_s)),
            column(Say::LatencyP50, 1, |level| cell(level.latency_p50_ms)),
        ],
        false => vec![
            column(Say::OutputRate, 0, |level| cell(level.output_tokens_per_s)),
            column(Say::TtftP50, 1, |level| cell(level.ttft_p50_ms)),
            column(Say::ItlP50, 3, |level| cell(level.itl_p50_ms)),
        ],
    });
    let label = |level: &Repeated| cut_middle(&escape(&level.label, 80), LABEL);
    let names: Vec<String> = repeated.iter().map(label).collect();
    let about = wrap(say(Say::Repeats), say(Say::RepeatsAbout), options.prose());
    format!("\n{about}{}", small(2, &names, columns, options.prose(), options.language))
}

fn cell(spread: Option<Spread>) -> String {
    spread.map_or_else(
        || ABSENT.to_owned(),
        |spread| format!("{} ±{:.1}%", number(spread.mean), spread.deviation_percent),
    )
}
