//! The conversations of a level: TTFT of first and later turns side by side.

use super::TextOptions;
use super::grid::{Column, small};
use crate::marks::Marks;
use crate::messages::Say;
use crate::selection::which_name;
use dyno_model::metric::Statistic;
use dyno_model::summary::{LevelSummary, TurnMetrics};
use dyno_words::columns::{maybe, millis, number, wrap};

/// A small table, with its marks noted in `marks`; nothing for a level without conversations.
pub(super) fn turns(level: &LevelSummary, marks: &mut Marks, options: &TextOptions) -> String {
    let Some(sessions) = &level.sessions else {
        return String::new();
    };
    let language = options.language;
    let both = [&sessions.first, &sessions.later];
    let say = |say: Say| say.text(language).to_owned();
    let column = |head: String, rank: u8, cell: &mut dyn FnMut(&TurnMetrics) -> String| {
        let cells = both.iter().map(|turns| cell(turns)).collect();
        Column { group: String::new(), head, cells, rank, nominal: 0 }
    };
    let mut columns = vec![column(say(Say::Requests), 3, &mut |turns| turns.requests.to_string())];
    // One request has a mean, and no percentiles.
    let lone = |turns: &&TurnMetrics| turns.ttft.as_ref().is_some_and(|ttft| ttft.p50.is_none());
    let mean = both.iter().any(lone).then_some((Statistic::Mean, 0));
    let rest = [(Statistic::P50, 0), (Statistic::P90, 4), (Statistic::P99, 1)];
    for (which, rank) in mean.into_iter().chain(rest) {
        columns.push(column(which_name(which, language), rank, &mut |turns| {
            marks.statistic(turns.ttft.as_ref(), which, millis)
        }));
    }
    columns.push(column(say(Say::TokensIn), 2, &mut |turns| {
        maybe(turns.input_tokens.map(|tokens| tokens.mean))
    }));
    let counts = [sessions.started.to_string(), number(sessions.turns_mean)];
    let names = [Say::FirstTurn, Say::LaterTurns].map(say);
    wrap("  ", &Say::Conversations.with(language, &counts), options.prose())
        + &small(4, &names, columns, options.prose(), language)
}
