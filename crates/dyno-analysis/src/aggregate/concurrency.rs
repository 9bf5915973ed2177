//! Requests in flight, exact to the event, from send and end times alone.

use dyno_model::summary::{Concurrency, round6};

/// When requests were sent and when they ended. Which end belongs to which sending does not
/// matter for how many were in flight.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flight {
    sent: Vec<u64>,
    ended: Vec<u64>,
}

impl Flight {
    pub(crate) fn add(&mut self, sent: u64, ended: u64) {
        self.sent.push(sent);
        self.ended.push(ended.max(sent));
    }

    /// The same with requests counted from when they were due: those of `waited` (due, sent), and
    /// those of `unsent` (due, given up) as well. Needs [`Flight::sort`].
    pub(crate) fn with_waits(&self, waited: &[(u64, u64)], unsent: &[(u64, u64)]) -> Self {
        let mut late: Vec<u64> = waited.iter().map(|(_, sent)| *sent).collect();
        late.sort_unstable();
        let mut late = late.into_iter().peekable();
        let on_time = self.sent.iter().filter(|sent| late.next_if_eq(*sent).is_none());
        let mut queue = Self { sent: on_time.copied().collect(), ended: self.ended.clone() };
        queue.sent.extend(waited.iter().chain(unsent).map(|(due, _)| *due));
        queue.ended.extend(unsent.iter().map(|(_, end)| *end));
        queue.sort();
        queue
    }

    pub(crate) fn sort(&mut self) {
        self.sent.sort_unstable();
        self.ended.sort_unstable();
    }

    /// Time-weighted mean in flight over `from..to`.
    pub(crate) fn mean(&self, from: u64, to: u64) -> Option<f64> {
        let length = to.checked_sub(from).filter(|n| *n > 0)?;
        Some((self.area(to) - self.area(from)) as f64 / length as f64)
    }

    /// Requests × nanoseconds in flight before `until`.
    fn area(&self, until: u64) -> i128 {
        let before = |times: &[u64]| -> i128 {
            times.iter().map(|t| i128::from(until.saturating_sub(*t))).sum()
        };
        before(&self.sent) - before(&self.ended)
    }

    /// The most in flight at once from `from` on; needs [`Flight::sort`]. One that ends as
    /// another is sent does not overlap it.
    pub(crate) fn peak(&self, from: u64) -> u64 {
        let (mut over, mut most) = (0, 0);
        for (i, sent) in self.sent.iter().enumerate() {
            while self.ended.get(over).is_some_and(|ended| ended <= sent) {
                over += 1;
            }
            if *sent >= from {
                most = most.max((i + 1).saturating_sub(over));
            }
        }
        most as u64
    }

    /// How many are in flight just before a moment; needs [`Flight::sort`].
    pub(crate) fn at(&self, time: u64) -> u64 {
        let by = |times: &[u64]| times.partition_point(|t| *t < time);
        (by(&self.sent) - by(&self.ended)) as u64
    }

    /// Mean and peak over `from..to`; needs [`Flight::sort`].
    pub(crate) fn over(&self, from: u64, to: u64) -> Option<Concurrency> {
        let mean = round6(self.mean(from, to)?);
        Some(Concurrency { mean, peak: self.peak(from), growth: None })
    }

    /// When requests were sent and when they ended, in seconds after `from`; needs
    /// [`Flight::sort`].
    pub(crate) fn seconds_from(&self, from: u64) -> (Vec<f64>, Vec<f64>) {
        let seconds = |times: &[u64]| {
            times.iter().map(|time| (*time as f64 - from as f64) / 1e9).collect::<Vec<f64>>()
        };
        (seconds(&self.sent), seconds(&self.ended))
    }

    /// Means over `count` equal parts of `from..to`.
    pub(crate) fn segments(&self, from: u64, to: u64, count: u64) -> Vec<f64> {
        parts(from, to, count).filter_map(|(from, to)| self.mean(from, to)).collect()
    }

    /// How many were sent in each of `count` equal parts of `from..to`; needs [`Flight::sort`].
    pub(crate) fn sendings(&self, from: u64, to: u64, count: u64) -> Vec<f64> {
        let before = |time: u64| self.sent.partition_point(|sent| *sent < time);
        parts(from, to, count).map(|(from, to)| (before(to) - before(from)) as f64).collect()
    }
}

/// `count` equal parts of `from..to`.
fn parts(from: u64, to: u64, count: u64) -> impl Iterator<Item = (u64, u64)> {
    let edge = move |i: u64| {
        from + (u128::from(to.saturating_sub(from)) * u128::from(i) / u128::from(count)) as u64
    };
    (0..count).map(move |i| (edge(i), edge(i + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_peak_of_three_overlapping_requests() {
        let mut flight = Flight::default();
        [(0, 10), (5, 15), (10, 20)].iter().for_each(|(s, e)| flight.add(*s, *e));
        flight.sort();
        let got = flight.over(0, 20).unwrap();
        assert_eq!((got.mean, got.peak), (1.5, 2));
        assert_eq!(flight.segments(0, 20, 4), [1.0, 2.0, 2.0, 1.0]);
        assert_eq!([0, 1, 10, 11, 21].map(|time| flight.at(time)), [0, 1, 2, 2, 0]);
        assert_eq!(flight.sendings(0, 20, 4), [1.0, 1.0, 1.0, 0.0]);
    }
}
