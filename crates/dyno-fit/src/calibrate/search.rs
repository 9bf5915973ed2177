//! The search: basic ways first, then one setting after the other, then all parameters on all requests.

use super::choice::{Choice, Setting};
use super::descent::{DAMPED, Descent, Point};
use super::evidence::{Evidence, EvidenceLevel, SEED, figures_of, rows};
use super::start::Guess;
use super::start::Start;
use super::{CalibrateOptions, FitSettings, Without};
use crate::model::Model;
use crate::parameters::Parameter;
use crate::search::parallel;
use crate::trial::Trial;

/// Coming closer than this is not an improvement: runs repeat no better.
pub(super) const FLOOR: f64 = 0.01;
/// To compare ways, again and again.
pub(super) const ROUND: Descent = Descent { rounds: 1, steps: 3, damped: DAMPED, threads: 1 };
/// How many ways are left after each round.
const LEFT: [usize; 4] = [10, 6, 4, 3];
/// With slopes that are known.
pub(super) const NEAR: Descent = Descent { rounds: 0, steps: 3, damped: DAMPED, threads: 1 };
/// The error of a typical value with which a fit is good.
const GOOD: f64 = 0.012;
/// The factors by which a parameter is moved far, and what is added to the larger one.
const FAR: [f64; 2] = [0.4, 1.6];
const JUMP: f64 = 0.05;
/// The price of a setting that is not the usual one: it has to earn its place.
const UNUSUAL: f64 = 4.0;
/// What attending to a token costs at most, over what a token costs: one in six times the width of a model,
/// and models are wider than 1,000.
const ATTENTION: f64 = 1e-4;
/// Errors by which steps have to show more.
const CERTAIN: f64 = 2.0;
/// By which share the longest launch is at most longer than the first token of a request alone takes, which
/// has a launch, too,
const MAX_LAUNCH_EXCESS_OVER_FIRST_TOKEN: f64 = 0.25;
/// and than the shortest steps.
const MAX_LAUNCH_EXCESS_OVER_STEPS: f64 = 0.1;
/// The settings that are changed in turn.
pub(super) const SETTINGS: [Setting; 7] = [
    Setting::MaxSeqs,
    Setting::TokenBudget,
    Setting::Captured,
    Setting::Launches,
    Setting::Turns,
    Setting::Merges,
    Setting::TokenBudget,
];
/// How many of them are settled.
const SETTLED: usize = 2;
/// What a step shows of prefilling if launches may be part of it, as a share.
const LAUNCHED: f64 = 0.5;

/// What is searched, and in which evidence.
#[derive(Clone, Copy)]
pub(super) struct CostSearch<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) start: &'a Start,
    pub(super) known: &'a FitSettings,
    pub(super) options: &'a CalibrateOptions,
    /// The error of a typical value, against which what steps show is weighed.
    pub(super) typical: f64,
}

/// A choice with the best parameters found for it.
#[derive(Debug, Clone)]
pub(super) struct FoundCosts {
    pub(super) choice: Choice,
    pub(super) base: Model,
    pub(super) parameters: Vec<Parameter>,
    /// The value of each parameter where its coordinate is 1.
    pub(super) scales: Vec<f64>,
    pub(super) point: Point,
    /// Its misfit, with a price for each parameter; lower is better.
    pub(super) score: f64,
}

impl FoundCosts {
    pub(super) fn model(&self) -> Model {
        self.at(&self.point.at)
    }

    /// The model at a point.
    pub(super) fn at(&self, at: &[f64]) -> Model {
        let mut model = self.base;
        for ((parameter, scale), at) in self.parameters.iter().zip(&self.scales).zip(at) {
            let least = if *parameter == Parameter::Base { parameter.limits()[0] } else { 0.0 };
            model.set(*parameter, (at * scale).clamp(least, parameter.limits()[1]));
        }
        model
    }
}

