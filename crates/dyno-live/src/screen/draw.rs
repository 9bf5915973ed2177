//! The layout of the screen: which parts are shown, where, and in how many lines.

use super::picture::{Picture, Row, State};
use super::{agents, charts, levels, slo};
use crate::finished::Times;
use crate::fit::{Part, cut, elided, first_that_fits, fitted};
use crate::terminal::prefix;
use crate::view::{about, bar, clock, per_second, place, rate, requests, server, share_done, work};
use crate::words::{self, Text};
use dyno_model::Verdict;
use dyno_model::metric::{Time, Unit};
use dyno_words::columns::{width, wrap};
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::paragraph::Paragraph;

const BAR: usize = 20;
const LONGEST_LABEL: usize = 60;

/// How many lines each part gets.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    head: u16,
    concerns: u16,
    /// Rows of charts, and lines in each.
    charts: (u16, u16),
    levels: u16,
    agents: u16,
    notes: u16,
}

impl Room {
    /// In `height` lines, of which the head, the failures and the keys are always there.
    fn in_lines(height: u16, slo: bool, concerns: usize, levels: usize, agents: usize) -> Self {
        let head = 3 + u16::from(slo);
        let left = height.saturating_sub(head + 2);
        let most = if left < 24 { 2 } else { 5 };
        let concerns = clamped(concerns, most).max(1).min(left);
        let left = left - concerns;
        let notes = (left / 6).clamp(2, 8).min(left);
        let left = left - notes;
        // A title, a head and at least a row, or nothing.
        let wanted = if agents == 0 { 0 } else { clamped(agents + 2, (left / 3).max(5)) };
        let agents = if left < 8 { 0 } else { wanted };
        let left = left - agents;
        let lines = match left {
            0..8 => 0,
            8..12 => 1,
            _ => 2,
        };
        // The levels get what they need and the charts the rest, within limits.
        let for_levels = clamped(levels + 2, left.saturating_sub(4 * lines));
        let each = (left - for_levels).checked_div(lines).map_or(0, |each| each.clamp(4, 12));
        Self { head, concerns, charts: (lines, each), notes, agents, levels: left - lines * each }
    }
}

fn clamped(wanted: usize, most: u16) -> u16 {
    u16::try_from(wanted).unwrap_or(u16::MAX).min(most)
}

/// Draws the whole view.
pub(super) fn draw(frame: &mut Frame<'_>, picture: &Picture) {
    let area = frame.area();
    let columns = usize::from(area.width);
    let slo = slo::line(picture, columns);
    let concerns = wrapped(picture, columns);
    let room = Room::in_lines(
        area.height,
        slo.is_some(),
        concerns.len(),
        picture.rows.len(),
        picture.agents.len(),
    );
    let parts = Layout::vertical([
        Constraint::Length(room.head),
        Constraint::Length(room.charts.0 * room.charts.1),
        Constraint::Length(room.levels),
        Constraint::Length(room.agents),
        Constraint::Length(1),
        Constraint::Length(room.concerns),
        Constraint::Length(room.notes),
        Constraint::Length(1),
    ])
    .split(area);
    let mut head = head(picture, columns);
    head.extend(slo);
    frame.render_widget(Paragraph::new(head), parts[0]);
    charts::draw(frame, parts[1], usize::from(room.charts.0), picture);
    levels::draw(frame, parts[2], picture);
    if room.agents > 0 {
        agents::draw(frame, parts[3], picture);
    }
    frame.render_widget(failures(picture, columns), parts[4]);
    frame.render_widget(Paragraph::new(verdict(picture, &concerns, parts[5])), parts[5]);
    frame.render_widget(notes(picture, parts[6]), parts[6]);
    let keys = [Text::KeysLong, Text::Keys, Text::KeysShort];
    let keys = first_that_fits(keys.map(|keys| keys.text(picture.language).to_owned()), columns);
    frame.render_widget(Line::from(keys).style(Style::new().dim()), parts[7]);
}

