//! The curve of a run in a few lines: work and latency over the load, a bar a load. An absent
//! figure leaves a gap, and the bar of an invalid level is hollow.

use super::TextOptions;
use crate::messages::Say;
use dyno_model::Language;
use dyno_model::Verdict;
use dyno_model::load::LoadKind;
use dyno_model::metric::Time;
use dyno_model::summary::{Distribution, LevelSummary};
use dyno_words::columns::{left, millis, number, right, width};

const HEIGHT: usize = 4;
/// Columns of the figures beside the bars.
const MARGIN: usize = 7;
const GAP: usize = 2;
const WIDEST_SLOT: usize = 5;
const FEWEST_LOADS: usize = 3;
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const HOLLOW: char = '░';

/// Two small charts side by side; nothing where there are fewer than three loads of one kind.
pub(super) fn plot(levels: &[LevelSummary], options: &TextOptions) -> String {
    let language = options.language;
    let Some((axis, loads)) = axis(levels) else { return String::new() };
    let columns = (options.width - GAP) / 2;
    let Some(slot) = (columns - MARGIN).checked_div(loads.len()).filter(|slot| *slot > 0) else {
        return String::new();
    };
    let slot = slot.min(WIDEST_SLOT);
    let steady = all_steady(&loads);
    let work = Panel::of(Say::OutputRate, &loads, |level| output_rate(level, steady));
    let panels: Vec<Panel> = [Some(work), waiting(&loads)].into_iter().flatten().collect();
    let drawn: Vec<Vec<String>> =
        panels.iter().map(|panel| panel.lines(axis, &loads, slot, language)).collect();
    let mut out = String::from("\n");
    for row in 0..HEIGHT + 2 {
        let line = drawn.iter().filter_map(|lines| lines.get(row)).map(|line| left(line, columns));
        let line = line.collect::<Vec<_>>().join(&" ".repeat(GAP));
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    if panels.iter().any(|panel| panel.bars.iter().flatten().any(|bar| bar.hollow)) {
        let (margin, words) = (" ".repeat(MARGIN), Say::Hollow.text(language));
        out.push_str(&format!("{margin}{HOLLOW} {words}\n"));
    }
    out
}

/// The rounds of one load.
type Rounds<'a> = (f64, Vec<&'a LevelSummary>);

/// The kind of load that most levels differ by, and its loads in order.
fn axis(levels: &[LevelSummary]) -> Option<(Say, Vec<Rounds<'_>>)> {
    let kinds = [
        (LoadKind::Concurrency, Say::AxisConcurrency),
        (LoadKind::Rate, Say::AxisRate),
        (LoadKind::Burst, Say::AxisBurst),
    ];
    let all = kinds.map(|(kind, say)| (say, loads(levels, kind)));
    let longest = all.into_iter().max_by_key(|(_, loads)| loads.len())?;
    let (say, loads) = longest;
    let lengths = |level: &LevelSummary| (level.input_length, level.output_length);
    let mut each = loads.iter().flat_map(|(_, rounds)| rounds.iter().map(|level| lengths(level)));
    let first = each.next()?;
    // Several lengths are several curves, which bars cannot show.
    (loads.len() >= FEWEST_LOADS && each.all(|other| other == first)).then_some((say, loads))
}

fn loads<'a>(levels: &'a [LevelSummary], kind: LoadKind) -> Vec<Rounds<'a>> {
    let mut loads: Vec<Rounds<'a>> = Vec::new();
    for level in levels.iter().filter(|level| level.load.kind == kind) {
        let Some(value) = level.load.value else { continue };
        match loads.iter_mut().find(|(load, _)| *load == value) {
            Some((_, rounds)) => rounds.push(level),
            None => loads.push((value, vec![level])),
        }
    }
    loads.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    loads
}