impl CostSearch<'_> {
    /// The basic ways, the best first.
    pub(super) fn candidates(&self) -> Vec<FoundCosts> {
        let threads = self.options.threads;
        let ways = Choice::ways(self.known, self.start).into_iter();
        let mut ways: Vec<Choice> = ways.map(|way| self.leave(way)).collect();
        ways.dedup();
        let ways = parallel(threads, &ways, |way| self.limited(*way));
        let mut found = parallel(threads, &ways, |way| self.fit(*way, None, ROUND));
        for left in LEFT {
            found.sort_by(|a, b| a.score.total_cmp(&b.score));
            found.truncate(left);
            found = parallel(threads, &found, |way| self.fit(way.choice, Some(way), ROUND));
        }
        found.sort_by(|a, b| a.score.total_cmp(&b.score));
        found
    }

    /// A way with the most likely limits of sequences and tokens: they decide which requests go together,
    /// and with other limits everything else looks wrong.
    fn limited(&self, way: Choice) -> Choice {
        let none = Descent { rounds: 0, steps: 0, damped: DAMPED, threads: 1 };
        let mut best = self.fit(way, None, none);
        for setting in [Setting::MaxSeqs, Setting::TokenBudget] {
            if setting == Setting::MaxSeqs && self.start.max_seqs.is_some() {
                continue;
            }
            for other in self.alternatives(&best, setting) {
                let other = self.fit(other, None, none);
                if other.score < best.score {
                    best = other;
                }
            }
        }
        best.choice
    }

    /// The best choice and its parameters, among these ways.
    pub(super) fn best(&self, ways: &[FoundCosts]) -> Option<FoundCosts> {
        let threads = self.options.threads;
        let mut found = parallel(threads, ways, |way| self.fit(way.choice, Some(way), ROUND));
        found.sort_by(|a, b| a.score.total_cmp(&b.score));
        found.truncate(SETTLED);
        let mut settled = parallel(threads, &found, |found| self.settle(found));
        settled.sort_by(|a, b| a.score.total_cmp(&b.score));
        let best = settled.into_iter().next()?;
        Some(self.finish(&self.shaken(best)))
    }

    /// Tries to leave a place from which no small step helps: each parameter is moved far, and the others
    /// follow. Not where a fit is already as good as runs repeat.
    fn shaken(&self, mut best: FoundCosts) -> FoundCosts {
        let levels: Vec<&EvidenceLevel> = self.evidence.brief.iter().collect();
        let good = GOOD * GOOD * figures_of(levels.iter().copied());
        for axis in 0..best.parameters.len() {
            for far in FAR {
                if best.point.value() < good {
                    return best;
                }
                let mut start = best.point.clone();
                start.at[axis] = far * start.at[axis] + if far > 1.0 { JUMP } else { 0.0 };
                start.rows.clear();
                let point = self.descend(&best, start, &levels, NEAR);
                if point.value() < best.point.value() {
                    best.point = point;
                }
            }
        }
        self.fit(best.choice, Some(&best.clone()), ROUND)
    }

    /// Changes one setting after the other while that improves the score.
    fn settle(&self, found: &FoundCosts) -> FoundCosts {
        self.settled(found, &SETTINGS)
    }

    /// The same with these settings, in this order.
    pub(super) fn settled(&self, found: &FoundCosts, settings: &[Setting]) -> FoundCosts {
        let mut best = found.clone();
        for setting in settings.iter().copied() {
            for choice in self.alternatives(&best, setting) {
                let other = self.fit(choice, Some(&best), NEAR);
                if other.score < best.score {
                    best = other;
                }
            }
        }
        best
    }

    /// The choices that differ in one setting.
    pub(super) fn alternatives(&self, found: &FoundCosts, setting: Setting) -> Vec<Choice> {
        let most = self.most_in_flight();
        let others = found.choice.alternatives(setting, self.known, self.start, most).into_iter();
        others.map(|other| self.leave(other)).filter(|other| *other != found.choice).collect()
    }

    /// The parameters of a choice on all requests.
    fn finish(&self, found: &FoundCosts) -> FoundCosts {
        let last = Descent { rounds: 4, steps: 3, damped: DAMPED, threads: self.options.threads };
        let levels: Vec<&EvidenceLevel> = self.evidence.whole.iter().collect();
        let start = Point::start(found.point.at.clone());
        let mut point = self.descend(found, start, &levels, last);
        point.slope(self.options.threads, &|at: &[f64]| self.rows(found, at, &levels));
        FoundCosts { point, ..found.clone() }
    }

    /// The best parameters of a choice, from another one's or from the first guesses.
    pub(super) fn fit(
        &self,
        choice: Choice,
        near: Option<&FoundCosts>,
        descent: Descent,
    ) -> FoundCosts {
        let trials: Vec<&Trial> = self.evidence.brief.iter().map(|level| &level.trial).collect();
        let base = choice.model(&trials, self.known, self.start);
        let mut parameters = choice.parameters(&trials);
        parameters.retain(|parameter| Without::leaves(&self.options.without, *parameter));
        let scales: Vec<f64> = parameters.iter().map(|of| self.start.scale(*of)).collect();
        let start = parameters.iter().zip(&scales).map(|(parameter, scale)| {
            let known = near.filter(|near| near.parameters.contains(parameter));
            let value = match known {
                Some(near) => near.model().get(*parameter),
                None => self.start.value(*parameter),
            };
            value / scale
        });
        let mut start = Point::start(start.collect());
        if let Some(near) = near.filter(|near| near.parameters == parameters) {
            start.slopes = near.point.slopes.clone();
        }
        let point = Point::default();
        let found = FoundCosts { choice, base, parameters, scales, point, score: 0.0 };
        let levels: Vec<&EvidenceLevel> = self.evidence.brief.iter().collect();
        let point = self.descend(&found, start, &levels, descent);
        let figures = figures_of(levels.iter().copied());
        let unusual = choice.unusual(&self.leave(Choice::usual(self.known, self.start)));
        let price = 2.0 * found.parameters.len() as f64 + UNUSUAL * unusual;
        let score = figures * (point.value() / figures + FLOOR * FLOOR).ln() + price;
        self.options.progress.found(point.value() / figures);
        FoundCosts { point, score, ..found }
    }

    /// The lowest point that is found from one, on these levels.
    pub(super) fn descend(
        &self,
        found: &FoundCosts,
        start: Point,
        levels: &[&EvidenceLevel],
        descent: Descent,
    ) -> Point {
        let point = descent.minimise(start, &|at: &[f64]| self.rows(found, at, levels));
        self.options.progress.descended();
        point
    }

    /// The errors on these levels, and how far a point is from what steps show.
    pub(super) fn rows(
        &self,
        found: &FoundCosts,
        at: &[f64],
        levels: &[&EvidenceLevel],
    ) -> Vec<f64> {
        self.rows_with(found, at, levels, SEED)
    }

    /// The same with other noise of the engine.
    pub(super) fn rows_with(
        &self,
        found: &FoundCosts,
        at: &[f64],
        levels: &[&EvidenceLevel],
        seed: u64,
    ) -> Vec<f64> {
        let model = found.at(at);
        let mut all = rows(&model, levels.iter().copied(), seed);
        let away = |parameter: &Parameter| {
            let seen = self.shown(*parameter, &found.choice)?;
            Some(self.typical * (model.get(*parameter) - seen.value) / seen.error)
        };
        all.extend(found.parameters.iter().map(|parameter| away(parameter).unwrap_or(0.0)));
        let most = ATTENTION * model.cost.prefill_token.max(f64::MIN_POSITIVE);
        // Unless steps show that it costs more: there are narrow models, and slow kernels.
        let seen = self.start.seen(Parameter::Attention);
        let more = seen.is_some_and(|of| of.value - CERTAIN * of.error > 1e9 * most);
        let likely = if more { 0.0 } else { model.cost.attention / most };
        all.push(self.typical * likely.min(1e3));
        let launch = &model.cost.launch;
        let longer = 1e3 * launch.large / self.start.first_ms - 1.0;
        all.push(self.typical * longer.clamp(0.0, 1e3) / MAX_LAUNCH_EXCESS_OVER_FIRST_TOKEN);
        for longer in self.start.too_long(launch) {
            all.push(
                self.typical * longer.unwrap_or(0.0).clamp(0.0, 1e3) / MAX_LAUNCH_EXCESS_OVER_STEPS,
            );
        }
        all
    }

    /// What steps show of a parameter of a choice.
    fn shown(&self, parameter: Parameter, choice: &Choice) -> Option<Guess> {
        let launch_seen = self.start.seen(Parameter::LaunchLarge);
        match parameter {
            // Without captured graphs there is one kind of launch.
            Parameter::LaunchPrefill if choice.captured == 0 => launch_seen,
            // Where launches take time that steps do not show apart, it is in what they show of prompts.
            Parameter::PrefillToken | Parameter::Attention
                if choice.launches && launch_seen.is_none() =>
            {
                let seen = self.start.seen(parameter)?;
                Some(Guess { error: seen.error.max(LAUNCHED * seen.value), ..seen })
            }
            parameter => self.start.seen(parameter),
        }
    }

    /// A choice without the terms that are left out.
    fn leave(&self, choice: Choice) -> Choice {
        Without::of(&self.options.without, choice)
    }

    /// The most requests that any trial had in flight.
    pub(super) fn most_in_flight(&self) -> u32 {
        let levels = self.evidence.whole.iter();
        levels.map(|level| crate::trial::most_in_flight(&level.trial)).max().unwrap_or(1)
    }
}