/// The target and the time left; the running level; its metrics.
fn head(picture: &Picture, columns: usize) -> Vec<Line<'static>> {
    let (seen, language) = (&picture.seen, picture.language);
    let left = picture.left.map_or(String::new(), |left| {
        let left = left.text([Text::Left, Text::AtLeastLeft], language);
        format!("{}{left}", language.comma())
    });
    let elapsed = clock(seen.at);
    let time = first_that_fits([format!("{elapsed}{left}"), elapsed], columns);
    let name = format!("dyno  {}", picture.target);
    let name = match columns.saturating_sub(width(&time) + 2) {
        room @ 5.. => cut(&name, room),
        _ => String::new(),
    };
    let gap = " ".repeat(columns.saturating_sub(width(&name) + width(&time)));
    let title = Line::from(format!("{name}{gap}{time}")).style(Style::new().reversed());
    if seen.levels == 0 {
        return vec![title, Line::from(Text::Preparing.text(language))];
    }
    vec![title, level(picture, columns), metrics(picture, columns)]
}

fn level(picture: &Picture, columns: usize) -> Line<'static> {
    let (seen, language) = (&picture.seen, picture.language);
    let place = Text::Level.with(language, &[place(seen.level, seen.levels, picture.more)]);
    let named = format!("{place}  {}", elided(&seen.label, LONGEST_LABEL));
    let mut parts = vec![Part::new(2, named).or(place)];
    parts.extend(share_done(seen).map(|share| Part::new(3, bar(share, BAR))));
    parts.push(Part::new(0, requests(seen, language)));
    parts.push(Part::new(1, picture.status().time_left()));
    Line::from(fitted(parts, columns)).style(Style::new().bold())
}

fn metrics(picture: &Picture, columns: usize) -> Line<'static> {
    let (seen, language) = (&picture.seen, picture.language);
    let mut parts = Vec::new();
    let found = picture.present().and_then(|row| row.found.as_ref());
    if let Some((requests, tokens)) = picture.per_second {
        parts.push(Part::new(3, per_second(rate(requests), Unit::RequestsPerSecond, language)));
        parts.push(Part::new(0, work(found, tokens, language)));
    }
    parts.push(Part::new(5, Text::InFlight.with(language, &[seen.in_flight.to_string()])));
    parts.extend(server(seen, language, [2, 2]));
    if let Some(fleet) = &seen.fleet {
        parts.extend(about(fleet, language).map(|text| Part::new(1, text)));
        parts.push(Part::new(2, words::agents(fleet.count, language)));
    } else if let Some(found) = found {
        let pair = |time| Times::pair(found.times[time]).with_unit();
        parts.push(match found.embeds || found.is_unstreamed() {
            true => Part::new(1, Text::Latency.with(language, &[pair(Time::Latency)])),
            false => Part::new(1, format!("TTFT {}", pair(Time::Ttft))),
        });
        if found.times[Time::Itl].p50.is_some() {
            parts.push(Part::new(4, format!("ITL {}", pair(Time::Itl))));
        } else if found.times[Time::Tpot].p50.is_some() {
            parts.push(Part::new(4, format!("TPOT {}", pair(Time::Tpot))));
        }
    }
    Line::from(fitted(parts, columns))
}

/// Failures by class, the most frequent first.
fn failures(picture: &Picture, columns: usize) -> Line<'static> {
    let language = picture.language;
    if picture.failures.is_empty() {
        return Line::from(Text::NoFailures.text(language));
    }
    // What was shed did not fail.
    let shed = picture.failures.contains_key(Text::ColumnShed.text(language));
    let head = if shed { Text::NotCompleted } else { Text::Failures };
    let mut classes: Vec<_> = picture.failures.iter().collect();
    classes.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let shown = (0..=classes.len()).rev().map(|shown| {
        let of = |(class, n): &(&String, &u64)| format!("{class} {n}");
        let mut listed: Vec<String> = classes[..shown].iter().map(of).collect();
        let hidden = classes.len() - shown;
        if hidden > 0 {
            listed.push(Text::More.with(language, &[hidden.to_string()]));
        }
        head.with(language, &[listed.join(language.comma())])
    });
    Line::from(first_that_fits(shown, columns)).style(Style::new().fg(Color::Red))
}

