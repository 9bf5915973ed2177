//! Least squares over coordinates that are not negative: Levenberg and Marquardt's descent, with Broyden's
//! updates of the slopes until they are taken again.

use crate::dense::{dot, solve};
use crate::search::parallel;

/// The distance over which slopes are taken: far enough that steps which begin a little earlier or later do
/// not decide.
const APART: f64 = 0.04;
/// No coordinate moves farther at once.
const FARTHEST: f64 = 0.5;
/// The usual weight of staying, at first.
pub(super) const DAMPED: f64 = 1e-2;
/// How often a step that does not improve is tried again, shorter.
const SHORTER: usize = 4;
/// A share of improvement that is not worth another round.
const ENOUGH: f64 = 0.01;

/// How long to search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descent {
    /// How often slopes are taken.
    pub(super) rounds: usize,
    /// Steps with one set of slopes.
    pub(super) steps: usize,
    /// The weight of staying, at first.
    pub(super) damped: f64,
    /// Threads that take slopes.
    pub(super) threads: usize,
}

/// A point with its errors.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub(super) at: Vec<f64>,
    /// The errors whose squares are minimised.
    pub(super) rows: Vec<f64>,
    /// How they change with each coordinate; empty if that is not known.
    pub(super) slopes: Vec<Vec<f64>>,
}

impl Point {
    /// A point whose errors are not known yet.
    pub(super) fn start(at: Vec<f64>) -> Self {
        Self { at, rows: Vec::new(), slopes: Vec::new() }
    }

    /// The sum of the squares.
    pub(super) fn value(&self) -> f64 {
        if self.rows.is_empty() { f64::INFINITY } else { dot(&self.rows, &self.rows) }
    }

    /// Takes the slopes.
    pub(super) fn slope(&mut self, threads: usize, rows: &(impl Fn(&[f64]) -> Vec<f64> + Sync)) {
        let axes: Vec<usize> = (0..self.at.len()).collect();
        self.slopes = parallel(threads, &axes, |axis| {
            let mut at = self.at.clone();
            at[*axis] += APART;
            let there = rows(&at);
            there.iter().zip(&self.rows).map(|(there, here)| (there - here) / APART).collect()
        });
    }

    /// The step that would be the best if slopes were the same everywhere, damped. What is 0 does not fall.
    fn step(&self, damped: f64) -> Option<Vec<f64>> {
        let mut free: Vec<usize> = (0..self.at.len()).collect();
        loop {
            let mut step = vec![0.0; self.at.len()];
            let found = self.step_along(&free, damped)?;
            free.iter().zip(found).for_each(|(axis, by)| step[*axis] = by);
            let count = free.len();
            free.retain(|axis| self.at[*axis] > 0.0 || step[*axis] >= 0.0);
            if free.len() == count {
                let by = |(at, by): (&f64, f64)| by.clamp(-FARTHEST, FARTHEST).max(-at);
                return Some(self.at.iter().zip(step).map(by).collect());
            }
        }
    }

    /// The best step along some of the axes.
    fn step_along(&self, axes: &[usize], damped: f64) -> Option<Vec<f64>> {
        let slope = |axis: &usize| &self.slopes[*axis];
        let mut matrix: Vec<Vec<f64>> =
            axes.iter().map(|a| axes.iter().map(|b| dot(slope(a), slope(b))).collect()).collect();
        let most = (0..axes.len()).map(|place| matrix[place][place]).fold(0.0, f64::max);
        for (place, row) in matrix.iter_mut().enumerate() {
            // What the errors do not depend on stays.
            row[place] += damped * row[place] + 1e-6 * most + f64::MIN_POSITIVE;
        }
        solve(matrix, axes.iter().map(|axis| -dot(slope(axis), &self.rows)).collect())
    }

    /// Slopes that explain what a step changed.
    fn learn(&mut self, before: &Self, step: &[f64]) {
        let length = dot(step, step);
        if length <= f64::MIN_POSITIVE {
            return;
        }
        let mut missed: Vec<f64> =
            self.rows.iter().zip(&before.rows).map(|(now, before)| now - before).collect();
        for (slope, by) in before.slopes.iter().zip(step) {
            missed.iter_mut().zip(slope).for_each(|(missed, slope)| *missed -= slope * by);
        }
        self.slopes = before.slopes.clone();
        for (slope, by) in self.slopes.iter_mut().zip(step) {
            slope
                .iter_mut()
                .zip(&missed)
                .for_each(|(slope, missed)| *slope += missed * by / length);
        }
    }
}

impl Descent {
    /// The lowest point that is found from one. Its slopes, if it has any, are used first.
    pub(super) fn minimise(
        &self,
        start: Point,
        rows: &(impl Fn(&[f64]) -> Vec<f64> + Sync),
    ) -> Point {
        let mut best = start;
        if best.rows.is_empty() {
            best.rows = rows(&best.at);
        }
        if best.at.is_empty() || self.steps == 0 {
            return best;
        }
        for _ in 0..self.rounds.max(1) {
            let before = best.value();
            if self.rounds > 0 || best.slopes.len() != best.at.len() {
                best.slope(self.threads, rows);
            }
            let mut damped = self.damped;
            for _ in 0..self.steps {
                let Some(next) = next(&best, &mut damped, rows) else { break };
                let gain = best.value() - next.value();
                best = next;
                if gain < ENOUGH * best.value() {
                    break;
                }
            }
            if before - best.value() < ENOUGH * best.value() {
                break;
            }
        }
        best
    }
}

/// A lower point, if one is found.
fn next(best: &Point, damped: &mut f64, rows: &impl Fn(&[f64]) -> Vec<f64>) -> Option<Point> {
    for _ in 0..SHORTER {
        let step = best.step(*damped)?;
        let at: Vec<f64> = best.at.iter().zip(&step).map(|(at, by)| at + by).collect();
        let mut next = Point { rows: rows(&at), at, slopes: Vec::new() };
        if next.value() < best.value() {
            next.learn(best, &step);
            *damped = (0.3 * *damped).max(1e-4);
            return Some(next);
        }
        *damped *= 8.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCENT: Descent = Descent { rounds: 30, steps: 4, damped: DAMPED, threads: 1 };

    #[test]
    fn a_bent_valley_is_followed_to_its_end() {
        let rows = |at: &[f64]| vec![1.0 - at[0], 10.0 * (at[1] - at[0] * at[0])];
        let found = DESCENT.minimise(Point::start(vec![0.1, 2.0]), &rows);
        assert!((found.at[0] - 1.0).abs() < 0.02 && (found.at[1] - 1.0).abs() < 0.04, "{found:?}");
    }

    #[test]
    fn nothing_becomes_negative_and_the_rest_is_fitted_with_that() {
        // Without the limit, the first would be -1 and the second 2.
        let rows = |at: &[f64]| vec![at[0] + at[1] - 1.0, at[0] - at[1] + 3.0];
        let found = DESCENT.minimise(Point::start(vec![1.0, 1.0]), &rows);
        assert_eq!(found.at[0], 0.0);
        assert!((found.at[1] - 2.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn what_the_errors_do_not_depend_on_stays() {
        let rows = |at: &[f64]| vec![at[0] - 0.5, 2.0 * (at[0] - 0.5)];
        let found = DESCENT.minimise(Point::start(vec![0.0, 3.0]), &rows);
        assert!((found.at[0] - 0.5).abs() < 1e-3, "{found:?}");
        assert!((found.at[1] - 3.0).abs() < 1e-9, "{found:?}");
    }
}
