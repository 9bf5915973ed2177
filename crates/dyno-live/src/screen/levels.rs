//! The table of levels: those that have ended, the running one, and those to come. Columns that do
//! not fit are left out whole, the least important first.

use super::picture::{Picture, Row, State};
use super::table::{self, Column, LABEL, shortened};
use crate::finished::{Times, ended, maybe};
use crate::fit::first_that_fits;
use crate::words::Text;
use dyno_analysis::running_level::LevelSoFar;
use dyno_model::Language;
use dyno_model::metric::{Time, Unit};
use dyno_words::columns::{millis, number};
use ratatui_core::layout::{Alignment, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;

/// From this width on, throughput and TTFT are drawn as bars, too.
const WITH_BARS: usize = 120;
const LONGEST_LABEL: usize = 60;
/// The rank of bars.
const BAR: u8 = 9;
/// Pending levels that stay visible below the running one.
const AHEAD: usize = 2;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws the table, scrolled so that the running level is visible.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, picture: &Picture) {
    let rows = &picture.rows;
    let room = usize::from(area.height.saturating_sub(2));
    let present = picture.seen.level as usize;
    let last = (present + 1 + AHEAD).min(rows.len());
    let first = last.saturating_sub(room);
    let shown = &rows[first..(first + room).min(rows.len())];
    let room = usize::from(area.width);
    let columns = columns(first, shown, rows, picture.language);
    // On a narrow screen bars would take the label's place.
    let columns = columns.into_iter().filter(|column| column.rank != BAR || room >= WITH_BARS);
    let styles = shown.iter().map(|row| match row.state {
        State::Running => Style::new().bold(),
        State::Pending => Style::new().dim(),
        State::Ended(_) => Style::new(),
    });
    let title = title(first, shown.len(), picture, room);
    table::draw(frame, area, title, columns.collect(), styles);
}

fn title(first: usize, shown: usize, picture: &Picture, columns: usize) -> Line<'static> {
    let language = picture.language;
    let known = picture.rows.len();
    let over = picture.rows.iter().filter(|row| matches!(row.state, State::Ended(_))).count();
    let of = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<String>>();
    let text = if shown < known {
        Text::LevelsShown.with(language, &of(&[first + 1, first + shown, known, over]))
    } else {
        Text::LevelsOver.with(language, &of(&[over, known]))
    };
    let more = if picture.more { Text::MoreMayFollow.text(language) } else { "" };
    let [both, unit] = [Text::RatesAndTimes, Text::TimesInMs].map(|text| text.text(language));
    let titles = [
        format!("{text}{more}{both}"),
        format!("{text}{more}{unit}"),
        format!("{text}{more} "),
        format!("{text} "),
    ];
    Line::from(first_that_fits(titles, columns)).style(Style::new().bold())
}

