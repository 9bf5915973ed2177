//! The search: basic ways first, then one setting after the other, then all parameters on all requests.

use super::choice::Choice;
use super::evidence::{Evidence, Level, figures_of, misfit};
use super::{CalibrateOptions, Settings, Start, Without};
use crate::model::Model;
use crate::parameters::Parameter;
use crate::search::parallel;
use crate::simplex::{Point, Simplex};
use crate::trial::Trial;

/// Coming closer than this is not an improvement: runs repeat no better.
const FLOOR: f64 = 0.01;
const FIRST: Simplex = Simplex { evaluations: 140, tolerance: 1e-3, width: 0.35 };
const SETTLING: Simplex = Simplex { evaluations: 60, tolerance: 1e-3, width: 0.15 };
const LAST: Simplex = Simplex { evaluations: 260, tolerance: 1e-4, width: 0.1 };
/// For a start that is already good.
pub(super) const NEAR: Simplex = Simplex { evaluations: 90, tolerance: 1e-3, width: 0.1 };
/// The price of a setting that is not the usual one: it has to earn its place.
const UNUSUAL: f64 = 4.0;
/// The error of a typical figure, against which steps are weighed.
const TYPICAL: f64 = 0.05;
/// How many ways are followed.
const FOLLOWED: usize = 2;

/// What is searched, and in which evidence.
pub(super) struct Search<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) start: &'a Start,
    pub(super) known: &'a Settings,
    pub(super) options: &'a CalibrateOptions,
}

/// A choice with the best parameters found for it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) choice: Choice,
    pub(super) base: Model,
    pub(super) parameters: Vec<Parameter>,
    pub(super) point: Point,
    /// Its misfit, with a price for each parameter; lower is better.
    score: f64,
}

impl Found {
    pub(super) fn model(&self) -> Model {
        self.at(&self.point.at)
    }

    /// The model at a point.
    pub(super) fn at(&self, at: &[f64]) -> Model {
        model_at(&self.base, &self.parameters, at)
    }
}

fn model_at(base: &Model, parameters: &[Parameter], at: &[f64]) -> Model {
    let mut model = *base;
    for (parameter, at) in parameters.iter().zip(at) {
        let [least, most] = parameter.limits();
        model.set(*parameter, at.exp().clamp(least, most));
    }
    model
}

impl Search<'_> {
    /// The best choice and its parameters.
    pub(super) fn best(&self) -> Option<Found> {
        if self.evidence.whole.is_empty() {
            return None;
        }
        let threads = self.options.threads;
        let mut ways: Vec<Choice> =
            Choice::ways(self.known, self.start).into_iter().map(|way| self.leave(way)).collect();
        ways.dedup();
        let mut found = parallel(threads, &ways, |way| self.fit(*way, None, FIRST));
        found.sort_by(|a, b| a.score.total_cmp(&b.score));
        found.truncate(FOLLOWED);
        let mut settled = parallel(threads, &found, |found| self.settle(found));
        settled.sort_by(|a, b| a.score.total_cmp(&b.score));
        let best = settled.into_iter().next()?;
        Some(self.finish(&best))
    }

    /// Changes one setting after the other until none improves the score.
    fn settle(&self, found: &Found) -> Found {
        let mut best = found.clone();
        let most_in_flight = self.most_in_flight();
        let settings = best.choice.settings(self.known, self.start, most_in_flight).len();
        for axis in 0..settings {
            let mut others = best.choice.settings(self.known, self.start, most_in_flight);
            for choice in others.swap_remove(axis).into_iter().map(|choice| self.leave(choice)) {
                if choice == best.choice {
                    continue;
                }
                let other = self.fit(choice, Some(&best), SETTLING);
                if other.score < best.score {
                    best = other;
                }
            }
        }
        best
    }

    /// The parameters of a choice on all requests.
    fn finish(&self, found: &Found) -> Found {
        let point = self.descend(found, &self.evidence.whole.iter().collect::<Vec<_>>(), LAST);
        Found { point, ..found.clone() }
    }

    /// The best parameters of a choice, from another one's or from the first guesses.
    fn fit(&self, choice: Choice, near: Option<&Found>, simplex: Simplex) -> Found {
        let trials: Vec<&Trial> = self.evidence.brief.iter().map(|level| &level.trial).collect();
        let base = choice.model(&trials, self.known);
        let mut parameters = choice.parameters(&trials);
        parameters.retain(|parameter| Without::leaves(&self.options.without, *parameter));
        let start = parameters.iter().map(|parameter| {
            let near = near.map(|near| near.model().get(*parameter)).filter(|value| *value > 0.0);
            near.unwrap_or_else(|| self.start.value(*parameter)).ln()
        });
        let point = Point { at: start.collect(), value: f64::INFINITY };
        let found = Found { choice, base, parameters, point, score: f64::INFINITY };
        let levels: Vec<&Level> = self.evidence.brief.iter().collect();
        let point = self.descend(&found, &levels, simplex);
        let figures = figures_of(levels.len());
        let unusual = choice.unusual(&self.leave(Choice::usual(self.known, self.start)));
        let price = 2.0 * found.parameters.len() as f64 + UNUSUAL * unusual;
        let score = figures * (point.value / figures + FLOOR * FLOOR).ln() + price;
        self.options.progress.found(point.value / figures);
        Found { point, score, ..found }
    }

    /// The lowest point that is found from one, on these levels.
    pub(super) fn descend(&self, found: &Found, levels: &[&Level], simplex: Simplex) -> Point {
        // Beyond the limits, and away from what steps show.
        let beyond = |at: &[f64]| {
            let beyond = found.parameters.iter().zip(at).map(|(parameter, at)| {
                let [least, most] = parameter.limits().map(f64::ln);
                // Without captured graphs there is one kind of launch.
                let shown = match parameter {
                    Parameter::LaunchPrefill if found.choice.captured == 0 => {
                        Parameter::LaunchLarge
                    }
                    parameter => *parameter,
                };
                let away = self
                    .start
                    .seen(shown)
                    .map_or(0.0, |seen| TYPICAL * (at - seen.value.ln()) / seen.spread);
                (at - at.clamp(least, most)).powi(2) + away.powi(2)
            });
            beyond.sum::<f64>()
        };
        let point = simplex.minimise(&found.point.at, |at| {
            misfit(&found.at(at), levels.iter().copied()) + beyond(at)
        });
        self.options.progress.step(simplex);
        point
    }

    /// A choice without the terms that are left out.
    fn leave(&self, choice: Choice) -> Choice {
        Without::of(&self.options.without, choice)
    }

    /// The most requests that any trial had in flight.
    fn most_in_flight(&self) -> u32 {
        let levels = self.evidence.whole.iter();
        levels.map(|level| crate::trial::most_in_flight(&level.trial)).max().unwrap_or(1)
    }
}