/// What speaks against the levels, as lines of so many columns, each with the number of its concern.
fn wrapped(picture: &Picture, columns: usize) -> Vec<(usize, String)> {
    let concerns = picture.concerns.iter().enumerate();
    let lines = concerns.flat_map(|(at, concern)| {
        let text = match at {
            0 => Text::VerdictSoFar.with(picture.language, &[concern]),
            _ => concern.clone(),
        };
        let lines = wrap("", &text, columns);
        lines.lines().map(|line| (at, line.to_owned())).collect::<Vec<_>>()
    });
    lines.collect()
}

/// The verdict so far.
fn verdict(picture: &Picture, concerns: &[(usize, String)], area: Rect) -> Vec<Line<'static>> {
    let language = picture.language;
    let over = |row: &Row| matches!(row.state, State::Ended(_));
    if picture.concerns.is_empty() && picture.seen.fleet.is_some() && !picture.rows.iter().any(over)
    {
        return vec![Line::from(Text::JudgedAfter.text(language))];
    }
    if picture.concerns.is_empty() {
        let found = picture.rows.iter().filter_map(|row| row.found.as_ref());
        let measured: u64 = found.map(|found| found.counts.planned).sum();
        let verdict = if measured == 0 { Verdict::Unjudged } else { Verdict::Valid };
        let verdict = words::verdict(verdict, language);
        return vec![Line::from(Text::VerdictSoFar.with(language, &[verdict]))];
    }
    let room = usize::from(area.height);
    let columns = usize::from(area.width);
    let shown = concerns.iter().take(room).enumerate();
    let shown = shown.map(|(line, (at, text))| {
        let (mut text, mut more) = (text.clone(), String::new());
        if line + 1 == room {
            // What remains of this concern is cut off, and the others are counted.
            for (_, rest) in concerns[room..].iter().filter(|(other, _)| other == at) {
                text = format!("{text} {rest}");
            }
            let hidden = picture.concerns.len() - at - 1;
            if hidden > 0 {
                more = format!("  {}", Text::More.with(language, &[hidden.to_string()]));
            }
        }
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
        let text = prefix(said.kind, picture.language) + &said.text;
        let text = cut(&text, usize::from(area.width));
        let colour =
            if said.kind == "note" { Style::new() } else { Style::new().fg(Color::Yellow) };
        Line::from(text).style(colour)
    });
    let title = Line::from(Text::Notes.text(picture.language)).style(Style::new().bold());
    let block = Block::new().borders(Borders::TOP).title(title);
    Paragraph::new(lines.collect::<Vec<_>>()).block(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_assigned() {
        for height in 0..200 {
            for (slo, concerns, levels, agents) in
                [(false, 0, 0, 0), (true, 0, 3, 2), (true, 9, 30, 200)]
            {
                let room = Room::in_lines(height, slo, concerns, levels, agents);
                let tables = room.levels + room.agents;
                let given = room.concerns + room.charts.0 * room.charts.1 + tables + room.notes;
                assert_eq!(given, height.saturating_sub(room.head + 2), "{height} {room:?}");
            }
        }
        let usual = Room::in_lines(24, false, 0, 4, 0);
        let (charts, agents) = ((2, 4), 0);
        assert_eq!(usual, Room { head: 3, concerns: 1, charts, levels: 7, agents, notes: 3 });
        let fleet = Room::in_lines(24, false, 0, 1, 8);
        let (charts, agents) = ((1, 7), 5);
        assert_eq!(fleet, Room { head: 3, concerns: 1, charts, levels: 3, agents, notes: 3 });
    }
}
