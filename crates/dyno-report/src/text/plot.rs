//! The curve of a run in a few lines: throughput and latency by load, one bar per load. An absent
//! value leaves a gap, and the bar of an invalid level is hollow.

use super::TextOptions;
use crate::messages::Say;
use dyno_chart::axis::{Thinning, shown};
use dyno_chart::{Point, Scale, Series, Spacing, Stop, bounds};
use dyno_model::Language;
use dyno_model::load::LoadKind;
use dyno_model::metric::{Metric, Time};
use dyno_model::summary::{Basis, Distribution, LevelSummary};
use dyno_words::columns::{left, millis, number, right, width};

const HEIGHT: usize = 4;
/// Columns for the axis labels beside the bars.
const MARGIN: usize = 7;
const GAP: usize = 2;
/// The least width at which two charts stand side by side.
const SIDE_BY_SIDE: usize = 72;
const WIDEST_SLOT: usize = 5;
const FEWEST_LOADS: usize = 3;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const HOLLOW: char = '░';

/// Two small charts, side by side where there is room; nothing where there are fewer than three loads of one kind.
pub(super) fn plot(levels: &[LevelSummary], options: &TextOptions) -> String {
    let language = options.language;
    let Some((axis, sweep)) = axis(levels) else { return String::new() };
    // That of the table below, in which levels beside the sweep count too.
    let basis = Basis::of(levels);
    let (say, metric) = match levels.iter().any(LevelSummary::has_inputs) {
        true => (Say::InputRate, Metric::InputRate),
        false => (Say::OutputRate, Metric::OutputRate),
    };
    let work = Panel::of(say, &sweep, |level| basis.rate(level, metric));
    if work.bars.iter().all(|bar| bar.y.is_none_or(|value| value == 0.0)) {
        return String::new();
    }
    let stacked = options.prose() < SIDE_BY_SIDE;
    let columns = if stacked { options.prose() } else { (options.prose() - GAP) / 2 };
    let slot = (columns - MARGIN).checked_div(work.bars.len()).filter(|slot| *slot > 0);
    let Some(slot) = slot.map(|slot| slot.min(WIDEST_SLOT)) else { return String::new() };
    let panels: Vec<Panel> = [Some(work), waiting(&sweep)].into_iter().flatten().collect();
    let drawn: Vec<Vec<String>> =
        panels.iter().map(|panel| panel.lines(axis, slot, language)).collect();
    let mut out = String::from("\n");
    for panels in drawn.chunks(if stacked { 1 } else { 2 }) {
        for row in 0..HEIGHT + 2 {
            let line = panels.iter().filter_map(|lines| lines.get(row));
            let line = line.map(|line| left(line, columns));
            let line = line.collect::<Vec<_>>().join(&" ".repeat(GAP));
            out.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    if panels.iter().any(|panel| panel.bars.iter().any(|bar| bar.y.is_some() && bar.bad)) {
        let (margin, text) = (" ".repeat(MARGIN), Say::Hollow.text(language));
        out.push_str(&format!("{margin}{HOLLOW} {text}\n"));
    }
    out
}

/// The kind of load that most levels differ by, and its levels in order.
fn axis(levels: &[LevelSummary]) -> Option<(Say, Vec<(f64, &LevelSummary)>)> {
    let kinds = [
        (LoadKind::Concurrency, Say::AxisConcurrency),
        (LoadKind::Rate, Say::AxisRate),
        (LoadKind::Burst, Say::AxisBurst),
    ];
    let of_kind = |(kind, say): (LoadKind, Say)| {
        let known = levels.iter().filter_map(|level| Some((level.load.of(kind)?, level)));
        let mut sweep: Vec<(f64, &LevelSummary)> = known.collect();
        sweep.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        (sweep.chunk_by(|a, b| a.0 == b.0).count(), say, sweep)
    };
    let (loads, say, sweep) = kinds.map(of_kind).into_iter().max_by_key(|(loads, ..)| *loads)?;
    let lengths = |(_, level): &(f64, &LevelSummary)| {
        (level.input_length, level.output_length, level.inputs_per_request)
    };
    // Several lengths are several curves, which bars cannot show.
    let alike = sweep.windows(2).all(|pair| lengths(&pair[0]) == lengths(&pair[1]));
    (loads >= FEWEST_LOADS && alike).then_some((say, sweep))
}

/// TTFT, or latency where responses were not streamed.
fn waiting(sweep: &[(f64, &LevelSummary)]) -> Option<Panel> {
    let of = |say: Say,
              which: fn(&LevelSummary) -> &Option<Distribution>,
              value: fn(&Distribution) -> Option<f64>| {
        Panel::of(say, sweep, |level| which(level).as_ref().and_then(value))
    };
    let choices = [
        of(Say::TtftP99, |level| &level.times[Time::Ttft], |ttft| ttft.p99),
        of(Say::TtftP50, |level| &level.times[Time::Ttft], |ttft| ttft.p50),
        of(Say::TtftMean, |level| &level.times[Time::Ttft], |ttft| ttft.mean),
        of(Say::LatencyP50, |level| &level.times[Time::Latency], |latency| latency.p50),
    ];
    choices.into_iter().find(|panel| panel.values().count() >= FEWEST_LOADS)
}

struct Panel {
    title: Say,
    bars: Vec<Stop>,
}

impl Panel {
    /// A value at each load: the mean of its rounds, without invalid ones if there are others.
    fn of(
        title: Say,
        sweep: &[(f64, &LevelSummary)],
        value: impl Fn(&LevelSummary) -> Option<f64>,
    ) -> Self {
        let point = |(load, level): &(f64, &LevelSummary)| {
            let known = value(level).filter(|value| value.is_finite());
            Point::of(*load, known, level.verdict.into())
        };
        let points = sweep.iter().map(point).collect();
        Self { title, bars: Series { name: String::new(), points }.stops() }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.bars.iter().filter_map(|bar| bar.y)
    }

    /// Its title, its bars and its loads, line by line.
    fn lines(&self, axis: Say, slot: usize, language: Language) -> Vec<String> {
        let margin = " ".repeat(MARGIN);
        let names = [self.title, axis].map(|say| say.text(language));
        let mut lines = vec![format!("{margin}{}", Say::By.with(language, &names))];
        let high = bounds(self.values()).map_or(0.0, |[_, high]| high.max(0.0));
        let to = (HEIGHT * 8) as f64;
        let scale = Scale { spacing: Spacing::Linear, low: 0.0, high, from: 0.0, to };
        let is_rate = matches!(self.title, Say::OutputRate | Say::InputRate);
        let shown = if is_rate { number(high) } else { millis(high) };
        for row in (0..HEIGHT).rev() {
            let label = match row {
                0 => "0",
                _ if row == HEIGHT - 1 && high > 0.0 => &shown,
                _ => "",
            };
            let bars: String = self.bars.iter().map(|bar| piece(bar, &scale, row, slot)).collect();
            lines.push(format!("{} {bars}", right(label, MARGIN - 1)));
        }
        lines.push(margin + &self.loads(slot));
        lines
    }

    /// The loads below their bars, as many as there is room for: the last one before the others.
    fn loads(&self, slot: usize) -> String {
        let names: Vec<String> = self.bars.iter().map(|bar| name(bar.x)).collect();
        let room = names.len() * slot;
        let span = |(i, name): (usize, &String)| {
            let wide = width(name);
            let last = i + 1 == names.len();
            let from = if last { (i * slot).min(room.saturating_sub(wide)) } else { i * slot };
            [from, from + wide].map(|end| end as f64)
        };
        let spans: Vec<[f64; 2]> = names.iter().enumerate().map(span).collect();
        let chosen = shown(&spans, [0.0, f64::INFINITY], 1.0, Thinning::Crowded);
        chosen
            .into_iter()
            .fold(String::new(), |line, i| left(&line, spans[i][0] as usize) + &names[i])
    }
}

/// A bar in one row, counted from the bottom, with the space after it.
fn piece(bar: &Stop, scale: &Scale, row: usize, slot: usize) -> String {
    let sign = match bar.y {
        Some(value) if value > 0.0 => {
            let eighths = (scale.at(value).round() as usize).max(1);
            match eighths.saturating_sub(8 * row).min(8) {
                0 => ' ',
                _ if bar.bad => HOLLOW,
                part => EIGHTHS[part],
            }
        }
        _ => ' ',
    };
    let thick = if slot > 1 { slot - 1 } else { 1 };
    format!("{}{}", sign.to_string().repeat(thick), " ".repeat(slot - thick))
}

fn name(load: f64) -> String {
    if load.fract() == 0.0 { format!("{load:.0}") } else { number(load) }
}
