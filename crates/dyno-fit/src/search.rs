//! Finds the choice and the parameters that fit a table best.

use super::FitOptions;
use super::choice::{Choice, FitCurve, cells, settings, shapes};
use super::model::Model;
use super::parameters::Parameter;
use super::simplex::{Point, Simplex};
use super::space::{Space, level_misfit};
use super::table::{FitTable, Offer, TableEnd, TableLevel};
use super::terms::extend;
use dyno_engine::core::Policy;
use dyno_engine::twin::reference::ReferenceValue;
use std::sync::Mutex;

/// Measurement noise: coming closer than this is not an improvement.
const FLOOR: f64 = 0.02;
const COARSE: Simplex = Simplex { evaluations: 400, tolerance: 1e-3, width: 0.4 };
const FINE: Simplex = Simplex { evaluations: 900, tolerance: 1e-5, width: 0.3 };
/// For a start that is already good.
pub(crate) const NEAR: Simplex = Simplex { evaluations: 350, tolerance: 1e-4, width: 0.15 };
/// For the judgement of a fit.
pub(crate) const QUICK: Simplex = Simplex { evaluations: 100, ..NEAR };
/// Requests up to which an evaluation is fast.
const QUICK_REQUESTS: f64 = 1000.0;
/// The fewest evaluations that are useful.
const LEAST: usize = 150;
/// How many of the best choices are refined.
const CANDIDATES: usize = 3;

/// A choice and the best parameters found for it.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) choice: Choice,
    pub(crate) space: Space,
    pub(crate) point: Point,
    /// Its misfit with a penalty for every parameter; lower is better.
    pub(crate) score: f64,
    /// The mean squared error of the logarithms of levels that were left out one at a time.
    pub(crate) left_out: f64,
}

impl Candidate {
    /// Its model.
    pub(crate) fn model(&self) -> Model {
        self.space.model(&self.point.at).0
    }
}

/// The best candidate: of those with the best fit for their number of parameters, the one with the
/// lowest leave-one-out error, with the further terms that it needs. Only fitted levels are used.
pub(crate) fn search(table: &FitTable, options: &FitOptions) -> Option<Candidate> {
    let levels: Vec<&TableLevel> = table.fitted().collect();
    let search = TableSearch { table, levels: &levels, options };
    let starts: Vec<Choice> = options
        .policies
        .iter()
        .flat_map(|policy| shapes(table, options, &search.usual(*policy)))
        .collect();
    search.expect(starts.len(), true);
    let found = parallel(options.threads, &starts, |choice| search.curves(*choice));
    search.expect(0, true);
    let mut found: Vec<Candidate> = found.into_iter().flatten().collect();
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    found.truncate(CANDIDATES);
    let settled = parallel(options.threads, &found, |candidate| search.settle(candidate));
    for candidate in settled.into_iter().flatten() {
        if found.iter().all(|known| known.choice != candidate.choice) {
            found.push(candidate);
        }
    }
    found.sort_by(|a, b| a.score.total_cmp(&b.score));
    found.truncate(CANDIDATES);
    search.expect(0, false);
    let mut refined = parallel(options.threads, &found, |candidate| search.polish(candidate));
    refined.sort_by(|a, b| a.left_out.total_cmp(&b.left_out));
    Some(extend(&search, refined.into_iter().next()?))
}

/// Maps items on so many threads; returns the results in order.
pub(crate) fn parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = Mutex::new(0..items.len());
    let take = || next.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let run = || {
            let mut mine = Vec::new();
            while let Some(index) = take() {
                mine.push((index, work(&items[index])));
            }
            mine
        };
        let threads: Vec<_> =
            (1..threads.clamp(1, items.len().max(1))).map(|_| scope.spawn(run)).collect();
        let mine = run();
        let others = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default());
        mine.into_iter().chain(others).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

pub(crate) struct TableSearch<'a> {
    table: &'a FitTable,
    pub(crate) levels: &'a [&'a TableLevel],
    pub(crate) options: &'a FitOptions,
}

