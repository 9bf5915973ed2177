//! The table of load generators, while a level runs.

use super::picture::Picture;
use super::table::{self, Column, LABEL};
use crate::agents::{AgentRow, worst_first};
use crate::finished::maybe;
use crate::view::clock;
use crate::words::Text;
use dyno_model::Language;
use dyno_model::fleet::Beat;
use dyno_words::columns::{ABSENT, millis, number};
use ratatui_core::layout::{Alignment, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;

/// Draws as many agents as fit.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let (all, language) = (&picture.agents, picture.language);
    let shown = worst_first(all, usize::from(area.height.saturating_sub(2)));
    let title = match shown.len() < all.len() {
        true => {
            let counts = [shown.len(), all.len()].map(|count| count.to_string());
            Text::AgentsWorst.with(language, &counts)
        }
        false => Text::AgentsAll.text(language).to_owned(),
    };
    let styles = shown.iter().map(|row| match (row.lost, row.is_in_trouble()) {
        (true, _) => Style::new().fg(Color::Red),
        (false, true) => Style::new().fg(Color::Yellow),
        (false, false) if row.done => Style::new().dim(),
        (false, false) => Style::new(),
    });
    let title = Line::from(title).style(Style::new().bold());
    table::draw(frame, area, title, columns(&shown, language), styles);
}

fn columns(shown: &[&AgentRow], language: Language) -> Vec<Column> {
    let column = |rank, head: &str, cell: &dyn Fn(&AgentRow) -> String| Column {
        rank,
        head: head.to_owned(),
        cells: shown.iter().map(|row| cell(row)).collect(),
        alignment: Alignment::Right,
        colour: None,
    };
    let counted = |rank, head: Text, of: fn(&Beat) -> String| {
        column(rank, head.text(language), &|row| {
            row.beat.as_ref().map_or_else(|| ABSENT.to_owned(), of)
        })
    };
    let name = column(LABEL, Text::ColumnAgent.text(language), &|row| row.name.clone());
    vec![
        Column { alignment: Alignment::Left, ..name },
        counted(2, Text::ColumnSent, |beat| beat.sent.to_string()),
        counted(3, Text::ColumnInFlight, |beat| beat.in_flight.to_string()),
        Column {
            colour: Some(Color::Red),
            ..counted(3, Text::ColumnFailed, |beat| beat.failed.to_string())
        },
        column(5, "tok/s", &|row| maybe(row.tokens_per_s, number)),
        counted(4, Text::ColumnLate, |beat| millis(beat.lag_ns as f64 / 1e6)),
        column(1, Text::ColumnHeard.text(language), &|row| heard(row, language)),
    ]
}

/// When it was heard last, or that there is nothing more to hear.
fn heard(row: &AgentRow, language: Language) -> String {
    match (row.lost, row.done) {
        (true, _) => Text::AgentGone.text(language).to_owned(),
        (false, true) => Text::AgentDone.text(language).to_owned(),
        (false, false) => Text::Ago.with(language, &[clock(row.silent)]),
    }
}
