//! How far a fit has come, for a display. Nothing here influences the fit.

use super::simplex::Simplex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The counters of a fit in progress.
#[derive(Debug, Default)]
pub struct FitProgress {
    steps: AtomicUsize,
    /// Evaluations, at most, of the steps so far, and of all steps that are expected.
    spent: AtomicUsize,
    expected: AtomicUsize,
    best: Mutex<Option<f64>>,
}

/// The values of the counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitState {
    /// Optimisations that have ended.
    pub steps: usize,
    /// The share of the work that is done, by an estimate; nothing until it is known.
    pub share: Option<f64>,
    /// The typical relative error of the best fit so far.
    pub error: Option<f64>,
}

impl FitProgress {
    /// The state now.
    pub fn state(&self) -> FitState {
        let (spent, expected) = (self.spent.load(Relaxed), self.expected.load(Relaxed));
        // The end is not announced before it is there.
        let share = (expected > 0).then(|| (spent as f64 / expected as f64).min(0.99));
        let error = *self.best.lock().unwrap_or_else(PoisonError::into_inner);
        FitState { steps: self.steps.load(Relaxed), share, error }
    }

    /// What is still to be done takes so many steps of each kind.
    pub(crate) fn expect(&self, steps: &[(usize, Simplex)]) {
        let work: usize = steps.iter().map(|(count, each)| count * each.evaluations).sum();
        self.expected.store(self.spent.load(Relaxed) + work, Relaxed);
    }

    /// An optimisation has ended.
    pub(crate) fn step(&self, simplex: Simplex) {
        self.steps.fetch_add(1, Relaxed);
        self.spent.fetch_add(simplex.evaluations, Relaxed);
    }

    /// An optimisation of another kind has ended.
    pub(crate) fn descended(&self) {
        self.steps.fetch_add(1, Relaxed);
    }

    /// A fit to all levels has this mean squared error of the logarithms.
    pub(crate) fn found(&self, mean_square: f64) {
        let error = mean_square.sqrt().exp_m1();
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        if error.is_finite() && best.is_none_or(|best| error < best) {
            *best = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_follows_the_expected_work() {
        let each = |evaluations| Simplex { evaluations, tolerance: 1e-3, width: 0.1 };
        let progress = FitProgress::default();
        assert_eq!(progress.state(), FitState { steps: 0, share: None, error: None });
        progress.expect(&[(3, each(100)), (1, each(700))]);
        progress.step(each(100));
        progress.found(0.01);
        progress.found(0.04);
        let state = progress.state();
        assert_eq!((state.steps, state.share), (1, Some(0.1)));
        assert!((state.error.unwrap() - 0.105).abs() < 0.001);
        // Less remains than was expected.
        progress.expect(&[(1, each(100))]);
        assert_eq!(progress.state().share, Some(0.5));
        (0..9).for_each(|_| progress.step(each(100)));
        assert_eq!(progress.state().share, Some(0.99));
    }
}
