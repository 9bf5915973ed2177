//! Ticks with labels that never run into each other: those that would are left out.

use super::canvas::{Anchor, Canvas, Text};
use super::measure::width;
use dyno_chart::Tick;
use dyno_chart::axis::{Thinning, shown};

/// Font size of tick labels.
pub(super) const SIZE: f64 = 11.0;

/// Labels below a plot, centred on their ticks.
pub(super) fn below(canvas: &mut Canvas, ticks: &[Tick], y: f64, room: [f64; 2]) {
    canvas.open("dc-axis-x");
    for Tick { at, label } in with_room(ticks, |label| width(label, SIZE, false), room, 4.0) {
        text(canvas, *at, y, Anchor::Middle, label);
    }
    canvas.close();
}

/// Labels to the left of a plot, ending at `x`.
pub(super) fn beside(canvas: &mut Canvas, ticks: &[Tick], x: f64, room: [f64; 2]) {
    canvas.open("dc-axis-y");
    for Tick { at, label } in with_room(ticks, |_| SIZE, room, 3.0) {
        text(canvas, x, *at + SIZE * 0.36, Anchor::End, label);
    }
    canvas.close();
}

/// Those that have room; `way` is how much of the axis a label takes.
fn with_room(
    ticks: &[Tick],
    way: impl Fn(&str) -> f64,
    room: [f64; 2],
    gap: f64,
) -> impl Iterator<Item = &Tick> {
    let span = |tick: &Tick| [-0.5, 0.5].map(|half| tick.at + half * way(&tick.label));
    let spans: Vec<[f64; 2]> = ticks.iter().map(span).collect();
    shown(&spans, room, gap, Thinning::Even).into_iter().map(|i| &ticks[i])
}

fn text(canvas: &mut Canvas, x: f64, y: f64, anchor: Anchor, text: &str) {
    canvas.text(&Text { class: "dc-tick", x, y, anchor, size: SIZE, bold: false, text });
}
