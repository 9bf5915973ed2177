//! The number in flight over time, and statistics of it.

/// The number in flight from an instant on.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: f64,
    /// +1 for an arrival, -1 for an end.
    by: i64,
    /// How many there are afterwards.
    count: i64,
}

/// The number in flight over a stretch of time.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) from: f64,
    pub(super) to: f64,
    before: i64,
    steps: Vec<Step>,
}

/// Events while at least so many were in flight.
#[derive(Debug, Clone)]
pub(super) struct Above {
    /// Seconds spent there.
    pub(super) time: f64,
    /// Arrivals and ends there, with the time spent there before.
    pub(super) moves: Vec<(f64, i64)>,
}

fn count_before(times: &[f64], at: f64) -> usize {
    times.partition_point(|t| *t < at)
}

impl Flight {
    /// Of sorted arrivals and ends, between two instants. At the same instant ends come first.
    pub(super) fn new(arrivals: &[f64], ends: &[f64], from: f64, to: f64) -> Self {
        let (mut a, mut e) = (count_before(arrivals, from), count_before(ends, from));
        let before = a as i64 - e as i64;
        let mut count = before;
        let mut steps = Vec::new();
        loop {
            let arrival = arrivals.get(a).filter(|t| **t <= to);
            let end = ends.get(e).filter(|t| **t <= to);
            let (at, by) = match (arrival, end) {
                (Some(at), Some(end)) if at < end => (*at, 1),
                (_, Some(end)) => (*end, -1),
                (Some(at), None) => (*at, 1),
                (None, None) => break,
            };
            if by > 0 {
                a += 1
            } else {
                e += 1
            }
            count += by;
            steps.push(Step { at, by, count });
        }
        Self { from, to, before, steps }
    }

    pub(super) fn arrivals(&self) -> usize {
        self.steps.iter().filter(|s| s.by > 0).count()
    }

    pub(super) fn ends(&self) -> usize {
        self.steps.len() - self.arrivals()
    }

    /// How many ended before an instant.
    pub(super) fn ends_before(&self, at: f64) -> usize {
        self.steps.iter().take_while(|s| s.at < at).filter(|s| s.by < 0).count()
    }

    /// Stretches of a constant number in flight from an instant on: their length and number.
    fn stretches(&self, from: f64) -> impl Iterator<Item = (f64, i64)> + '_ {
        let starts = std::iter::once((self.from, self.before));
        let starts = starts.chain(self.steps.iter().map(|s| (s.at, s.count)));
        let ends = self.steps.iter().map(|s| s.at).chain([self.to]);
        starts.zip(ends).map(move |((a, n), b)| ((b - a.max(from)).max(0.0), n))
    }

    /// The number in flight that is not exceeded for this share of the time from an instant on.
    pub(super) fn level(&self, from: f64, share: f64) -> i64 {
        let mut held: Vec<(i64, f64)> = self.stretches(from).map(|(t, n)| (n, t)).collect();
        held.sort_by_key(|(n, _)| *n);
        let mut left = share * held.iter().map(|(_, t)| t).sum::<f64>();
        for (n, t) in &held {
            left -= t;
            if left <= 0.0 {
                return *n;
            }
        }
        held.last().map_or(0, |(n, _)| *n)
    }

    /// Events at `level` or above, from when it was first reached after `from`.
    pub(super) fn above(&self, from: f64, level: i64) -> Above {
        let (mut count, mut at) = (self.before, self.from);
        let mut begun = false;
        let mut found = Above { time: 0.0, moves: Vec::new() };
        for step in &self.steps {
            begun |= step.at >= from && count >= level;
            if begun && count >= level {
                found.time += step.at - at.max(from);
                found.moves.push((found.time, step.by));
            }
            (count, at) = (step.count, step.at);
        }
        if begun && count >= level {
            found.time += self.to - at;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In flight: 1 from 1, 2 from 2, 1 from 3, 2 from 4, 1 from 6, 0 from 9.
    fn flight() -> Flight {
        Flight::new(&[1.0, 2.0, 4.0], &[3.0, 6.0, 9.0], 0.0, 10.0)
    }

    #[test]
    fn counts_and_levels() {
        let all = flight();
        assert_eq!((all.arrivals(), all.ends(), all.ends_before(6.0)), (3, 3, 1));
        // Two seconds of none, five of one, three of two.
        assert_eq!([0.1, 0.3, 0.6, 0.8, 1.0].map(|s| all.level(0.0, s)), [0, 1, 1, 2, 2]);
        assert_eq!(all.level(3.0, 0.1), 0);
        assert_eq!(all.level(3.0, 0.2), 1);
    }

    #[test]
    fn what_is_before_the_stretch_is_in_flight_at_its_beginning() {
        let later = Flight::new(&[1.0, 2.0, 4.0], &[3.0, 6.0, 9.0], 2.5, 5.0);
        assert_eq!((later.arrivals(), later.ends()), (1, 1));
        assert_eq!(later.level(2.5, 1.0), 2);
    }

    #[test]
    fn above_a_level() {
        let two = flight().above(0.0, 2);
        assert_eq!((two.time, two.moves), (3.0, vec![(1.0, -1), (3.0, -1)]));
        let one = flight().above(0.0, 1);
        assert_eq!(one.time, 8.0);
        assert_eq!(one.moves, vec![(1.0, 1), (2.0, -1), (3.0, 1), (5.0, -1), (8.0, -1)]);
        let later = flight().above(5.0, 1);
        assert_eq!((later.time, later.moves), (4.0, vec![(1.0, -1), (4.0, -1)]));
    }
}
