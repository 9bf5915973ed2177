//! Straight lines between points: what is left open by lines that pass above some points and below others.
//! Linear programming in two dimensions: only corners of the points' convex hulls matter.

/// A point, relative to the time in question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Where lines are at x = 0 that pass above all low points and below all high ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Band {
    pub(super) low: f64,
    pub(super) high: f64,
    /// The least and the greatest slope of such a line.
    pub(super) slopes: (f64, f64),
}

/// The line that is nearest to intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearest {
    /// Its slope.
    pub(super) slope: f64,
    /// At x = 0, parallel lines with this slope that contain all intervals between them.
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Halvings of a range of slopes: 2 ⋅ 10⁻³ becomes 5 ⋅ 10⁻¹³, a tenth of a nanosecond in minutes.
const HALVINGS: u32 = 32;

impl Band {
    /// Both kinds of points are in the order of x. A point counts for less the farther away it is, by
    /// `wander` for each unit of x; lines have slopes up to `fastest`. `None` if there is no such line.
    pub(super) fn of(lows: &[Point], highs: &[Point], wander: f64, fastest: f64) -> Option<Self> {
        let (least, most) = edges(lows, highs, wander);
        let room = |slope| most.at(slope).y - least.at(slope).y;
        let widest = last(-fastest, fastest, |slope| least.at(slope).x >= most.at(slope).x);
        if room(widest) < 0.0 {
            return None;
        }
        let to = last(widest, fastest, |slope| room(slope) >= 0.0);
        let from = -last(-widest, fastest, |slope| room(-slope) >= 0.0);
        // Both are convex, and their slopes are those of the corners: the lowest and the highest place.
        let lowest = last(from, to, |slope| least.at(slope).x >= 0.0);
        let highest = last(from, to, |slope| most.at(slope).x <= 0.0);
        Some(Self {
            low: least.at(lowest).y,
            high: most.at(highest).y.max(least.at(lowest).y),
            slopes: (from, to),
        })
    }
}

/// Whether there is such a line at all.
pub(super) fn is_possible(lows: &[Point], highs: &[Point], wander: f64, fastest: f64) -> bool {
    let (least, most) = edges(lows, highs, wander);
    let widest = last(-fastest, fastest, |slope| least.at(slope).x >= most.at(slope).x);
    most.at(widest).y >= least.at(widest).y
}

fn edges(lows: &[Point], highs: &[Point], wander: f64) -> (Edge, Edge) {
    let loosened = |point: &Point, by: f64| Point { x: point.x, y: point.y + by * point.x.abs() };
    (
        Edge::above(lows.iter().map(|point| loosened(point, -wander))),
        Edge::below(highs.iter().map(|point| loosened(point, wander))),
    )
}

/// The line with the least distance from the farthest end of intervals, which are in the order of x.
pub(super) fn narrowest(lows: &[Point], highs: &[Point], fastest: f64) -> Nearest {
    let (under, over) = (Edge::below(lows.iter().copied()), Edge::above(highs.iter().copied()));
    let slope = last(-fastest, fastest, |slope| over.at(slope).x >= under.at(slope).x);
    Nearest { slope, low: under.at(slope).y, high: over.at(slope).y }
}

/// The greatest slope for which something holds that holds up to it, or `from`.
fn last(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if holds(to) {
        return to;
    }
    let (mut yes, mut no) = (from, to);
    for _ in 0..HALVINGS {
        let middle = (yes + no) / 2.0;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

/// One side of a convex hull.
struct Edge {
    corners: Vec<Point>,
    /// 1 for the upper side, -1 for the lower one.
    side: f64,
}

impl Edge {
    /// The upper side: what a line above all points touches.
    fn above(points: impl Iterator<Item = Point>) -> Self {
        Self::of(points, 1.0)
    }

    /// The lower side.
    fn below(points: impl Iterator<Item = Point>) -> Self {
        Self::of(points, -1.0)
    }

    fn of(points: impl Iterator<Item = Point>, side: f64) -> Self {
        let mut corners: Vec<Point> = Vec::new();
        for point in points {
            while let [.., before, last] = corners[..]
                && side * cross(before, last, point) >= 0.0
            {
                corners.pop();
            }
            corners.push(point);
        }
        Self { corners, side }
    }

    /// The corner that a line of this slope touches, as its x, and the line's y at x = 0.
    fn at(&self, slope: f64) -> Point {
        let height = |corner: &Point| corner.y - slope * corner.x;
        let touched = self
            .corners
            .iter()
            .max_by(|a, b| (self.side * height(a)).total_cmp(&(self.side * height(b))));
        touched.map_or(Point { x: 0.0, y: -self.side * f64::MAX }, |corner| Point {
            x: corner.x,
            y: height(corner),
        })
    }
}

/// Positive if the way over these points turns left.
fn cross(a: Point, b: Point, c: Point) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(f64, f64)]) -> Vec<Point> {
        points.iter().map(|&(x, y)| Point { x, y }).collect()
    }

    #[track_caller]
    fn assert_near(seen: f64, expected: f64) {
        assert!((seen - expected).abs() < 1e-6, "{seen} instead of {expected}");
    }

    #[test]
    fn interval_at_the_time_itself() {
        let band = Band::of(&points(&[(0.0, 2.0)]), &points(&[(0.0, 6.0)]), 0.0, 1e-3).unwrap();
        assert_eq!(band, Band { low: 2.0, high: 6.0, slopes: (-1e-3, 1e-3) });
    }

    #[test]
    fn slope_is_limited_by_points_on_both_sides() {
        let lows = points(&[(-1000.0, 0.0), (1000.0, 1.0)]);
        let highs = points(&[(-1000.0, 0.2), (1000.0, 1.2)]);
        let band = Band::of(&lows, &highs, 0.0, 1e-2).unwrap();
        assert_near(band.low, 0.5);
        assert_near(band.high, 0.7);
        assert_near(band.slopes.0 * 2000.0, 0.8);
        assert_near(band.slopes.1 * 2000.0, 1.2);
    }

    #[test]
    fn ahead_of_all_points_the_slope_is_what_is_open() {
        let lows = points(&[(-2000.0, -0.1), (-1000.0, -0.1)]);
        let highs = points(&[(-2000.0, 0.1), (-1000.0, 0.1)]);
        let band = Band::of(&lows, &highs, 0.0, 1e-2).unwrap();
        assert_near(band.low, -0.3);
        assert_near(band.high, 0.3);
    }

    #[test]
    fn no_line_through_a_corner_unless_the_slope_may_change() {
        let lows = points(&[(-1000.0, -0.1), (0.0, -0.1), (1000.0, 0.9)]);
        let highs = points(&[(-1000.0, 0.1), (0.0, 0.1), (1000.0, 1.1)]);
        assert_eq!(Band::of(&lows, &highs, 0.0, 1e-2), None);
        let band = Band::of(&lows, &highs, 0.5e-3, 1e-2).unwrap();
        assert_near(band.low, -0.1);
        assert_near(band.high, 0.1);
    }

    #[test]
    fn nearest_line_to_intervals() {
        let lows = points(&[(-1.0, -1.0), (0.0, 0.0), (1.0, -1.0)]);
        let highs = points(&[(-1.0, 1.0), (0.0, 2.0), (1.0, 1.0)]);
        let line = narrowest(&lows, &highs, 10.0);
        assert_near(line.slope, 0.0);
        assert_near(line.low, -1.0);
        assert_near(line.high, 2.0);
    }
}
