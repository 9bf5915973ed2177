//! What a step costs: robust regression over windows of steps, with errors by a block bootstrap.

use super::LevelSteps;
use super::linear::Sums;
use super::median::median;
use super::windows::{Window, windows};
use dyno_stats::rng::SplitMix;

/// The number of [`Term`]s.
pub(super) const TERMS: usize = 6;
/// The fewest windows.
const FEWEST: usize = 20;
/// Blocks that the windows of a level are divided into.
const BLOCKS: usize = 20;
/// Samples of blocks.
const SAMPLES: usize = 400;
/// Residuals beyond this many standard deviations count less.
const HUBER: f64 = 1.5;
/// The most times that weights are set again.
const REWEIGHTED: usize = 20;
/// Standard errors on each side of an interval that holds 95 %.
const SIDES: f64 = 1.96;
/// Estimates that move together like this, and are unsure, are not separate.
const TOGETHER: f64 = 0.95;
/// The relative error from which on an estimate is unsure.
const UNSURE: f64 = 0.25;

/// A part of a step's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// Of every step.
    Base,
    /// For each decoding sequence.
    Sequence,
    /// For each token that a decoding sequence attends to.
    Context,
    /// For each prompt token that is prefilled.
    PrefillToken,
    /// For every step that gives a first token.
    PrefillStep,
    /// For each pair of a prefilled token and one that it attends to.
    Attention,
}

impl Term {
    /// All, in the order of a window's work.
    const ALL: [Self; TERMS] = [
        Self::Base,
        Self::Sequence,
        Self::Context,
        Self::PrefillToken,
        Self::PrefillStep,
        Self::Attention,
    ];
    /// The order in which they explain what several of them could.
    const BY_WEIGHT: [Self; TERMS] = [
        Self::Base,
        Self::PrefillToken,
        Self::Sequence,
        Self::PrefillStep,
        Self::Context,
        Self::Attention,
    ];
}

/// Whether a coefficient is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Its interval does not reach 0.
    Yes,
    /// It may be 0.
    MayBeZero,
    /// These levels do not tell it from another.
    Like(Term),
    /// No step had such work.
    Absent,
}

/// The time for one unit of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// Of what.
    pub term: Term,
    /// In seconds; never negative.
    pub value: f64,
    /// Standard error; absent where the term was left out of the fit.
    pub error: Option<f64>,
    /// Whether it is known.
    pub known: Known,
}

impl Coefficient {
    /// The interval that holds the true value with 95 % confidence.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let reach = SIDES * self.error?;
        Some([(self.value - reach).max(0.0), self.value + reach])
    }
}

/// The costs of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCosts {
    /// One for each term.
    pub coefficients: [Coefficient; TERMS],
    /// Windows that they were fitted to.
    pub windows: usize,
    /// Sum of the absolute residuals over that of all times.
    pub residual: f64,
}

impl StepCosts {
    /// The coefficient of a term.
    pub fn of(&self, term: Term) -> &Coefficient {
        &self.coefficients[term as usize]
    }
}

/// The costs that explain the steps of these levels; nothing if there are too few.
pub fn step_costs(levels: &[&LevelSteps]) -> Option<StepCosts> {
    let levels: Vec<Vec<Window>> = levels.iter().map(|level| windows(level)).collect();
    let all: Vec<Window> = levels.iter().flatten().copied().collect();
    if all.len() < FEWEST {
        return None;
    }
    let plain = sums(&all, &vec![1.0; all.len()]);
    let used = plain.independent(&Term::BY_WEIGHT.map(|term| term as usize));
    let (values, weights) = fit(&all, &used, plain)?;
    let samples = resampled(&levels, &weights, &used);
    let residuals: f64 = all.iter().map(|window| residual(window, &values).abs()).sum();
    let coefficients = Term::ALL.map(|term| coefficient(term, &values, &used, &samples, &plain));
    let time: f64 = all.iter().map(|window| window.time).sum();
    Some(StepCosts { coefficients, windows: all.len(), residual: residuals / time })
}

fn residual(window: &Window, values: &[f64; TERMS]) -> f64 {
    let explained: f64 = window.work.iter().zip(values).map(|(work, value)| work * value).sum();
    window.time - explained
}

fn sums(windows: &[Window], weights: &[f64]) -> Sums<TERMS> {
    let mut sums = Sums::NONE;
    for (window, weight) in windows.iter().zip(weights) {
        sums.add(&window.work, window.time, *weight);
    }
    sums
}

