//! The names of the lines and marks of a panel. They are above the plot, in as many rows as needed,
//! so that they cover nothing.

use super::canvas::{Anchor, Canvas, Text};
use super::ground::marker;
use super::measure::{cut, width};
use super::rows::{cross, plus};
use super::swim::{cut_off, join, too_long};
use super::theme::line_class;
use dyno_chart::Trust;

const SIZE: f64 = 11.0;
const ROW: f64 = 17.0;
const SWATCH: f64 = 24.0;
const GAP: f64 = 14.0;

/// The symbol before a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swatch {
    /// A line of this style.
    Line(usize),
    /// A range of the axis.
    Mark,
    /// A part of a bar, of this class.
    Bar(&'static str),
    /// Requests that did not complete.
    Cross,
    /// Requests that an overloaded server refused.
    Plus,
    /// The line on which completed equals offered.
    All,
    /// A thin line: nothing of a session is in flight.
    Gap,
    /// A request that waited for several sessions.
    Join,
    /// A request that was in flight when its level ended.
    Cut,
    /// A request that is too long.
    TooLong,
    /// None: a remark.
    None,
}

/// One name.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) swatch: Swatch,
    pub(super) name: String,
}

struct Placed {
    swatch: Swatch,
    name: String,
    x: f64,
    row: usize,
}

fn place(entries: &[Entry], room: f64) -> Vec<Placed> {
    // Many long names share rows, so that the plot keeps its height.
    let widest = if entries.len() > 4 { (room - GAP) / 2.0 } else { room };
    let (mut x, mut row) = (0.0, 0);
    let mut placed = Vec::new();
    for entry in entries {
        let before = if entry.swatch == Swatch::None { 0.0 } else { SWATCH };
        let name = cut(&entry.name, SIZE, false, widest - before);
        let wide = before + width(&name, SIZE, false);
        if x > 0.0 && x + wide > room {
            (x, row) = (0.0, row + 1);
        }
        placed.push(Placed { swatch: entry.swatch, name, x, row });
        x += wide + GAP;
    }
    placed
}

/// How high it is.
pub(super) fn height(entries: &[Entry], room: f64) -> f64 {
    place(entries, room).last().map_or(0.0, |last| (last.row + 1) as f64 * ROW)
}

/// Draws it from this corner on.
pub(super) fn draw(canvas: &mut Canvas, entries: &[Entry], [left, top]: [f64; 2], room: f64) {
    for Placed { swatch, name, x, row } in place(entries, room) {
        let (x, middle) = (left + x, top + row as f64 * ROW + ROW / 2.0);
        let (from, to) = ([x, middle], [x + SWATCH - 6.0, middle]);
        let mut before = SWATCH;
        match swatch {
            Swatch::Line(style) => {
                canvas.line(&line_class(style), from, to);
                let center = [x + (SWATCH - 6.0) / 2.0, middle];
                marker(canvas, style, Trust::Good, center, 3.2, "");
            }
            Swatch::Mark => canvas.rect("dc-mark", [x, middle - 5.0, SWATCH - 6.0, 10.0]),
            Swatch::Bar(class) => {
                canvas.part(class, [x, middle - 4.0, SWATCH - 6.0, 8.0], "");
            }
            Swatch::Cross => cross(canvas, [x + (SWATCH - 6.0) / 2.0, middle], ""),
            Swatch::Plus => plus(canvas, [x + (SWATCH - 6.0) / 2.0, middle], ""),
            Swatch::All => canvas.line("dc-all", from, to),
            Swatch::Gap => canvas.line("dc-gap", from, to),
            Swatch::Join => {
                canvas.line("dc-gap dc-all", from, to);
                join(canvas, [to[0] - 4.0, middle], "");
            }
            Swatch::Cut => cut_off(canvas, [x + (SWATCH - 6.0) / 2.0, middle], ""),
            Swatch::TooLong => too_long(canvas, [x + (SWATCH - 6.0) / 2.0, middle], ""),
            Swatch::None => before = 0.0,
        }
        canvas.text(&Text {
            class: "dc-muted",
            x: x + before,
            y: middle + SIZE * 0.36,
            anchor: Anchor::Start,
            size: SIZE,
            bold: false,
            text: &name,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_overlap_nor_leave_their_room() {
        let name = |i: usize| "长名 with words ".repeat(i % 5 + 1);
        let entries: Vec<Entry> =
            (0..12).map(|i| Entry { swatch: Swatch::Line(i), name: name(i) }).collect();
        for room in [80.0, 200.0, 368.0] {
            let placed = place(&entries, room);
            let end = |at: &Placed| at.x + SWATCH + width(&at.name, SIZE, false);
            assert!(placed.iter().all(|at| end(at) <= room));
            let apart = |a: &Placed, b: &Placed| a.row < b.row || end(a) + GAP <= b.x + 1e-9;
            assert!(placed.windows(2).all(|pair| apart(&pair[0], &pair[1])));
        }
    }
}
