//! A heat map: one cell for each pair of lengths, labelled where the label fits.

use super::axis;
use super::canvas::{Anchor, Canvas, Text};
use super::measure::{cut, width};
use super::theme::shade;
use super::words::Word;
use dyno_chart::{Tick, Trust, bounds, drawable};
use dyno_model::Language;
use dyno_words::columns::{ABSENT, number};

/// The value of one cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) value: Option<f64>,
    pub(super) trust: Trust,
    /// Its tooltip.
    pub(super) about: String,
}

/// A heat map to draw.
#[derive(Debug, Clone)]
pub(super) struct Heat {
    /// What `--charts` calls it.
    pub(super) name: &'static str,
    pub(super) title: String,
    /// What rows and columns are.
    pub(super) axes: [Word; 2],
    /// Names of columns and rows.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<String>,
    /// Row by row; absent where there is no such level.
    pub(super) cells: Vec<Vec<Option<Cell>>>,
}

/// The shade of a value that is the only one.
const ONLY: f64 = 0.4;

impl Heat {
    /// Draws it into a place: left, top, width, height.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: [f64; 4], language: Language) {
        let [left, top, wide, high] = place;
        axis::title(canvas, place, &self.title);
        let [down, across] = self.axes.map(|word| word.in_language(language));
        axis::muted(canvas, left, top + 33.0, Anchor::Start, down);
        axis::title_below(canvas, place, across);
        let names: Vec<String> =
            self.rows.iter().map(|name| cut(name, axis::SIZE, false, wide / 3.0)).collect();
        let widest = names.iter().map(|name| width(name, axis::SIZE, false)).fold(0.0, f64::max);
        let frame = [left + widest + 8.0, top + 46.0, left + wide, top + high - 38.0];
        let step = [
            (frame[2] - frame[0]) / self.columns.len().max(1) as f64,
            (frame[3] - frame[1]) / self.rows.len().max(1) as f64,
        ];
        let middle = |axis: usize, i: usize| frame[axis] + (i as f64 + 0.5) * step[axis];
        let rows = names.into_iter().enumerate();
        let rows: Vec<Tick> = rows.map(|(i, label)| Tick { at: middle(1, i), label }).collect();
        axis::beside(canvas, &rows, frame[0] - 6.0, [frame[1], frame[3]]);
        let columns = self.columns.iter().enumerate();
        let room = step[0].max(40.0) - 8.0;
        let columns: Vec<Tick> = columns
            .map(|(i, name)| Tick { at: middle(0, i), label: cut(name, axis::SIZE, false, room) })
            .collect();
        axis::below(canvas, &columns, frame[3] + 16.0, [left, left + wide]);

        let all = self.cells.iter().flatten().flatten();
        let good = all.filter(|cell| cell.trust != Trust::Bad);
        let range = bounds(good.filter_map(|cell| cell.value.and_then(drawable)));
        if let Some(range) = range {
            legend(canvas, range, [left + wide, top + 24.0]);
        }
        let size = self.label_size(step);
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let corner = [frame[0] + column as f64 * step[0], frame[1] + row as f64 * step[1]];
                let gap = if step[0].min(step[1]) > 8.0 { 1.0 } else { 0.0 };
                let area =
                    [corner[0] + gap, corner[1] + gap, step[0] - 2.0 * gap, step[1] - 2.0 * gap];
                if let Some(cell) = cell {
                    draw_cell(canvas, cell, area, range, size);
                }
            }
        }
    }

    /// The largest size at which all labels fit into their cells.
    fn label_size(&self, step: [f64; 2]) -> Option<f64> {
        let all = self.cells.iter().flatten().flatten();
        let labels: Vec<String> = all.map(label).collect();
        let widest = labels.iter().map(|label| width(label, 1.0, false)).fold(0.0, f64::max);
        let fits = |size: &f64| widest * size <= step[0] - 6.0 && size * 1.3 <= step[1] - 3.0;
        [13.0, 11.0, 9.0].into_iter().find(fits)
    }
}

/// The colours from the lowest value to the highest, ending at this corner.
fn legend(canvas: &mut Canvas, [low, high]: [f64; 2], [right, top]: [f64; 2]) {
    const STEPS: usize = 6;
    const WIDE: f64 = 12.0;
    let end = value_label(high);
    let x = right - width(&end, axis::SIZE, false) - 6.0;
    axis::muted(canvas, right, top + 9.0, Anchor::End, &end);
    let steps = if high > low { STEPS } else { 1 };
    let start = x - steps as f64 * WIDE;
    for step in 0..steps {
        let share = if steps > 1 { step as f64 / (steps - 1) as f64 } else { ONLY };
        let (fill, _) = shade(share, false);
        canvas.cell("dc-cell", [start + step as f64 * WIDE, top, WIDE, 10.0], &fill, "");
    }
    if steps > 1 {
        axis::muted(canvas, start - 6.0, top + 9.0, Anchor::End, &value_label(low));
    }
}

fn value_label(value: f64) -> String {
    if value.abs() >= 1e7 { format!("{value:.1e}") } else { number(value) }
}

fn label(cell: &Cell) -> String {
    cell.value.and_then(drawable).map_or_else(|| ABSENT.to_owned(), value_label)
}

fn draw_cell(
    canvas: &mut Canvas,
    cell: &Cell,
    area: [f64; 4],
    range: Option<[f64; 2]>,
    size: Option<f64>,
) {
    let value = cell.value.and_then(drawable);
    let ink = match (value, range) {
        (Some(value), Some([low, high])) if cell.trust != Trust::Bad => {
            let share = if high > low { (value - low) / (high - low) } else { ONLY };
            let (fill, ink) = shade(share, cell.trust == Trust::Doubtful);
            canvas.cell("dc-cell", area, &fill, &cell.about);
            ink
        }
        _ => {
            canvas.cell("dc-bad", area, "none", &cell.about);
            "dc-muted"
        }
    };
    if let Some(size) = size {
        let text = label(cell);
        canvas.text(&Text {
            class: ink,
            x: area[0] + area[2] / 2.0,
            y: area[1] + area[3] / 2.0 + size * 0.36,
            anchor: Anchor::Middle,
            size,
            bold: false,
            text: &text,
        });
    }
}