/// Least squares in which windows count less the more they vary and the worse they fit; their weights
/// are given, too.
fn fit(windows: &[Window], used: &[usize], plain: Sums<TERMS>) -> Option<([f64; TERMS], Vec<f64>)> {
    let mut values = plain.solve(used)?;
    let mut weights = vec![1.0; windows.len()];
    for _ in 0..REWEIGHTED {
        let scales: Vec<f64> = windows.iter().map(|window| scale(window, &values)).collect();
        let off = |(window, scale): (&Window, &f64)| residual(window, &values).abs() / scale;
        let sizes: Vec<f64> = windows.iter().zip(&scales).map(off).collect();
        let bound = HUBER * 1.4826 * median(&mut sizes.clone())?;
        for ((weight, size), scale) in weights.iter_mut().zip(sizes).zip(scales) {
            let outlying = if size > bound { bound / size } else { 1.0 };
            *weight = outlying / (scale * scale);
        }
        let next = sums(windows, &weights).solve(used)?;
        let moved = next.iter().zip(&values).any(|(next, old)| (next - old).abs() > 1e-6 * old);
        values = next;
        if !moved {
            break;
        }
    }
    Some((values, weights))
}

/// The standard deviation of a window's time, but for a factor: each step varies in proportion to its
/// own time.
fn scale(window: &Window, values: &[f64; TERMS]) -> f64 {
    let time = |terms: &[Term]| {
        terms.iter().map(|term| window.work[*term as usize] * values[*term as usize]).sum::<f64>()
    };
    let steps = window.work[Term::Base as usize];
    let prefilling = window.work[Term::PrefillStep as usize];
    let decode = time(&[Term::Base, Term::Sequence, Term::Context]) / steps;
    let prefill = time(&[Term::PrefillToken, Term::PrefillStep, Term::Attention]);
    let longer = decode + prefill / prefilling.max(1.0);
    let squares = (steps - prefilling) * decode * decode + prefilling * longer * longer;
    squares.max(f64::MIN_POSITIVE).sqrt()
}

/// Estimates from blocks of consecutive windows, drawn with replacement. Weights stay as they are.
fn resampled(levels: &[Vec<Window>], weights: &[f64], used: &[usize]) -> Vec<[f64; TERMS]> {
    let mut blocks: Vec<Sums<TERMS>> = Vec::new();
    let mut weights = weights;
    for windows in levels {
        let (own, rest) = weights.split_at(windows.len());
        weights = rest;
        let size = windows.len().div_ceil(BLOCKS).max(1);
        let of_level = windows.chunks(size).zip(own.chunks(size));
        blocks.extend(of_level.map(|(windows, weights)| sums(windows, weights)));
    }
    let mut draws = SplitMix::new(blocks.len() as u64);
    let sample = |_| {
        let mut drawn = Sums::NONE;
        (0..blocks.len()).for_each(|_| drawn.merge(&blocks[draws.below(blocks.len())]));
        // What this sample cannot tell is 0 in it, which makes the error large, as it should be.
        drawn.solve(&drawn.independent(used))
    };
    (0..SAMPLES).filter_map(sample).collect()
}

fn coefficient(
    term: Term,
    values: &[f64; TERMS],
    used: &[usize],
    samples: &[[f64; TERMS]],
    plain: &Sums<TERMS>,
) -> Coefficient {
    let at = term as usize;
    let value = values[at];
    if !used.contains(&at) {
        let like =
            used.iter().max_by(|a, b| plain.cosine(at, **a).total_cmp(&plain.cosine(at, **b)));
        let like = like.filter(|like| plain.cosine(at, **like) > 0.0);
        let known = like.map_or(Known::Absent, |like| Known::Like(Term::ALL[*like]));
        return Coefficient { term, value, error: None, known };
    }
    let error = deviation(samples, at);
    let unsure = error > UNSURE * value;
    let with = used.iter().copied().filter(|other| *other != at);
    let together = with
        .map(|other| (correlation(samples, at, other).abs(), other))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(together, _)| unsure && *together > TOGETHER);
    let known = match together {
        Some((_, other)) => Known::Like(Term::ALL[other]),
        None if value - SIDES * error > 0.0 => Known::Yes,
        None => Known::MayBeZero,
    };
    Coefficient { term, value, error: Some(error), known }
}

fn mean(samples: &[[f64; TERMS]], at: usize) -> f64 {
    samples.iter().map(|sample| sample[at]).sum::<f64>() / samples.len() as f64
}

fn deviation(samples: &[[f64; TERMS]], at: usize) -> f64 {
    covariance(samples, at, at).sqrt()
}

fn covariance(samples: &[[f64; TERMS]], a: usize, b: usize) -> f64 {
    let (mean_a, mean_b) = (mean(samples, a), mean(samples, b));
    let products = samples.iter().map(|sample| (sample[a] - mean_a) * (sample[b] - mean_b));
    products.sum::<f64>() / samples.len() as f64
}

fn correlation(samples: &[[f64; TERMS]], a: usize, b: usize) -> f64 {
    let scale = deviation(samples, a) * deviation(samples, b);
    if scale > 0.0 { covariance(samples, a, b) / scale } else { 0.0 }
}
