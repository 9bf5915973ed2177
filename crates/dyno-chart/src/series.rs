//! The lines of a chart: points, some of which are doubtful or absent.

use crate::drawable;
use dyno_model::Verdict;

/// How trustworthy a point is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Valid, with enough samples.
    Good,
    /// Few samples, or a suspect level.
    Doubtful,
    /// An invalid level.
    Bad,
}

impl From<Verdict> for Trust {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid | Verdict::Unjudged => Self::Good,
            Verdict::Suspect => Self::Doubtful,
            Verdict::Invalid => Self::Bad,
        }
    }
}

/// One value of one level.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its load or time.
    pub x: f64,
    /// Absent: not available; the line has a gap.
    pub y: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// How trustworthy it is.
    pub trust: Trust,
    /// The name of the level.
    pub label: String,
    /// Why it is not trustworthy.
    pub remark: String,
}

impl Point {
    /// A value without interval and texts.
    pub fn of(x: f64, y: Option<f64>, trust: Trust) -> Self {
        Self { x, y, interval: None, trust, label: String::new(), remark: String::new() }
    }
}

/// A line.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name; may be empty.
    pub name: String,
    /// In the order of the line.
    pub points: Vec<Point>,
}

impl Series {
    /// Without values that cannot be drawn.
    pub fn drawable(mut self) -> Self {
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

    /// All values, with the ends of their intervals.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let ends = |point: &Point| point.interval.into_iter().flatten().collect::<Vec<f64>>();
        self.points.iter().flat_map(move |point| point.y.into_iter().chain(ends(point)))
    }

    /// The points of the line, one for each place.
    pub fn stops(&self) -> Vec<Stop> {
        let mut stops = Vec::new();
        for rounds in self.points.chunk_by(|a, b| a.x == b.x) {
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
}

/// A point of the line: the mean of the rounds at one place that are not bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Their place.
    pub x: f64,
    /// Absent: none of them has a value.
    pub y: Option<f64>,
    /// All of them are bad.
    pub bad: bool,
    /// The 95 % interval, where there is one round.
    pub interval: Option<[f64; 2]>,
}
