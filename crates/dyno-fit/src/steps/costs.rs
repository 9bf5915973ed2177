//! What a step costs: a coefficient for each kind of work, and how well it is known.

use super::LevelSteps;
use super::ahead::Planning;
use super::regression::{Estimate, Samples};
use super::windows::{Window, windows};
use dyno_stats::upper_median;

/// The number of [`Term`]s.
pub(super) const TERMS: usize = 7;
/// The fewest windows.
const FEWEST: usize = 20;
/// Standard errors on each side of an interval that holds 95 %. More than 1.96, as weights are the same in
/// all samples: with that, 90 % of the coefficients of simulated engines were within.
const SIDES: f64 = 2.3;
/// Estimates that move together like this, and are unsure, are not separate.
const TOGETHER: f64 = 0.95;
/// The relative error from which on an estimate is unsure.
const UNSURE: f64 = 0.25;
/// How often steps are divided again into those bound by their launch and others.
const DIVIDED: usize = 4;
/// Tokens of a step up to which it may be captured in a graph.
const CAPTURED: [f64; 7] = [0.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];
/// What is left of the residuals with a term for the launch, if that earns its place.
const EARNED: f64 = 0.98;

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
    /// All of a step that prefills so little that launching it takes longer than its work. Only where
    /// steps are planned ahead.
    Launch,
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
        Self::Launch,
    ];
    /// The order in which they explain what several of them could.
    const BY_WEIGHT: [Self; TERMS] = [
        Self::Base,
        Self::PrefillToken,
        Self::Sequence,
        Self::Launch,
        Self::PrefillStep,
        Self::Context,
        Self::Attention,
    ];
}

/// Whether a coefficient is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownCosts {
    /// Its interval does not reach 0.
    Yes,
    /// It may be 0.
    MayBeZero,
    /// These levels do not tell it from another. Without an error of its own, its time is part of the
    /// other's.
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
    pub known: KnownCosts,
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
    /// Steps that are bound by their launch, where there are such.
    pub launch: Option<LaunchBound>,
}

/// Steps that are bound by their launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaunchBound {
    /// They have more tokens than this, prefilled and decoded together: smaller ones are captured in
    /// graphs, whose launch is short.
    pub above: u32,
    /// [`StepCosts::residual`] without [`Term::Launch`].
    pub without: f64,
}

impl StepCosts {
    /// The coefficient of a term.
    pub fn of(&self, term: Term) -> &Coefficient {
        &self.coefficients[term as usize]
    }
}

/// The costs that explain the steps of these levels; nothing if there are too few.
pub fn step_costs(levels: &[&LevelSteps]) -> Option<StepCosts> {
    let mut windows: Vec<Vec<Window>> = levels.iter().map(|level| windows(level)).collect();
    if windows.iter().flatten().count() < FEWEST {
        return None;
    }
    let plain = estimate(&windows)?;
    let mut best: Option<(Launch, Estimate)> = None;
    if let Some(time) = launch_time(levels) {
        for captured in CAPTURED {
            let start = Launch { captured, time, values: plain.values };
            let Some(found) = start.fitted(&mut windows) else { continue };
            let best_yet = best.as_ref().map_or(EARNED * plain.residual, |(_, of)| of.residual);
            if found.1.residual < best_yet {
                best = Some(found);
            }
        }
    }
    let Some((launch, found)) = best else {
        windows.iter_mut().flatten().for_each(|window| window.divide(|_| false));
        return Some(costs(&plain, &windows, None));
    };
    launch.divide(&mut windows);
    let launch = LaunchBound { above: launch.captured as u32, without: plain.residual };
    Some(costs(&found, &windows, Some(launch)))
}

fn estimate(windows: &[Vec<Window>]) -> Option<Estimate> {
    Estimate::of(windows, &Term::BY_WEIGHT.map(|term| term as usize))
}

/// The median launch time over levels whose steps are planned ahead.
fn launch_time(levels: &[&LevelSteps]) -> Option<f64> {
    let ahead = levels.iter().filter_map(|level| level.ahead);
    let ahead = ahead.filter(|ahead| ahead.planning == Planning::OneAhead);
    upper_median(&mut ahead.filter_map(|ahead| ahead.launch).collect::<Vec<f64>>())
}

/// Which steps are bound by their launch: those that prefill, have more tokens than are captured, and
/// whose work takes less.
struct Launch {
    captured: f64,
    time: f64,
    values: [f64; TERMS],
}

impl Launch {
    fn binds(&self, work: &[f64; TERMS]) -> bool {
        let tokens = work[Term::Sequence as usize] + work[Term::PrefillToken as usize];
        let needed: f64 = work.iter().zip(&self.values).map(|(work, value)| work * value).sum();
        tokens > self.captured && needed < self.time
    }

    fn divide(&self, windows: &mut [Vec<Window>]) {
        let all = windows.iter_mut().flatten();
        all.for_each(|window| window.divide(|work| self.binds(work)));
    }

    /// Divides the steps and fits in turn.
    fn fitted(mut self, windows: &mut [Vec<Window>]) -> Option<(Self, Estimate)> {
        self.divide(windows);
        let mut found = estimate(windows)?;
        for _ in 1..DIVIDED {
            self = self.next(&found.values);
            self.divide(windows);
            found = estimate(windows)?;
        }
        Some((self, found))
    }

    /// By the costs found with this one. Those that only bound steps would tell stay as they are.
    fn next(self, values: &[f64; TERMS]) -> Self {
        let launch = values[Term::Launch as usize];
        let time = if launch > 0.0 { launch } else { self.time };
        let known = values[Term::PrefillToken as usize] > 0.0;
        Self { time, values: if known { *values } else { self.values }, ..self }
    }
}

fn costs(found: &Estimate, windows: &[Vec<Window>], launch: Option<LaunchBound>) -> StepCosts {
    let samples = found.resampled(windows);
    StepCosts {
        coefficients: Term::ALL.map(|term| coefficient(term, found, &samples)),
        windows: windows.iter().map(Vec::len).sum(),
        residual: found.residual,
        launch,
    }
}

fn coefficient(term: Term, found: &Estimate, samples: &Samples) -> Coefficient {
    let at = term as usize;
    let Estimate { values, used, plain, .. } = found;
    let value = values[at];
    if !used.contains(&at) {
        let cosines = used.iter().map(|other| (plain.cosine(at, *other), *other));
        let like = cosines.filter(|(cosine, _)| *cosine > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        let known = like.map_or(KnownCosts::Absent, |(_, like)| KnownCosts::Like(Term::ALL[like]));
        return Coefficient { term, value, error: None, known };
    }
    let error = samples.deviation(at);
    let others = used.iter().copied().filter(|other| *other != at);
    let together = others
        .map(|other| (samples.correlation(at, other).abs(), other))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(together, _)| error > UNSURE * value && *together > TOGETHER);
    let known = match together {
        Some((_, other)) => KnownCosts::Like(Term::ALL[other]),
        None if value - SIDES * error > 0.0 => KnownCosts::Yes,
        None => KnownCosts::MayBeZero,
    };
    Coefficient { term, value, error: Some(error), known }
}