/// Every level that counts has a steady window, so that figures of such windows can be compared.
fn all_steady(loads: &[Rounds<'_>]) -> bool {
    let mut counted = loads.iter().flat_map(|(_, rounds)| rounds).filter(|level| is_good(level));
    counted.all(|level| level.steady.is_some())
}

fn is_good(level: &LevelSummary) -> bool {
    level.verdict != Verdict::Invalid
}

fn output_rate(level: &LevelSummary, steady: bool) -> Option<f64> {
    let window = level.steady.filter(|_| steady).map(|steady| steady.throughput);
    window.unwrap_or(level.throughput).output_tokens_per_s
}

/// The wait for the first token, or the latency where none was streamed.
fn waiting(loads: &[Rounds<'_>]) -> Option<Panel> {
    type Percentile = fn(&Distribution) -> Option<f64>;
    let of = |say: Say, which: fn(&LevelSummary) -> &Option<Distribution>, value: Percentile| {
        Panel::of(say, loads, |level| which(level).as_ref().and_then(value))
    };
    let choices = [
        of(Say::TtftP99, |level| &level.times[Time::Ttft], |ttft| ttft.p99),
        of(Say::TtftP50, |level| &level.times[Time::Ttft], |ttft| ttft.p50),
        of(Say::LatencyP50, |level| &level.times[Time::Latency], |latency| latency.p50),
    ];
    choices.into_iter().find(|panel| panel.bars.iter().flatten().count() >= FEWEST_LOADS)
}

#[derive(Debug, Clone, Copy)]
struct Bar {
    value: f64,
    hollow: bool,
}

struct Panel {
    title: Say,
    bars: Vec<Option<Bar>>,
}

impl Panel {
    /// A figure at each load: the mean of its rounds, without invalid ones if there are others.
    fn of(title: Say, loads: &[Rounds<'_>], figure: impl Fn(&LevelSummary) -> Option<f64>) -> Self {
        let mean = |rounds: &[&LevelSummary], good: bool| {
            let counted = rounds.iter().filter(|level| is_good(level) == good);
            let known: Vec<f64> = counted
                .filter_map(|level| figure(level))
                .filter(|value| value.is_finite())
                .collect();
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            (!known.is_empty()).then_some(Bar { value: mean, hollow: !good })
        };
        let bars =
            loads.iter().map(|(_, rounds)| mean(rounds, true).or_else(|| mean(rounds, false)));
        Self { title, bars: bars.collect() }
    }

    /// Its title, its bars and its loads, line by line.
    fn lines(
        &self,
        axis: Say,
        loads: &[Rounds<'_>],
        slot: usize,
        language: Language,
    ) -> Vec<String> {
        let margin = " ".repeat(MARGIN);
        let names = [self.title, axis].map(|say| say.text(language));
        let mut lines = vec![format!("{margin}{}", Say::By.with(language, &names))];
        let most = self.bars.iter().flatten().map(|bar| bar.value).fold(0.0, f64::max);
        let shown = if self.title == Say::OutputRate { number(most) } else { millis(most) };
        for row in (0..HEIGHT).rev() {
            let figure = match row {
                0 => "0",
                _ if row == HEIGHT - 1 && most > 0.0 => &shown,
                _ => "",
            };
            let bars: String = self.bars.iter().map(|bar| piece(*bar, most, row, slot)).collect();
            lines.push(format!("{} {bars}", right(figure, MARGIN - 1)));
        }
        lines.push(margin + &scale(loads, slot));
        lines
    }
}

/// A bar in one row, counted from the bottom, with the space behind it.
fn piece(bar: Option<Bar>, most: f64, row: usize, slot: usize) -> String {
    let sign = match bar {
        Some(bar) if bar.value > 0.0 && most > 0.0 => {
            let all = HEIGHT * 8;
            let eighths = ((bar.value / most * all as f64).round() as usize).clamp(1, all);
            match eighths.saturating_sub(8 * row).min(8) {
                0 => ' ',
                _ if bar.hollow => HOLLOW,
                part => EIGHTHS[part],
            }
        }
        _ => ' ',
    };
    let thick = if slot > 1 { slot - 1 } else { 1 };
    format!("{}{}", sign.to_string().repeat(thick), " ".repeat(slot - thick))
}

/// The loads below their bars, as many as there is room for: the last one before the others.
fn scale(loads: &[Rounds<'_>], slot: usize) -> String {
    let names: Vec<String> = loads.iter().map(|(load, _)| name(*load)).collect();
    let last = names.len().saturating_sub(1);
    let room = names.len() * slot;
    let last_at =
        names.last().map_or(0, |name| (last * slot).min(room.saturating_sub(width(name))));
    let mut line = String::new();
    for (i, name) in names.iter().enumerate() {
        let at = if i == last { last_at } else { i * slot };
        let free = line.is_empty() || width(&line) < at;
        if free && (i == last || at + width(name) < last_at) {
            line = left(&line, at) + name;
        }
    }
    line
}

fn name(load: f64) -> String {
    if load.fract() == 0.0 { format!("{load:.0}") } else { number(load) }
}
