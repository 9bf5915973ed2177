//! What a panel shows: lines through points, some of which are doubtful or absent.

use super::canvas::Canvas;
use super::scale::{Scale, drawable};
use super::theme::STYLES;

/// How far a point is to be believed, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    Good,
    Doubtful,
    Bad,
}

/// One figure of one level.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) x: f64,
    /// Absent: there is no such figure, and the line has a gap.
    pub(super) y: Option<f64>,
    /// Its 95 % interval.
    pub(super) interval: Option<[f64; 2]>,
    pub(super) trust: Trust,
    /// What the level is called.
    pub(super) label: String,
    /// Why it is not to be believed.
    pub(super) remark: String,
}

/// A line.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub(super) name: String,
    /// In the order of the line.
    pub(super) points: Vec<Point>,
}

impl Series {
    /// Without figures that cannot be drawn.
    pub(super) fn drawable(mut self) -> Self {
        self.points.retain(|point| drawable(point.x).is_some());
        for point in &mut self.points {
            point.y = point.y.and_then(drawable);
            let whole = point.interval.map(|ends| ends.map(drawable));
            point.interval = match (point.y, whole) {
                (Some(_), Some([Some(low), Some(high)])) if low <= high => Some([low, high]),
                _ => None,
            };
        }
        self
    }

    /// All figures, with the ends of their intervals.
    pub(super) fn figures(&self) -> impl Iterator<Item = f64> + '_ {
        let ends = |point: &Point| point.interval.into_iter().flatten().collect::<Vec<f64>>();
        self.points.iter().flat_map(move |point| point.y.into_iter().chain(ends(point)))
    }
}

/// What the line passes at one place: the mean of the rounds that are not bad.
struct Stop {
    x: f64,
    y: Option<f64>,
    bad: bool,
    interval: Option<[f64; 2]>,
}

fn stops(points: &[Point]) -> Vec<Stop> {
    let mut stops = Vec::new();
    for rounds in points.chunk_by(|a, b| a.x == b.x) {
        let known = |bad: bool| {
            let is = move |point: &&Point| (point.trust == Trust::Bad) == bad;
            rounds.iter().filter(is).filter_map(|point| point.y).collect::<Vec<f64>>()
        };
        let (good, bad) = (known(false), known(true));
        let values = if good.is_empty() { &bad } else { &good };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        stops.push(Stop {
            x: rounds[0].x,
            y: (!values.is_empty()).then_some(mean),
            bad: good.is_empty(),
            interval: rounds[0].interval.filter(|_| rounds.len() == 1),
        });
    }
    stops
}

/// Where a panel draws.
pub(super) struct Ground<'a> {
    pub(super) x: &'a Scale,
    pub(super) y: &'a Scale,
    /// There are so many points that their marks are small.
    pub(super) crowded: bool,
}

impl Ground<'_> {
    fn at(&self, x: f64, y: f64) -> [f64; 2] {
        [self.x.at(x), self.y.at(y)]
    }

    /// The intervals, as a band; as a whisker where the neighbours have none.
    pub(super) fn band(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let stops = stops(&series.points);
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

    /// The line, with gaps, and dashed to and from what is bad.
    pub(super) fn line(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let stops = stops(&series.points);
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
            let class = format!("dc-line dc-l{}{doubt}", style % STYLES);
            canvas.path(&class, &corners, false, "");
        }
    }

    /// The line through every point as it is, however many stand above each other.
    pub(super) fn curve(&self, canvas: &mut Canvas, style: usize, series: &Series) {
        let known = series.points.iter().filter_map(|point| Some(self.at(point.x, point.y?)));
        let mut corners: Vec<[f64; 2]> = known.collect();
        corners.dedup();
        let bad = series.points.iter().any(|point| point.trust == Trust::Bad);
        let doubt = if bad { " dc-doubt" } else { "" };
        if corners.len() > 1 {
            let class = format!("dc-line dc-l{}{doubt}", style % STYLES);
            canvas.path(&class, &corners, false, "");
        }
    }

    /// The points; `about` says what each is.
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
    match style % 4 {
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
