//! Where everything stands on the screen, from what there is room for.

use super::picture::Picture;
use super::{charts, levels};
use crate::finished::pair;
use crate::view::{bar, clock, figure, place, requests, run_left, share_done};
use dyno_model::metric::Time;
use dyno_words::columns::{cut, width};
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::{Line, Span};
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::paragraph::Paragraph;

const KEYS: &str = "q: back to one line, the run goes on   Ctrl-C: stop sending, twice: at once";
const BAR: usize = 20;

/// How many lines each part gets.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    concerns: u16,
    /// Rows of charts, and lines in each.
    charts: (u16, u16),
    levels: u16,
    notes: u16,
}

impl Room {
    /// In `height` lines, of which five are always there.
    fn in_lines(height: u16, concerns: usize, levels: usize) -> Self {
        let left = height.saturating_sub(5);
        let most = if left < 24 { 2 } else { 5 };
        let concerns = clamped(concerns, most).max(1).min(left);
        let left = left - concerns;
        let notes = (left / 6).clamp(2, 8).min(left);
        let left = left - notes;
        let lines = match left {
            0..8 => 0,
            8..12 => 1,
            _ => 2,
        };
        // The levels get what they need, the charts the rest, within reason.
        let for_levels = clamped(levels + 2, left.saturating_sub(4 * lines));
        let each = (left - for_levels).checked_div(lines).map_or(0, |each| each.clamp(4, 12));
        Self { concerns, charts: (lines, each), notes, levels: left - lines * each }
    }
}

fn clamped(wanted: usize, most: u16) -> u16 {
    u16::try_from(wanted).unwrap_or(u16::MAX).min(most)
}

/// Draws the whole view.
pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture) {
    let area = frame.area();
    let room = Room::in_lines(area.height, picture.concerns.len(), picture.rows.len());
    let parts = Layout::vertical([
        Constraint::Length(3),
        Constraint::Length(room.charts.0 * room.charts.1),
        Constraint::Length(room.levels),
        Constraint::Length(1),
        Constraint::Length(room.concerns),
        Constraint::Length(room.notes),
        Constraint::Length(1),
    ])
    .split(area);
    frame.render_widget(Paragraph::new(head(picture, usize::from(area.width))), parts[0]);
    charts::draw(frame, parts[1], usize::from(room.charts.0), picture);
    levels::draw(frame, parts[2], picture);
    frame.render_widget(failures(picture), parts[3]);
    frame.render_widget(Paragraph::new(verdict(picture, parts[4])), parts[4]);
    frame.render_widget(notes(picture, parts[5]), parts[5]);
    frame.render_widget(Line::from(KEYS).style(Style::new().dim()), parts[6]);
}

/// Who is measured and how long it takes; the present level; its figures.
fn head(picture: &Picture, columns: usize) -> Vec<Line<'static>> {
    let seen = &picture.seen;
    let left = picture.left.map_or(String::new(), |left| format!(", {}", run_left(left)));
    let time = format!("{}{left}", clock(seen.at));
    let name = cut(&format!("dyno  {}", picture.target), columns.saturating_sub(width(&time) + 2));
    let gap = " ".repeat(columns.saturating_sub(width(&name) + width(&time)));
    let title = Line::from(format!("{name}{gap}{time}")).style(Style::new().reversed());
    if seen.levels == 0 {
        return vec![title, Line::from("the first level is being made ready")];
    }
    vec![title, level(picture, columns), figures(picture)]
}

fn level(picture: &Picture, columns: usize) -> Line<'static> {
    let seen = &picture.seen;
    let place = format!("level {}  ", place(seen.level, seen.levels, picture.more));
    let told = picture.told();
    let rest = format!("  {}  {}", requests(seen), told.time_left());
    let bar = share_done(seen).map_or(String::new(), |share| format!("  {}", bar(share, BAR)));
    let taken = width(&place) + width(&bar) + width(&rest);
    let label = cut(&seen.label, columns.saturating_sub(taken).max(8));
    Line::from(vec![
        Span::raw(place),
        Span::styled(label, Style::new().bold()),
        Span::raw(bar),
        Span::raw(rest),
    ])
}

