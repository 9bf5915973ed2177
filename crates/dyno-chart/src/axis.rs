//! Axes: their range, spacing and ticks, and which labels fit.

use crate::numbers;
use crate::scale::{self, Density, Scale, Spacing, bounds};

/// More loads than this are not named one by one.
const MANY: usize = 20;
/// From this ratio on, values may be drawn on a logarithmic axis.
const FAR_APART: f64 = 50.0;

/// The ticks of a horizontal axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ticks {
    /// The measured loads, in the spacing in which they are more even.
    Loads,
    /// The same, always logarithmic.
    Doubling,
    /// Round values from 0 on.
    Round,
    /// Round times.
    Clock,
    /// Round values on a logarithmic axis.
    Decades,
}

/// A tick of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The value; once placed, the pixel.
    pub at: f64,
    /// Its label.
    pub label: String,
}

/// An axis before it is placed on pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Linear or logarithmic.
    pub spacing: Spacing,
    /// Its ends.
    pub ends: [f64; 2],
    /// Its ticks, by value.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// From the least to the greatest of the loads and of the values beyond them.
    pub fn across(kind: Ticks, loads: &[f64], beyond: &[f64]) -> Self {
        let all = loads.iter().chain(beyond).copied();
        let [low, high] = bounds(all).unwrap_or([0.0, 1.0]);
        let spacing = match kind {
            Ticks::Loads => scale::evener(loads),
            Ticks::Doubling | Ticks::Decades => Spacing::Log,
            Ticks::Round | Ticks::Clock => Spacing::Linear,
        };
        let spacing = if low > 0.0 { spacing } else { Spacing::Linear };
        let narrow = spacing == Spacing::Log && Density::Print.is_narrow(low, high);
        let [low, high] = match kind {
            Ticks::Round | Ticks::Clock if high > 0.0 || low < 0.0 => [low.min(0.0), high.max(0.0)],
            Ticks::Round | Ticks::Clock => [0.0, 1.0],
            Ticks::Decades if narrow => [low * 0.95, high * 1.05],
            Ticks::Decades if low > 0.0 => scale::log(low, high, 8).0,
            Ticks::Loads | Ticks::Doubling | Ticks::Decades => [low, high],
        };
        let ticks = match (kind, spacing) {
            (Ticks::Clock, _) => return Self::clock(low, high),
            (Ticks::Loads | Ticks::Doubling, _) if loads.len() <= MANY => alone(loads.to_vec()),
            (Ticks::Loads | Ticks::Doubling, Spacing::Log) => alone(scale::doublings(low, high)),
            (Ticks::Loads | Ticks::Doubling, _) => alone(scale::round(low, high, 10)),
            (Ticks::Decades, Spacing::Log) if !Density::Print.is_narrow(low, high) => {
                alone(Density::Print.between(spacing, [low, high], 8))
            }
            (Ticks::Round | Ticks::Decades, _) => alike(scale::round(low, high, 10)),
        };
        Self { spacing, ends: [low, high], ticks }
    }

    /// A vertical axis around the values and 0. Where values are far apart and `may_be_log`, it is
    /// logarithmic and does not include 0.
    pub fn upright([low, high]: [f64; 2], may_be_log: bool) -> Self {
        if may_be_log && low > 0.0 && high / low >= FAR_APART {
            let (ends, values) = scale::log(low, high, 6);
            return Self { spacing: Spacing::Log, ends, ticks: alone(values) };
        }
        let (ends, values) = scale::linear(low, high, 7);
        Self { spacing: Spacing::Linear, ends, ticks: alike(values) }
    }

    /// From one time to another, in seconds.
    pub fn clock(low: f64, high: f64) -> Self {
        let times = scale::times(low, high, 8);
        Self { spacing: Spacing::Linear, ends: [low, high], ticks: named(times, numbers::time) }
    }

    /// The scale on these pixels.
    pub fn on(&self, [from, to]: [f64; 2]) -> Scale {
        Scale { spacing: self.spacing, low: self.ends[0], high: self.ends[1], from, to }
    }

    /// The ticks by pixel.
    pub fn placed(&self, scale: &Scale) -> Vec<Tick> {
        let place = |tick: &Tick| Tick { at: scale.at(tick.at), label: tick.label.clone() };
        self.ticks.iter().map(place).collect()
    }
}

fn named(values: Vec<f64>, label: fn(f64) -> String) -> Vec<Tick> {
    values.into_iter().map(|at| Tick { at, label: label(at) }).collect()
}

/// Each label with as many digits as its value needs.
fn alone(values: Vec<f64>) -> Vec<Tick> {
    named(values, numbers::label)
}

/// All with the same decimals and the same unit.
fn alike(values: Vec<f64>) -> Vec<Tick> {
    let labels = numbers::labels(&values);
    values.into_iter().zip(labels).map(|(at, label)| Tick { at, label }).collect()
}

/// Which labels are left out where not all fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinning {
    /// Only every second, third and so on is kept, where that keeps nearly as many.
    Even,
    /// Those that overlap one before them, or the last.
    Crowded,
}

/// The labels that are shown, at least `gap` apart; the last one has priority. `spans` are the ends of
/// each label.
pub fn shown(spans: &[[f64; 2]], room: [f64; 2], gap: f64, thinning: Thinning) -> Vec<usize> {
    let fits = |i: &usize| spans[*i][0] >= room[0] && spans[*i][1] <= room[1];
    let apart = |a: usize, b: usize| {
        let ([a_low, a_high], [b_low, b_high]) = (spans[a], spans[b]);
        a_high + gap <= b_low || b_high + gap <= a_low
    };
    let all: Vec<usize> = (0..spans.len()).filter(fits).collect();
    let mut greedy: Vec<usize> = all.last().copied().into_iter().collect();
    for i in all.iter().copied() {
        let before = greedy.len().checked_sub(2).map(|at| greedy[at]);
        if apart(i, greedy[greedy.len() - 1]) && before.is_none_or(|before| apart(before, i)) {
            greedy.insert(greedy.len() - 1, i);
        }
    }
    if thinning == Thinning::Crowded {
        return greedy;
    }
    let every = |stride: usize| all.iter().copied().step_by(stride).collect::<Vec<usize>>();
    let clear = |some: &Vec<usize>| some.windows(2).all(|pair| apart(pair[0], pair[1]));
    let even = (1..=all.len().max(1)).map(every).find(clear).unwrap_or_default();
    if even.len() * 5 >= greedy.len() * 4 { even } else { greedy }
}