impl TableSearch<'_> {
    /// Estimates what is still to be done: coarse fits of `starts`, the settings of the best ones
    /// if they are `unsettled`, fine fits, and the judgement.
    fn expect(&self, starts: usize, unsettled: bool) {
        let curves = self.options.curves.len();
        // A curve starts from each simpler one and afresh; the first from four fresh points.
        let each = 3 + curves * (curves + 1) / 2;
        let settings = settings(self.table, self.options, &self.usual(Policy::Chunked));
        let settings: usize = settings.iter().map(Vec::len).sum();
        let settling = if unsettled { 2 * CANDIDATES * settings } else { 0 };
        let coarse = starts * each + settling;
        self.expect_steps(coarse, CANDIDATES, self.options.terms.len());
    }

    /// Estimates what is still to be done: so many coarse fits, fine fits of so many choices, so many
    /// further terms, and the judgement.
    pub(crate) fn expect_steps(&self, coarse: usize, fine: usize, terms: usize) {
        let levels = self.levels.len();
        let judging = 3 * self.usual(Policy::Chunked).parameters(self.table, self.levels).len();
        self.options.progress.expect(&[
            (coarse + 2 * terms, effort(self.levels, COARSE)),
            (3 * (fine + terms), effort(self.levels, FINE)),
            ((fine + terms + 1) * levels, effort(self.levels, NEAR)),
            (judging, effort(self.levels, QUICK)),
        ]);
    }

    /// The usual settings with a policy.
    fn usual(&self, policy: Policy) -> Choice {
        Choice {
            policy,
            max_seqs: self.cap(),
            token_budget: *self.options.token_budgets.last().unwrap_or(&8192),
            prefix_cache: false,
            curve: FitCurve::Rise,
            front: false,
            pool: cells(self.table),
            steps_ahead: 0,
            launch: false,
            turns: None,
        }
    }

    /// Changes one setting after the other until none improves the score.
    fn settle(&self, candidate: &Candidate) -> Vec<Candidate> {
        let mut best = candidate.clone();
        let mut seen = vec![best.clone()];
        loop {
            let before = best.choice;
            for axis in 0..settings(self.table, self.options, &best.choice).len() {
                let mut others = settings(self.table, self.options, &best.choice);
                for choice in others.swap_remove(axis) {
                    if seen.iter().any(|candidate| candidate.choice == choice) {
                        continue;
                    }
                    let candidate = self.coarse(choice, &[&best]);
                    seen.push(candidate.clone());
                    if candidate.score < best.score {
                        best = candidate;
                    }
                }
            }
            if best.choice == before {
                return seen;
            }
        }
    }

    /// The sequence cap to start from: the known one, or the usual one.
    fn cap(&self) -> u32 {
        let usual = || self.options.max_seqs.iter().copied().min_by_key(|cap| cap.abs_diff(256));
        self.table.max_seqs.or_else(usual).unwrap_or(256)
    }

    /// Coarse fits of a choice with each curve; the simpler ones are starting points for the others.
    fn curves(&self, choice: Choice) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for curve in &self.options.curves {
            let simpler: Vec<&Candidate> = found.iter().collect();
            let candidate = self.coarse(Choice { curve: *curve, ..choice }, &simpler);
            found.push(candidate);
        }
        found
    }

    /// A coarse fit of a choice, from fresh starts and from good candidates.
    pub(crate) fn coarse(&self, choice: Choice, near: &[&Candidate]) -> Candidate {
        let space = Space::new(self.table, self.levels, &choice, self.options);
        let start = Start::new(self.levels);
        let starts: &[(f64, bool)] = match near {
            [] => &[(0.5, false), (0.8, true), (0.65, false), (0.9, true)],
            _ => &[(0.7, true)],
        };
        let fresh = starts.iter().map(|(share, flat)| {
            space.parameters.iter().map(|p| start.value(*p, *share, *flat).ln()).collect()
        });
        let near = near
            .iter()
            .map(|candidate| space.point(&candidate.model(), |p| start.value(p, 0.5, true)));
        let best = near
            .chain(fresh)
            .map(|point: Vec<f64>| space.descend(&point, self.levels, effort(self.levels, COARSE)))
            .min_by(|a, b| a.value.total_cmp(&b.value));
        let point = best.unwrap_or(Point { at: Vec::new(), value: f64::INFINITY });
        self.candidate(choice, space, point)
    }

    fn candidate(&self, choice: Choice, space: Space, point: Point) -> Candidate {
        let metrics: usize = self.levels.iter().map(|level| level.judged().count()).sum();
        let (n, k) = (metrics as f64, space.parameters.len() as f64);
        let price = 2.0 * k * n / (n - k - 1.0).max(0.5);
        self.options.progress.found(point.value / n.max(1.0));
        let score = n * (point.value / n + FLOOR * FLOOR).ln() + price;
        Candidate { choice, space, point, score, left_out: f64::INFINITY }
    }

    /// A fine fit, with its leave-one-out error.
    pub(crate) fn polish(&self, candidate: &Candidate) -> Candidate {
        let space = &candidate.space;
        let fine = effort(self.levels, FINE);
        let mut point = space.descend(&candidate.point.at, self.levels, fine);
        // A second start, displaced differently along each axis, to escape a local minimum.
        let displaced = point.at.iter().enumerate();
        let displaced: Vec<f64> =
            displaced.map(|(i, at)| at + 0.3 * (i as f64 + 1.0).sin()).collect();
        let other = space.descend(&displaced, self.levels, fine);
        if other.value < point.value {
            point = other;
        }
        let point = space.descend(&space.walk(point, self.levels).at, self.levels, fine);
        let point = space.walk(point, self.levels);
        let mut polished = self.candidate(candidate.choice, space.clone(), point);
        polished.left_out = self.leave_one_out(&polished);
        polished
    }

    /// The mean squared error of the logarithms of each level, fitted without it.
    fn leave_one_out(&self, candidate: &Candidate) -> f64 {
        let mut sum = 0.0;
        let mut metrics = 0;
        for left in self.levels.iter().filter(|level| !level.client_unknown()) {
            let model = refit_without(candidate, self.levels, left);
            sum += level_misfit(&model, left);
            metrics += left.judged().count();
        }
        sum / metrics.max(1) as f64
    }
}