fn figures(picture: &Picture) -> Line<'static> {
    let seen = &picture.seen;
    let mut parts = Vec::new();
    // How fast a twin is simulated is no figure of the system.
    if let Some((requests, tokens)) = picture.per_second.filter(|_| !picture.predicted) {
        parts.push(format!("{} req/s", figure(requests)));
        parts.push(format!("{} tok/s", figure(tokens)));
    }
    parts.push(format!("{} in flight", seen.in_flight));
    if let Some(found) = picture.present().and_then(|row| row.found.as_ref()) {
        parts.push(format!("TTFT {} ms", pair(found.times[Time::Ttft])));
        if found.times[Time::Itl].p50.is_some() {
            parts.push(format!("ITL {} ms", pair(found.times[Time::Itl])));
        } else if found.times[Time::Tpot].p50.is_some() {
            parts.push(format!("TPOT {} ms", pair(found.times[Time::Tpot])));
        }
    }
    Line::from(parts.join("  "))
}

/// Failures by class, the most frequent first.
fn failures(picture: &Picture) -> Line<'static> {
    if picture.failures.is_empty() {
        return Line::from("failures: none");
    }
    let mut classes: Vec<_> = picture.failures.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let classes: Vec<String> = classes.iter().map(|(class, n)| format!("{class} {n}")).collect();
    let text = format!("failures: {}", classes.join(", "));
    Line::from(text).style(Style::new().fg(Color::Red))
}

/// The verdict as it stands.
fn verdict(picture: &Picture, area: Rect) -> Vec<Line<'static>> {
    if picture.concerns.is_empty() {
        let found = picture.rows.iter().filter_map(|row| row.found.as_ref());
        let measured: u64 = found.map(|found| found.counts.planned).sum();
        return vec![Line::from(match measured {
            0 => "verdict so far: nothing measured yet",
            _ => "verdict so far: failures and send lag are within their limits",
        })];
    }
    let room = usize::from(area.height);
    let columns = usize::from(area.width);
    let shown = picture.concerns.iter().take(room).enumerate();
    let shown = shown.map(|(at, concern)| {
        let hidden = picture.concerns.len().saturating_sub(room);
        let more = match hidden {
            1.. if at + 1 == room => format!("  (+{hidden} more)"),
            _ => String::new(),
        };
        let start = if at == 0 { "verdict so far: " } else { "" };
        let text = format!("{start}{concern}");
        let text = cut(&text, columns.saturating_sub(width(&more)));
        Line::from(text + &more).style(Style::new().fg(Color::Yellow))
    });
    shown.collect()
}

/// The last notes and warnings, the latest at the bottom.
fn notes(picture: &Picture, area: Rect) -> Paragraph<'static> {
    let room = usize::from(area.height.saturating_sub(1));
    let said = &picture.said[picture.said.len().saturating_sub(room)..];
    let lines = said.iter().map(|said| {
        let text = cut(&format!("{}: {}", said.kind, said.text), usize::from(area.width));
        let colour =
            if said.kind == "note" { Style::new() } else { Style::new().fg(Color::Yellow) };
        Line::from(text).style(colour)
    });
    let title = Line::from("notes ").style(Style::new().bold());
    let block = Block::new().borders(Borders::TOP).title(title);
    Paragraph::new(lines.collect::<Vec<_>>()).block(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_given_to_someone() {
        for height in 0..200 {
            for (concerns, levels) in [(0, 0), (0, 3), (9, 30)] {
                let room = Room::in_lines(height, concerns, levels);
                let given =
                    room.concerns + room.charts.0 * room.charts.1 + room.levels + room.notes;
                assert_eq!(given, height.saturating_sub(5), "{height} {room:?}");
            }
        }
        let usual = Room::in_lines(24, 0, 4);
        assert_eq!(usual, Room { concerns: 1, charts: (2, 4), levels: 7, notes: 3 });
    }
}
