//! Tables of the view: columns that do not fit are left out whole, the least important first.

use crate::fit::{cut, elided};
use dyno_words::columns::width;
use ratatui_core::layout::{Alignment, Constraint, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::table::{self, Cell, Table};

/// The rank of the column that says what a row is about; it is shortened before it is left out.
pub(super) const LABEL: u8 = 0;
const LABEL_AT_LEAST: usize = 16;

/// A column with the texts of its cells.
pub(super) struct Column {
    /// 0 is the most important.
    pub(super) rank: u8,
    pub(super) head: String,
    pub(super) cells: Vec<String>,
    pub(super) alignment: Alignment,
    pub(super) colour: Option<Color>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell));
        cells.chain([width(&self.head)]).max().unwrap_or(0)
    }
}

/// Draws the columns that fit, with a title above them and a style for each row.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    title: Line<'static>,
    columns: Vec<Column>,
    styles: impl Iterator<Item = Style>,
) {
    let columns = fitting(columns, usize::from(area.width));
    let lines = styles.enumerate().map(|(at, style)| {
        let cells = columns.iter().map(|column| cell(column, &column.cells[at]));
        table::Row::new(cells.collect::<Vec<_>>()).style(style)
    });
    let head = columns
        .iter()
        .map(|column| Cell::from(Line::from(column.head.clone()).alignment(column.alignment)));
    let widths = columns.iter().map(|column| Constraint::Length(column.width() as u16));
    let table = Table::new(lines, widths.collect::<Vec<_>>())
        .header(table::Row::new(head.collect::<Vec<_>>()).style(Style::new().dim()))
        .column_spacing(1)
        .block(Block::new().borders(Borders::TOP).title(title));
    frame.render_widget(table, area);
}

fn cell(column: &Column, text: &str) -> Cell<'static> {
    let style = column.colour.filter(|_| text != "0").map_or(Style::new(), |c| Style::new().fg(c));
    Cell::from(Line::from(text.to_owned()).alignment(column.alignment)).style(style)
}

/// The columns that fit into `room`, in their order. The label takes what the others leave.
fn fitting(mut columns: Vec<Column>, room: usize) -> Vec<Column> {
    let taken = |columns: &[Column]| {
        let widths = columns.iter().map(|column| match column.rank {
            LABEL => column.width().min(LABEL_AT_LEAST),
            _ => column.width(),
        });
        widths.sum::<usize>() + columns.len().saturating_sub(1)
    };
    while taken(&columns) > room {
        // The label goes last: without it the rest has no meaning.
        let ranked = columns.iter().enumerate();
        match ranked.max_by_key(|(at, column)| (column.rank, *at)).map(|(at, _)| at) {
            Some(least) => drop(columns.remove(least)),
            None => return columns,
        }
    }
    let left = room - taken(&columns);
    if let Some(label) = columns.iter_mut().find(|column| column.rank == LABEL) {
        let room = (LABEL_AT_LEAST.min(label.width()) + left).min(label.width());
        for cell in &mut label.cells {
            *cell = shortened(cell, room);
        }
        label.head = cut(&label.head, room);
    }
    columns
}

/// A label without some of its words; one long word is cut, and an ellipsis says so.
pub(super) fn shortened(label: &str, room: usize) -> String {
    match elided(label, room) {
        short if short.is_empty() => cut(label, room),
        short => short,
    }
}
