//! Metrics over the last seconds, as bars of block elements.

use super::levels::{embeds, unstreamed};
use super::picture::Picture;
use crate::finished::maybe;
use crate::fit::first_that_fits;
use crate::seconds::Second;
use crate::words::Text;
use dyno_chart::bounds;
use dyno_model::metric::{Time, Unit};
use dyno_words::columns::{millis, number};
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::symbols::bar;
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::sparkline::{Sparkline, SparklineBar};

/// Sparklines take whole numbers, so values are scaled.
const FINE: f64 = 1e3;

struct Chart {
    name: Name,
    unit: Unit,
    colour: Color,
    value: fn(&Second) -> Option<f64>,
    shown: fn(f64) -> String,
}

enum Name {
    /// The same in every language.
    Metric(&'static str),
    Worded(Text),
}

const TOKENS: Chart = Chart {
    name: Name::Worded(Text::OutputTokens),
    unit: Unit::TokensPerSecond,
    colour: Color::Green,
    value: |second| Some(second.tokens as f64),
    shown: number,
};
const INPUTS: Chart = Chart {
    name: Name::Worded(Text::ChartInputs),
    unit: Unit::InputsPerSecond,
    value: |second| Some(second.inputs as f64),
    ..TOKENS
};
const REQUESTS: Chart = Chart {
    name: Name::Worded(Text::ChartRequests),
    unit: Unit::RequestsPerSecond,
    value: |second| Some(second.done as f64),
    ..TOKENS
};
const TTFT: Chart = Chart {
    name: Name::Metric("TTFT p50"),
    unit: Unit::Milliseconds,
    colour: Color::Cyan,
    value: |second| second.times[Time::Ttft].p50,
    shown: millis,
};
const ITL: Chart =
    Chart { name: Name::Metric("ITL p50"), value: |second| second.times[Time::Itl].p50, ..TTFT };
const LATENCY: Chart = Chart {
    name: Name::Worded(Text::ChartLatency),
    value: |second| second.times[Time::Latency].p50,
    ..TTFT
};
const LATENCY_P99: Chart = Chart {
    name: Name::Worded(Text::ChartLatencyP99),
    value: |second| second.times[Time::Latency].p99,
    ..TTFT
};

/// What fits the task, the most important first. Agents report fewer times.
fn charts(picture: &Picture) -> [Chart; 4] {
    let rows = &picture.rows;
    if picture.seen.fleet.is_some() {
        return match unstreamed(rows) {
            true => [REQUESTS, LATENCY, TOKENS, TTFT],
            false => [TOKENS, TTFT, REQUESTS, LATENCY],
        };
    }
    match (embeds(rows), unstreamed(rows)) {
        (true, _) => [INPUTS, LATENCY, REQUESTS, LATENCY_P99],
        (false, true) => [TOKENS, LATENCY, REQUESTS, LATENCY_P99],
        (false, false) => [TOKENS, TTFT, REQUESTS, ITL],
    }
}

/// Draws the charts, two beside each other in each of `lines` rows of equal height.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, lines: usize, picture: &Picture) {
    let rows = Layout::vertical(vec![Constraint::Fill(1); lines]).split(area);
    for (row, charts) in rows.iter().zip(charts(picture).chunks(2)) {
        let halves = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).split(*row);
        for (half, chart) in halves.iter().zip(charts) {
            one(frame, *half, chart, picture);
        }
    }
}

fn one(frame: &mut Frame<'_>, area: Rect, chart: &Chart, picture: &Picture) {
    let (seconds, language) = (&picture.seconds, picture.language);
    let columns = usize::from(area.width);
    let shown = &seconds[seconds.len().saturating_sub(columns)..];
    let values: Vec<Option<f64>> = shown.iter().map(chart.value).collect();
    let highest = bounds(values.iter().flatten().copied()).map(|[_, highest]| highest);
    let name = match chart.name {
        Name::Metric(name) => name,
        Name::Worded(text) => text.text(language),
    };
    let now = maybe(values.last().copied().flatten(), chart.shown);
    let highest_shown = Text::Highest.with(language, &[maybe(highest, chart.shown)]);
    let unit = language.choose(chart.unit.names());
    let short = format!("{name} {now} {unit}");
    let long = format!("{short}{}{highest_shown}", language.comma());
    let titles = [long, short, format!("{now} {unit}")].map(|title| title + " ");
    let title = Line::from(first_that_fits(titles, columns)).style(Style::new().bold());
    let block = Block::new().borders(Borders::TOP).title(title);
    // The latest second is at the right edge.
    let missing = std::iter::repeat_n(None, columns - values.len());
    let bars = missing.chain(values).map(|value| match value {
        Some(value) => SparklineBar::from((value * FINE) as u64),
        None => SparklineBar::from(None),
    });
    let sparkline = Sparkline::default()
        .block(block)
        .absent_value_symbol(" ")
        .bar_set(bar::NINE_LEVELS)
        .max(highest.map_or(1, |highest| ((highest * FINE) as u64).max(1)))
        .style(Style::new().fg(chart.colour))
        .data(bars);
    frame.render_widget(sparkline, area);
}
