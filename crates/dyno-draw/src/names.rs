//! The names of levels beside their points, where they overlap neither each other nor a point, and no line if that
//! can be helped.

use super::canvas::{Anchor, Canvas, Text};
use dyno_chart::{Point, Scale, Series};

const SIZE: f64 = 10.0;

/// Whether two areas overlap: left, top, right, bottom.
fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// Whether a line from one point to another crosses the area, seen every few pixels.
fn crosses(area: &[f64; 4], [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> bool {
    let steps = ((x2 - x1).hypot(y2 - y1) / 3.0).ceil().clamp(1.0, 1000.0);
    (0..=steps as usize).any(|step| {
        let part = step as f64 / steps;
        let (x, y) = (x1 + (x2 - x1) * part, y1 + (y2 - y1) * part);
        (area[0]..area[2]).contains(&x) && (area[1]..area[3]).contains(&y)
    })
}

fn area(text: &Text) -> [f64; 4] {
    let [left, right] = text.extent();
    [left, text.y - SIZE * 0.8, right, text.y + SIZE * 0.25]
}

/// Writes each name above, beside or below its point, or leaves it out.
pub(super) fn draw(canvas: &mut Canvas, series: &[Series], x: &Scale, y: &Scale, frame: [f64; 4]) {
    let lines = series.iter().enumerate();
    let points = lines.flat_map(|(line, one)| one.points.iter().map(move |point| (line, point)));
    let known: Vec<(usize, &Point, [f64; 2])> = points
        .filter_map(|(line, point)| Some((line, point, [x.at(point.x), y.at(point.y?)])))
        .collect();
    let dot = |[x, y]: [f64; 2]| [x - 4.0, y - 4.0, x + 4.0, y + 4.0];
    let mut taken: Vec<[f64; 4]> = known.iter().map(|(_, _, at)| dot(*at)).collect();
    let joined = known.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let segments: Vec<[[f64; 2]; 2]> = joined.map(|pair| [pair[0].2, pair[1].2]).collect();
    let mut written: Vec<(usize, &str)> = Vec::new();
    for (line, point, [x, y]) in &known {
        // Rounds of one level are close together: one name is enough.
        if written.contains(&(*line, point.label.as_str())) {
            continue;
        }
        let ways = [
            (5.0, -6.0, Anchor::Start),
            (0.0, -10.0, Anchor::Middle),
            (-5.0, -6.0, Anchor::End),
            (8.0, SIZE * 0.35, Anchor::Start),
            (-8.0, SIZE * 0.35, Anchor::End),
            (0.0, 8.0 + SIZE * 0.8, Anchor::Middle),
        ];
        let place = |(dx, dy, anchor): (f64, f64, Anchor)| {
            let (x, y, text) = (x + dx, y + dy, point.label.as_str());
            Text { class: "dc-name", x, y, anchor, size: SIZE, bold: false, text }
        };
        let free = |text: &Text| {
            let area = area(text);
            let inside = area[0] >= frame[0] && area[2] <= frame[2] && area[1] >= frame[1];
            inside && area[3] <= frame[3] && !taken.iter().any(|other| overlap(&area, other))
        };
        let fit: Vec<Text> = ways.into_iter().map(place).filter(free).collect();
        let clear = |text: &&Text| !segments.iter().any(|[a, b]| crosses(&area(text), *a, *b));
        if let Some(text) = fit.iter().find(clear).or(fit.first()) {
            canvas.text(text);
            taken.push(area(text));
            written.push((*line, text.text));
        }
    }
}
