//! What there is to say of a level's conversations: first and later turns side by side.

use crate::marks::Marks;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::metric::Statistic;
use dyno_model::summary::{LevelSummary, TurnFigures};
use dyno_words::columns::{left, maybe, millis, number, right};

const COLUMNS: usize = 6;

fn line(cells: &[String; COLUMNS]) -> String {
    let [name, figures @ ..] = cells;
    let columns = [9, 9, 9, 9, 10];
    let figures = figures.iter().zip(columns).map(|(cell, columns)| right(cell, columns));
    let line = format!("    {} {}", left(name, 12), figures.collect::<Vec<_>>().join(" "));
    format!("{}\n", line.trim_end())
}

fn cells(name: &str, turns: &TurnFigures, marks: &mut Marks) -> [String; COLUMNS] {
    let ttft = turns.ttft.as_ref();
    let [p50, p90, p99] = [Statistic::P50, Statistic::P90, Statistic::P99]
        .map(|which| marks.statistic(ttft, which, millis));
    let tokens = maybe(turns.input_tokens.map(|tokens| tokens.mean));
    [name.to_owned(), turns.requests.to_string(), p50, p90, p99, tokens]
}

/// A small table; nothing for a level without conversations. Tells which marks it uses.
pub(super) fn turns(level: &LevelSummary, marks: &mut Marks, language: Language) -> String {
    let Some(sessions) = &level.sessions else {
        return String::new();
    };
    let say = |say: Say| say.text(language);
    let head = ["", say(Say::Requests), "p50", "p90", "p99", say(Say::TokensIn)];
    let rows = [
        head.map(str::to_owned),
        cells(say(Say::FirstTurn), &sessions.first, marks),
        cells(say(Say::LaterTurns), &sessions.later, marks),
    ];
    let talks = [sessions.started.to_string(), number(sessions.turns_mean)];
    format!("  {}\n", Say::Conversations.with(language, &talks))
        + &rows.iter().map(line).collect::<String>()
}
