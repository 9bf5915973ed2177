//! What is written around a plot: titles and tick labels. Labels that would overlap are left out.

use super::canvas::{Anchor, Canvas, Text};
use super::measure::{cut, width};
use dyno_chart::Tick;
use dyno_chart::axis::{Thinning, shown};

/// Font size of tick labels.
pub(super) const SIZE: f64 = 11.0;

const TITLE: f64 = 13.0;

/// The smallest size of a title; one that does not fit then is cut.
const SMALL_TITLE: f64 = 11.0;

/// The title above a plot in its place: left, top, width, height.
pub(super) fn title(canvas: &mut Canvas, [left, top, wide, _]: [f64; 4], text: &str) {
    let size = (TITLE * wide / width(text, TITLE, true)).clamp(SMALL_TITLE, TITLE);
    let text = &cut(text, size, true, wide);
    let (x, y, anchor) = (left, top + 15.0, Anchor::Start);
    canvas.text(&Text { class: "dc-ink", x, y, anchor, size, bold: true, text });
}

/// The title of the horizontal axis.
pub(super) fn title_below(canvas: &mut Canvas, [left, top, wide, high]: [f64; 4], text: &str) {
    muted(
        canvas,
        left + wide / 2.0,
        top + high - 4.0,
        Anchor::Middle,
        &cut(text, SIZE, false, wide),
    );
}

/// A remark.
pub(super) fn muted(canvas: &mut Canvas, x: f64, y: f64, anchor: Anchor, text: &str) {
    canvas.text(&Text { class: "dc-muted", x, y, anchor, size: SIZE, bold: false, text });
}

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

/// The ticks whose labels fit; `way` is how much of the axis a label takes.
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
