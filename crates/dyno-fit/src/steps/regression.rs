//! Robust regression of the times of windows on their work, with errors by a block bootstrap.

use super::costs::{TERMS, Term};
use super::linear::Sums;
use super::windows::Window;
use dyno_stats::rng::SplitMix;
use dyno_stats::upper_median;

/// Blocks that the windows of a level are divided into.
const BLOCKS: usize = 20;
/// Samples of blocks.
const SAMPLES: usize = 400;
/// Residuals beyond this many standard deviations count less.
const HUBER: f64 = 1.5;
/// The most times that weights are set again.
const REWEIGHTED: usize = 20;

/// Costs that explain windows.
pub(super) struct Estimate {
    /// The coefficient of each term; 0 where it is not used.
    pub(super) values: [f64; TERMS],
    /// The terms that these windows tell apart, in the order given.
    pub(super) used: Vec<usize>,
    /// Sum of the absolute residuals over that of all times.
    pub(super) residual: f64,
    /// The windows, without weights.
    pub(super) plain: Sums<TERMS>,
    weights: Vec<f64>,
}

impl Estimate {
    /// Least squares in which windows count less the more they vary and the worse they fit. Of terms
    /// that explain the same, the first in `order` does.
    pub(super) fn of(levels: &[Vec<Window>], order: &[usize]) -> Option<Self> {
        let windows: Vec<&Window> = levels.iter().flatten().collect();
        let windows = windows.as_slice();
        let mut weights = vec![1.0; windows.len()];
        let plain = sums(windows, &weights);
        let used = plain.independent(order);
        let mut values = plain.solve(&used)?;
        for _ in 0..REWEIGHTED {
            reweight(&mut weights, windows, &values)?;
            let next = sums(windows, &weights).solve(&used)?;
            let moved = next.iter().zip(&values).any(|(next, old)| (next - old).abs() > 1e-6 * old);
            values = next;
            if !moved {
                break;
            }
        }
        let off: f64 = windows.iter().map(|window| residual(window, &values).abs()).sum();
        let time: f64 = windows.iter().map(|window| window.time).sum();
        Some(Self { values, used, residual: off / time, plain, weights })
    }

    /// Estimates from blocks of consecutive windows, drawn with replacement. Weights stay as they are.
    pub(super) fn resampled(&self, levels: &[Vec<Window>]) -> Samples {
        let mut blocks: Vec<Sums<TERMS>> = Vec::new();
        let mut weights = self.weights.as_slice();
        for windows in levels {
            let (own, rest) = weights.split_at(windows.len());
            weights = rest;
            let size = windows.len().div_ceil(BLOCKS).max(1);
            let windows: Vec<&Window> = windows.iter().collect();
            let of_level = windows.chunks(size).zip(own.chunks(size));
            blocks.extend(of_level.map(|(windows, weights)| sums(windows, weights)));
        }
        let mut draws = SplitMix::new(blocks.len() as u64);
        let sample = |_| {
            let mut drawn = Sums::NONE;
            (0..blocks.len()).for_each(|_| drawn.merge(&blocks[draws.below(blocks.len())]));
            // What this sample cannot tell is 0 in it, which makes the error large, as it should be.
            drawn.solve(&drawn.independent(&self.used))
        };
        Samples((0..SAMPLES).filter_map(sample).collect())
    }
}

fn sums(windows: &[&Window], weights: &[f64]) -> Sums<TERMS> {
    let mut sums = Sums::NONE;
    for (window, weight) in windows.iter().zip(weights) {
        sums.add(&window.work, window.time, *weight);
    }
    sums
}

fn residual(window: &Window, values: &[f64; TERMS]) -> f64 {
    let explained: f64 = window.work.iter().zip(values).map(|(work, value)| work * value).sum();
    window.time - explained
}

fn reweight(weights: &mut [f64], windows: &[&Window], values: &[f64; TERMS]) -> Option<()> {
    let scales: Vec<f64> = windows.iter().map(|window| scale(window, values)).collect();
    let off = |(window, scale): (&&Window, &f64)| residual(window, values).abs() / scale;
    let sizes: Vec<f64> = windows.iter().zip(&scales).map(off).collect();
    let bound = HUBER * 1.4826 * upper_median(&mut sizes.clone())?;
    for ((weight, size), scale) in weights.iter_mut().zip(sizes).zip(scales) {
        let outlying = if size > bound { bound / size } else { 1.0 };
        *weight = outlying / (scale * scale);
    }
    Some(())
}

/// The standard deviation of a window's time, but for a factor: each step varies in proportion to its
/// own time.
fn scale(window: &Window, values: &[f64; TERMS]) -> f64 {
    let work = |term: Term| window.work[term as usize];
    let time =
        |terms: &[Term]| terms.iter().map(|term| work(*term) * values[*term as usize]).sum::<f64>();
    let [steps, prefilling] = [work(Term::Base), work(Term::PrefillStep)];
    let decode = time(&[Term::Base, Term::Sequence, Term::Context]) / steps.max(1.0);
    let prefill = time(&[Term::PrefillToken, Term::PrefillStep, Term::Attention]);
    let longer = decode + prefill / prefilling.max(1.0);
    let launch = time(&[Term::Launch]);
    let squares = (steps - prefilling) * decode * decode
        + prefilling * longer * longer
        + launch * launch / work(Term::Launch).max(1.0);
    squares.max(f64::MIN_POSITIVE).sqrt()
}

/// Estimates from many samples.
pub(super) struct Samples(Vec<[f64; TERMS]>);

impl Samples {
    /// The standard deviation of a term's estimates.
    pub(super) fn deviation(&self, at: usize) -> f64 {
        self.covariance(at, at).sqrt()
    }

    /// How far the estimates of two terms move together, from -1 to 1.
    pub(super) fn correlation(&self, a: usize, b: usize) -> f64 {
        let scale = self.deviation(a) * self.deviation(b);
        if scale > 0.0 { self.covariance(a, b) / scale } else { 0.0 }
    }

    fn covariance(&self, a: usize, b: usize) -> f64 {
        let [mean_a, mean_b] = [a, b].map(|at| self.mean(|sample| sample[at]));
        self.mean(|sample| (sample[a] - mean_a) * (sample[b] - mean_b))
    }

    fn mean(&self, of: impl Fn(&[f64; TERMS]) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len() as f64
    }
}
