//! What a chart shows: lines through points, some of which are doubtful or absent.

use crate::drawable;
use dyno_model::Verdict;

/// How far a point is to be believed, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Without reserve.
    Good,
    /// Few samples, or a suspect level.
    Doubtful,
    /// It does not count.
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

/// One figure of one level.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its load, or its time.
    pub x: f64,
    /// Absent: there is no such figure, and the line has a gap.
    pub y: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// How far it is to be believed.
    pub trust: Trust,
    /// What the level is called.
    pub label: String,
    /// Why it is not to be believed.
    pub remark: String,
}

impl Point {
    /// A figure with nothing else to it.
    pub fn of(x: f64, y: Option<f64>, trust: Trust) -> Self {
        Self { x, y, interval: None, trust, label: String::new(), remark: String::new() }
    }
}

/// A line.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the line is called; may be empty.
    pub name: String,
    /// In the order of the line.
    pub points: Vec<Point>,
}

impl Series {
    /// Without figures that cannot be drawn.
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

    /// All figures, with the ends of their intervals.
    pub fn figures(&self) -> impl Iterator<Item = f64> + '_ {
        let ends = |point: &Point| point.interval.into_iter().flatten().collect::<Vec<f64>>();
        self.points.iter().flat_map(move |point| point.y.into_iter().chain(ends(point)))
    }

    /// What the line passes, place by place.
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

/// What the line passes at one place: the mean of the rounds that are not bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// The place of all of them.
    pub x: f64,
    /// Absent: none of them has the figure.
    pub y: Option<f64>,
    /// There is none but bad ones.
    pub bad: bool,
    /// The 95 % interval of one that is alone.
    pub interval: Option<[f64; 2]>,
}