fn columns(first: usize, shown: &[Row], all: &[Row], language: Language) -> Vec<Column> {
    let token_time = token_time(all);
    let column = |rank, head: &str, cell: &dyn Fn(usize, &Row) -> String| Column {
        rank,
        head: head.to_owned(),
        cells: shown.iter().enumerate().map(|(at, row)| cell(first + at, row)).collect(),
        alignment: Alignment::Right,
        colour: None,
    };
    let left = |column: Column| Column { alignment: Alignment::Left, ..column };
    let of = |row: &Row, text: &dyn Fn(&LevelSoFar) -> String| {
        row.found.as_ref().map_or(String::new(), text)
    };
    let failed = |found: &LevelSoFar| found.counts.failed_or_unconfirmed().to_string();
    let mut columns = vec![
        column(1, "#", &|index, _| (index + 1).to_string()),
        left(column(LABEL, Text::ColumnLevel.text(language), &|_, row| {
            shortened(&row.label, LONGEST_LABEL)
        })),
        column(3, Text::ColumnRequests.text(language), &|_, row| {
            of(row, &|found| ended(&found.counts).to_string())
        }),
        Column {
            colour: Some(Color::Red),
            ..column(5, Text::ColumnFailed.text(language), &|_, row| of(row, &failed))
        },
        column(6, language.choose(Unit::RequestsPerSecond.names()), &|_, row| {
            of(row, &|found| maybe(found.requests_per_s, number))
        }),
    ];
    columns.push(match embeds(all) {
        true => column(2, language.choose(Unit::InputsPerSecond.names()), &|_, row| {
            of(row, &|found| maybe(found.inputs_per_s, number))
        }),
        false => {
            column(2, "tok/s", &|_, row| of(row, &|found| maybe(found.output_tokens_per_s, number)))
        }
    });
    columns.extend(match unstreamed(all) {
        true => vec![column(4, Text::LatencyColumn.text(language), &|_, row| {
            of(row, &|found| Times::pair(found.times[Time::Latency]).in_column())
        })],
        false => vec![
            column(4, "TTFT p50/p99", &|_, row| {
                of(row, &|found| Times::pair(found.times[Time::Ttft]).in_column())
            }),
            column(7, token_time.info().short[0], &|_, row| {
                of(row, &|found| maybe(found.times[token_time].p50, millis))
            }),
        ],
    });
    let shed = |row: &Row| row.found.as_ref().map_or(0, |found| found.counts.shed);
    if all.iter().any(|row| shed(row) > 0) {
        let shed = column(5, Text::ColumnShed.text(language), &|_, row| shed(row).to_string());
        columns.insert(4, Column { colour: Some(Color::Yellow), ..shed });
    }
    columns.extend(bars(shown, all, language).map(left));
    columns.push(left(column(8, Text::ColumnState.text(language), &|_, row| {
        row.state.text().text(language).to_owned()
    })));
    columns
}

/// Texts are embedded or ranked, and nothing is streamed.
pub(super) fn embeds(rows: &[Row]) -> bool {
    rows.iter().filter_map(|row| row.found.as_ref()).any(|found| found.embeds)
}

/// Responses come whole: there is a latency, and no TTFT in any level.
pub(super) fn unstreamed(rows: &[Row]) -> bool {
    let found = || rows.iter().filter_map(|row| row.found.as_ref());
    let ttft = found().any(|found| found.times[Time::Ttft].p50.is_some());
    embeds(rows) || (!ttft && found().any(LevelSoFar::is_unstreamed))
}

/// Which time between tokens all levels have.
fn token_time(rows: &[Row]) -> Time {
    let mut found = rows.iter().filter_map(|row| row.found.as_ref());
    let has = |found: &LevelSoFar, time| found.times[time].p50.is_some();
    let all = found.all(|found| has(found, Time::Itl) || !has(found, Time::Tpot));
    if all { Time::Itl } else { Time::Tpot }
}

/// Throughput and TTFT as bars, of which the longest is the highest of all levels.
fn bars(shown: &[Row], all: &[Row], language: Language) -> impl Iterator<Item = Column> {
    const COLUMNS: usize = WITH_BARS / 6;
    let drawn = |head: &str, colour, value: fn(&LevelSoFar) -> Option<f64>| {
        let of = |row: &Row| row.found.as_ref().and_then(value);
        let most = all.iter().filter_map(of).fold(0.0, f64::max);
        let bar = |row: &Row| of(row).map_or(String::new(), |value| bar(value / most, COLUMNS));
        let cells = shown.iter().map(bar).collect();
        let colour = Some(colour);
        Column { rank: BAR, head: head.to_owned(), cells, alignment: Alignment::Left, colour }
    };
    let work = match embeds(all) {
        true => drawn(language.choose(Unit::InputsPerSecond.names()), Color::Green, |found| {
            found.inputs_per_s
        }),
        false => drawn("tok/s", Color::Green, |found| found.output_tokens_per_s),
    };
    let ttft = (!unstreamed(all))
        .then(|| drawn("TTFT p99", Color::Cyan, |found| found.times[Time::Ttft].p99));
    [Some(work), ttft].into_iter().flatten()
}

/// A bar of a share of so many columns, in eighths of a column.
fn bar(share: f64, columns: usize) -> String {
    if !share.is_finite() {
        return String::new();
    }
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}
