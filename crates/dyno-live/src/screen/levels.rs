//! The levels as a table: those that are over are the curve so far.

use super::picture::{Picture, Row};
use crate::finished::{maybe, pair};
use dyno_analysis::glimpse::Glimpsed;
use dyno_model::metric::Time;
use dyno_words::columns::{cut_middle, millis, number};
use ratatui_core::layout::{Alignment, Constraint, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Text};
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::table::{self, Table};

/// From this width on, load against throughput and TTFT is drawn, too.
const WITH_BARS: u16 = 120;
const LABEL_AT_LEAST: u16 = 10;
/// Levels to come that are kept in sight.
const AHEAD: usize = 2;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws the table, scrolled so that the present level is in sight.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let rows = &picture.rows;
    let room = usize::from(area.height.saturating_sub(2));
    let present = picture.seen.level as usize;
    let last = (present + 1 + AHEAD).min(rows.len());
    let first = last.saturating_sub(room);
    let shown = &rows[first..(first + room).min(rows.len())];
    let bars = area.width >= WITH_BARS;
    let token_time = token_time(rows);
    let widths = widths(area.width, bars);
    let of_label = match (widths.get(1), area.width) {
        (Some(Constraint::Length(label)), _) => usize::from(*label),
        _ => usize::from(LABEL_AT_LEAST),
    };
    let most = Most::of(rows);
    let lines = shown.iter().enumerate().map(|(at, row)| {
        line(first + at, row, token_time, of_label, bars.then_some((&most, &widths)))
    });
    let table = Table::new(lines, widths.clone())
        .header(header(token_time, bars))
        .column_spacing(1)
        .block(Block::new().borders(Borders::TOP).title(title(first, shown.len(), picture)));
    frame.render_widget(table, area);
}

fn title(first: usize, shown: usize, picture: &Picture) -> Line<'static> {
    let known = picture.rows.len();
    let more = if picture.more { ", more may follow" } else { "" };
    let over = picture.rows.iter().filter(|row| row.found.is_some()).count();
    let over = over - usize::from(picture.present().is_some_and(|row| row.state == Row::RUNNING));
    let text = if shown < known {
        format!(
            "levels {} to {} of {known}, {over} over{more}; times in ms ",
            first + 1,
            first + shown
        )
    } else {
        format!("levels: {over} of {known} over{more}; times in ms ")
    };
    Line::from(text).style(Style::new().bold())
}

/// Which time between tokens all levels have.
fn token_time(rows: &[Row]) -> Time {
    let mut found = rows.iter().filter_map(|row| row.found.as_ref());
    let has = |found: &Glimpsed, time| found.times[time].p50.is_some();
    let all = found.all(|found| has(found, Time::Itl) || !has(found, Time::Tpot));
    if all { Time::Itl } else { Time::Tpot }
}

/// What the longest bars stand for.
struct Most {
    tokens: f64,
    ttft: f64,
}

impl Most {
    fn of(rows: &[Row]) -> Self {
        let found = || rows.iter().filter_map(|row| row.found.as_ref());
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        Self {
            tokens: most(&mut found().filter_map(|found| found.output_tokens_per_s)),
            ttft: most(&mut found().filter_map(|found| found.times[Time::Ttft].p99)),
        }
    }
}

/// Number, label, requests, failed, req/s, tok/s, TTFT, token time, two bars, state.
fn widths(width: u16, bars: bool) -> Vec<Constraint> {
    let figures = [6, 6, 7, 7, 12, 6];
    let ends = [3, 8];
    let taken: u16 = figures.iter().chain(&ends).sum();
    let gaps = (figures.len() + ends.len()) as u16;
    let left = width.saturating_sub(taken + gaps);
    let (label, bar) = if bars { (left / 3, (left - left / 3 - 2) / 2) } else { (left, 0) };
    let mut widths = vec![ends[0], label.max(LABEL_AT_LEAST)];
    widths.extend(figures);
    widths.extend(bars.then_some([bar, bar]).into_iter().flatten());
    widths.push(ends[1]);
    widths.into_iter().map(Constraint::Length).collect()
}

fn header(token_time: Time, bars: bool) -> table::Row<'static> {
    let token_time = token_time.info().short[0];
    let right = ["reqs", "failed", "req/s", "tok/s", "TTFT p50/p99", token_time].map(aligned_right);
    let mut cells = vec![aligned_right("#"), Text::from("level")];
    cells.extend(right);
    if bars {
        cells.extend([Text::from("tok/s"), Text::from("TTFT p99")]);
    }
    cells.push(Text::from("state"));
    table::Row::new(cells).style(Style::new().dim())
}

fn line(
    index: usize,
    row: &Row,
    token_time: Time,
    of_label: usize,
    bars: Option<(&Most, &Vec<Constraint>)>,
) -> table::Row<'static> {
    let found = row.found.as_ref();
    let figure = |value: fn(&Glimpsed) -> Option<f64>, shown| {
        aligned_right(found.map_or(String::new(), |found| maybe(value(found), shown)))
    };
    let count = |value: fn(&Glimpsed) -> u64| {
        aligned_right(found.map_or(String::new(), |found| value(found).to_string()))
    };
    let failed = found.map_or(0, |found| found.counts.failed + found.counts.dropped);
    let failed_style = if failed > 0 { Style::new().fg(Color::Red) } else { Style::new() };
    let mut cells = vec![
        aligned_right((index + 1).to_string()),
        Text::from(cut_middle(&row.label, of_label)),
        count(|found| found.counts.planned),
        count(|found| found.counts.failed + found.counts.dropped).style(failed_style),
        figure(|found| found.requests_per_s, number),
        figure(|found| found.output_tokens_per_s, number),
        aligned_right(found.map_or(String::new(), |found| pair(found.times[Time::Ttft]))),
        aligned_right(
            found.map_or(String::new(), |found| maybe(found.times[token_time].p50, millis)),
        ),
    ];
    if let Some((most, widths)) = bars {
        let columns = match widths.get(8) {
            Some(Constraint::Length(columns)) => usize::from(*columns),
            _ => 0,
        };
        let drawn = |value: Option<f64>, most| {
            Text::from(value.map_or(String::new(), |value| bar(value / most, columns)))
        };
        let green = Style::new().fg(Color::Green);
        let tokens = found.and_then(|found| found.output_tokens_per_s);
        cells.push(drawn(tokens, most.tokens).style(green));
        let ttft = found.and_then(|found| found.times[Time::Ttft].p99);
        cells.push(drawn(ttft, most.ttft).style(Style::new().fg(Color::Cyan)));
    }
    cells.push(Text::from(row.state));
    table::Row::new(cells).style(match row.state {
        Row::RUNNING => Style::new().bold(),
        Row::TO_COME => Style::new().dim(),
        _ => Style::new(),
    })
}

/// A bar of a share of so many columns, in eighths of a column.
fn bar(share: f64, columns: usize) -> String {
    if !share.is_finite() {
        return String::new();
    }
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

fn aligned_right(text: impl Into<Text<'static>>) -> Text<'static> {
    text.into().alignment(Alignment::Right)
}