/// Fewer evaluations if each is slow because many requests are simulated.
pub(crate) fn effort(levels: &[&TableLevel], simplex: Simplex) -> Simplex {
    let share = (QUICK_REQUESTS / requests(levels).max(1.0)).clamp(0.0, 1.0);
    let evaluations = (simplex.evaluations as f64 * share) as usize;
    Simplex { evaluations: evaluations.max(LEAST.min(simplex.evaluations)), ..simplex }
}

/// How many requests are simulated in levels that are bounded by a number.
fn requests(levels: &[&TableLevel]) -> f64 {
    let requests = |level: &&TableLevel| match level.offer {
        Offer::Load { end: TableEnd::Requests { requests, .. }, .. }
        | Offer::Unknown { end: TableEnd::Requests { requests, .. } }
        | Offer::Cell { requests } => f64::from(requests),
        _ => 0.0,
    };
    levels.iter().map(requests).sum()
}

/// The model of a candidate, refitted without one level. The client's overhead is kept.
pub(crate) fn refit_without(
    candidate: &Candidate,
    levels: &[&TableLevel],
    left: &TableLevel,
) -> Model {
    let rest: Vec<&TableLevel> = levels.iter().copied().filter(|level| *level != left).collect();
    let space = candidate.space.without(Parameter::InFlight, candidate.model());
    let start = space.point(&candidate.model(), |_| 1.0);
    space.model(&space.descend(&start, &rest, effort(levels, NEAR)).at).0
}

/// Starting values, from the level with the lowest load.
struct Start {
    pool: f64,
    step_ms: f64,
    first_ms: f64,
    input: f64,
    in_flight: f64,
}

impl Start {
    fn new(levels: &[&TableLevel]) -> Self {
        let lightest = levels.first();
        let get = |figure| lightest.and_then(|level| level.metrics.get(&figure)).copied();
        let output = lightest.map_or(1.0, |level| level.output).max(2.0);
        let latency = get(ReferenceValue::LatencyS).map(|s| 1e3 * s);
        let latency =
            latency.or(get(ReferenceValue::LatencyPerOutputTokenMs).map(|ms| ms * output));
        let first = get(ReferenceValue::TtftMs);
        let step = get(ReferenceValue::TpotMs)
            .or_else(|| Some((latency? - first.unwrap_or(0.0)) / (output - 1.0)))
            .filter(|step| *step > 0.0);
        let step_ms = step.unwrap_or(30.0);
        let last = levels.last();
        let little = last.and_then(|level| {
            let rate = level.metrics.get(&ReferenceValue::CompletedRate)?;
            Some(rate * level.metrics.get(&ReferenceValue::LatencyS)?)
        });
        let unknown = last.is_some_and(|level| level.client_unknown());
        // Pool usage while the engine was busy, from how many single requests it ran at once.
        let held = levels.iter().filter_map(|level| {
            let Offer::Cell { .. } = level.offer else { return None };
            let rate = level.metrics.get(&ReferenceValue::OutputTokensPerS)?;
            let each = level.metrics.get(&ReferenceValue::LatencyPerOutputTokenMs)?;
            Some(1e-3 * rate * each * (level.input + 0.5 * level.output) / 16.0)
        });
        Self {
            pool: held.reduce(f64::max).map_or(2_000.0, |most| 1.3 * most),
            step_ms,
            first_ms: first.unwrap_or(2.0 * step_ms),
            input: lightest.map_or(1.0, |level| level.input),
            in_flight: little.filter(|_| unknown).unwrap_or(150.0),
        }
    }

    fn value(&self, parameter: Parameter, share: f64, flat: bool) -> f64 {
        match parameter {
            Parameter::Base => self.step_ms,
            Parameter::PrefillToken => 1e3 * share * self.first_ms / self.input,
            Parameter::Attention => 0.01 * 1e6 * self.first_ms / (self.input * self.input),
            Parameter::Decode => 10.0 * self.step_ms * if flat { 3.0 } else { 1.0 },
            Parameter::Kv => 1e-6 * 1e6 * self.step_ms,
            Parameter::PrefillBase => 0.5 * (1.0 - share) * self.first_ms,
            Parameter::FrontEnd => 0.3 * (1.0 - share) * self.first_ms,
            Parameter::KneeAbove => {
                if flat {
                    12.0
                } else {
                    40.0
                }
            }
            Parameter::KneeSlope => 10.0 * self.step_ms * if flat { 1.0 } else { 2.0 },
            Parameter::RiseTime => self.step_ms * if flat { 1.0 } else { 0.3 },
            Parameter::RiseWithin => 8.0,
            Parameter::Pool => self.pool,
            Parameter::InFlight => self.in_flight,
            Parameter::ClientToken => 200.0,
            Parameter::Spread => 0.3,
            Parameter::LaunchPrefill => 0.8 * self.first_ms,
            Parameter::FrontChunk => 200.0,
            // Tables do not show these.
            Parameter::LaunchLarge
            | Parameter::LaunchSequence
            | Parameter::FrontRequest
            | Parameter::FrontInput => 1.0,
        }
    }
}
