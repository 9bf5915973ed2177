//! Figures over the last seconds, as bars of block elements.

use super::picture::Picture;
use crate::finished::maybe;
use crate::seconds::Second;
use dyno_chart::bounds;
use dyno_model::metric::Time;
use dyno_words::columns::{millis, number};
use ratatui_core::layout::{Constraint, Layout, Rect};
use ratatui_core::style::{Color, Style};
use ratatui_core::symbols::bar;
use ratatui_core::terminal::Frame;
use ratatui_core::text::Line;
use ratatui_widgets::block::Block;
use ratatui_widgets::borders::Borders;
use ratatui_widgets::sparkline::{Sparkline, SparklineBar};

/// Bars are drawn of whole numbers.
const FINE: f64 = 1e3;

struct Chart {
    name: &'static str,
    unit: &'static str,
    colour: Color,
    value: fn(&Second) -> Option<f64>,
    shown: fn(f64) -> String,
}

/// The most telling first.
const CHARTS: [Chart; 4] = [
    Chart {
        name: "output tokens",
        unit: "tok/s",
        colour: Color::Green,
        value: |second| Some(second.tokens as f64),
        shown: number,
    },
    Chart {
        name: "TTFT p50",
        unit: "ms",
        colour: Color::Cyan,
        value: |second| second.times[Time::Ttft].p50,
        shown: millis,
    },
    Chart {
        name: "requests",
        unit: "req/s",
        colour: Color::Green,
        value: |second| Some(second.done as f64),
        shown: number,
    },
    Chart {
        name: "ITL p50",
        unit: "ms",
        colour: Color::Cyan,
        value: |second| second.times[Time::Itl].p50,
        shown: millis,
    },
];

/// Draws the charts, two beside each other in each of `lines` rows of equal height.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, lines: usize, picture: &Picture) {
    let rows = Layout::vertical(vec![Constraint::Fill(1); lines]).split(area);
    for (row, charts) in rows.iter().zip(CHARTS.chunks(2)) {
        let halves = Layout::horizontal([Constraint::Fill(1); 2]).spacing(2).split(*row);
        for (half, chart) in halves.iter().zip(charts) {
            one(frame, *half, chart, &picture.seconds);
        }
    }
}

fn one(frame: &mut Frame<'_>, area: Rect, chart: &Chart, seconds: &[Second]) {
    let columns = usize::from(area.width);
    let shown = &seconds[seconds.len().saturating_sub(columns)..];
    let values: Vec<Option<f64>> = shown.iter().map(chart.value).collect();
    let highest = bounds(values.iter().flatten().copied()).map(|[_, highest]| highest);
    let title = format!(
        "{} {} {}, highest {} ",
        chart.name,
        maybe(values.last().copied().flatten(), chart.shown),
        chart.unit,
        maybe(highest, chart.shown)
    );
    let title = Line::from(title).style(Style::new().bold());
    let block = Block::new().borders(Borders::TOP).title(title);
    // The newest second stands at the right edge.
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
