//! The lines, bands and marks of a panel.

use super::canvas::Canvas;
use super::theme::{STYLES, line_class, marker_of};
use dyno_chart::{Point, Scale, Series, Stop, Trust};

/// The scales that a panel draws on.
pub(super) struct Ground<'a> {
    pub(super) x: &'a Scale,
    pub(super) y: &'a Scale,
    /// There are many points, so their marks are small.
    pub(super) crowded: bool,
}

impl Ground<'_> {
    fn at(&self, x: f64, y: f64) -> [f64; 2] {
        [self.x.at(x), self.y.at(y)]
    }

    /// The intervals, as a band; as a whisker where the neighbours have none.
    pub(super) fn band(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let stops = series.stops();
        for run in stops.chunk_by(|a, b| a.interval.is_some() == b.interval.is_some()) {
            let edge = |end: usize| {
                let corner = move |stop: &Stop| Some(self.at(stop.x, stop.interval?[end]));
                run.iter().filter_map(corner).collect::<Vec<[f64; 2]>>()
            };
            let (low, mut high) = (edge(0), edge(1));
            match (low.as_slice(), high.as_slice()) {
                ([], _) | (_, []) => {}
                ([low], [high]) => {
                    canvas.line(&format!("dc-whisker dc-l{}", style % STYLES), *low, *high);
                }
                _ => {
                    high.reverse();
                    let corners = [low, high].concat();
                    canvas.path(&format!("dc-band dc-b{}", style % STYLES), &corners, true, "");
                }
            }
        }
    }

    /// The line, with gaps, and dashed to and from invalid levels.
    pub(super) fn line(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let stops = series.stops();
        let segments: Vec<(bool, [[f64; 2]; 2])> = stops
            .windows(2)
            .filter_map(|pair| {
                let ends = [&pair[0], &pair[1]];
                let [from, to] = ends.map(|stop| stop.y.map(|y| self.at(stop.x, y)));
                Some((pair[0].bad || pair[1].bad, [from?, to?]))
            })
            .collect();
        for run in segments.chunk_by(|a, b| a.0 == b.0 && a.1[1] == b.1[0]) {
            let first = run.iter().take(1).map(|(_, ends)| ends[0]);
            let corners: Vec<[f64; 2]> = first.chain(run.iter().map(|(_, ends)| ends[1])).collect();
            let doubt = if run[0].0 { " dc-doubt" } else { "" };
            let class = format!("{}{doubt}", line_class(style));
            canvas.path(&class, &corners, false, "");
        }
    }

    /// The line through every point, even where several have the same place.
    pub(super) fn curve(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let known = series.points.iter().filter_map(|point| Some(self.at(point.x, point.y?)));
        let mut corners: Vec<[f64; 2]> = known.collect();
        corners.dedup();
        let bad = series.points.iter().any(|point| point.trust == Trust::Bad);
        let doubt = if bad { " dc-doubt" } else { "" };
        if corners.len() > 1 {
            let class = format!("{}{doubt}", line_class(style));
            canvas.path(&class, &corners, false, "");
        }
    }

    /// The points; `about` gives their tooltips.
    pub(super) fn points(
        &self,
        canvas: &mut Canvas,
        style: usize,
        series: &Series,
        about: &dyn Fn(&Point, f64) -> String,
    ) {
        let size = if self.crowded || series.points.len() > 30 { 2.2 } else { 3.6 };
        for point in &series.points {
            if let Some(y) = point.y {
                let center = self.at(point.x, y);
                marker(canvas, style, point.trust, center, size, &about(point, y));
            }
        }
    }
}

/// The mark of one point.
pub(super) fn marker(
    canvas: &mut Canvas,
    style: usize,
    trust: Trust,
    [x, y]: [f64; 2],
    size: f64,
    about: &str,
) {
    let kind = match trust {
        Trust::Good => 'p',
        Trust::Doubtful => 'q',
        Trust::Bad => 'h',
    };
    let class = format!("dc-point dc-{kind}{}", style % STYLES);
    let corner = |dx: f64, dy: f64| [x + dx * size, y + dy * size];
    match marker_of(style) {
        0 => canvas.circle(&class, [x, y], size, about),
        1 => {
            let corners = [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
            canvas.path(&class, &corners.map(|(dx, dy)| corner(dx, dy)), true, about);
        }
        2 => {
            let corners = [(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
            canvas.path(&class, &corners.map(|(dx, dy)| corner(dx, dy)), true, about);
        }
        _ => {
            let corners = [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)];
            canvas.path(&class, &corners.map(|(dx, dy)| corner(dx, dy)), true, about);
        }
    }
}
