//! The values of each parameter that the data allow: it is moved until the best fit with it there is worse
//! than noise explains. The others follow along their slopes.

use super::evidence::EvidenceLevel;
use super::search::{CostSearch, FoundCosts};
use crate::dense::{dot, solve};
use crate::model::Model;
use crate::parameters::Parameter;
use crate::search::parallel;
use std::collections::BTreeMap;

/// How much worse a fit may be, in squares of the typical error. More than for independent values, as those
/// of a level are not: with this, nine in ten coefficients of engines that are known are within.
const WORSE: f64 = 20.0;
/// No coefficient is known better than this share.
const FINEST: f64 = 0.03;
/// Those that share what they explain with others.
const SHARED: f64 = 0.06;
/// Nothing is tried farther than this times what would be all of the time.
const FARTHEST: f64 = 4.0;
/// How often the end of an interval is approached.
const TRIES: usize = 6;

/// Other noise of the engine.
const OTHERS: [u64; 4] = [2, 3, 4, 5];

/// The smallest and the largest value that the data allow.
pub(super) type Intervals = BTreeMap<&'static str, [f64; 2]>;

/// The intervals of all parameters of a fit, and of launches where it has none.
pub(super) fn intervals(search: &CostSearch<'_>, found: &FoundCosts, square: f64) -> Intervals {
    let profile = Profile::new(search, found, WORSE * square);
    let axes: Vec<usize> = (0..found.parameters.len()).collect();
    let known = parallel(search.options.threads, &axes, |axis| {
        (found.parameters[*axis].name(), profile.interval(*axis))
    });
    let mut all: Intervals = known.into_iter().collect();
    if !found.choice.launches {
        let launches = profile.launches();
        all.extend(launches);
    }
    all
}

struct Profile<'a> {
    search: &'a CostSearch<'a>,
    found: &'a FoundCosts,
    levels: Vec<&'a EvidenceLevel>,
    /// The least misfit, and by how much others may be worse.
    least: f64,
    worse: f64,
}

impl<'a> Profile<'a> {
    fn new(search: &'a CostSearch<'a>, found: &'a FoundCosts, worse: f64) -> Self {
        let levels: Vec<&EvidenceLevel> = search.evidence.whole.iter().collect();
        let slopes = &found.point.slopes;
        let least = followed(&found.point.rows, slopes, None);
        // The parameters were chosen with one noise. With another, the same ones are worse.
        let others = parallel(search.options.threads, &OTHERS, |seed| {
            let rows = search.rows_with(found, &found.point.at, &levels, *seed);
            followed(&rows, slopes, None)
        });
        let mean = others.iter().sum::<f64>() / OTHERS.len() as f64;
        Self { search, found, levels, least, worse: worse + (mean - least).max(0.0) }
    }

    /// The interval of a parameter.
    fn interval(&self, axis: usize) -> [f64; 2] {
        let at = self.found.point.at[axis];
        let scale = self.found.scales[axis];
        let value = at * scale;
        let finest = match self.found.parameters[axis] {
            Parameter::Base | Parameter::PrefillToken => FINEST,
            _ => SHARED,
        };
        let low = match self.allows(axis, -at) {
            true => 0.0,
            false => (value - scale * self.end(axis, -1.0, at)).min((1.0 - finest) * value),
        };
        let high = value + scale * self.end(axis, 1.0, FARTHEST);
        [low, high.max((1.0 + finest) * value)]
    }

    /// How far a parameter can go one way: between what is allowed and what is not.
    fn end(&self, axis: usize, way: f64, farthest: f64) -> f64 {
        let (mut inside, mut outside) = (0.0, farthest);
        // Where it would end if slopes were the same everywhere.
        let own = alone(&self.found.point.slopes, axis);
        let mut tried = (self.worse / own.max(1e-12)).sqrt().min(0.5 * farthest);
        for _ in 0..TRIES {
            match self.allows(axis, way * tried) {
                true => inside = tried,
                false => outside = tried,
            }
            tried = match outside < farthest {
                true => 0.5 * (inside + outside),
                false => (2.5 * tried).min(0.999 * farthest),
            };
        }
        0.5 * (inside + outside)
    }

    /// Whether the data allow a parameter to be moved so far.
    fn allows(&self, axis: usize, by: f64) -> bool {
        let mut at = self.found.point.at.clone();
        at[axis] += by;
        let rows = self.search.rows(self.found, &at, &self.levels);
        followed(&rows, &self.found.point.slopes, Some(axis)) - self.least < self.worse
    }

    /// The longest launches that the data allow where the fit has none.
    fn launches(&self) -> Vec<(&'static str, [f64; 2])> {
        let model = self.found.model();
        let base = 1e3 * model.cost.base;
        let longest = |parameter: Parameter, first: f64| {
            let mut most = 0.0;
            let mut tried = first;
            for _ in 0..3 * TRIES {
                let mut other = model;
                other.set(parameter, tried);
                if !self.allows_model(&other) {
                    break;
                }
                most = tried;
                tried *= 1.3;
            }
            [0.0, if most > 0.0 { 1.15 * most } else { first }]
        };
        let one = longest(Parameter::LaunchPrefill, 0.2 * base);
        let sequence = longest(Parameter::LaunchSequence, 5.0 * base);
        [
            (Parameter::LaunchPrefill, one),
            (Parameter::LaunchLarge, one),
            (Parameter::LaunchSequence, sequence),
        ]
        .map(|(parameter, interval)| (parameter.name(), interval))
        .to_vec()
    }

    fn allows_model(&self, model: &Model) -> bool {
        let found = FoundCosts { base: *model, ..self.found.clone() };
        let rows = self.search.rows(&found, &self.found.point.at, &self.levels);
        followed(&rows, &self.found.point.slopes, None) - self.least < self.worse
    }
}

/// The misfit when all parameters but one follow along their slopes.
fn followed(rows: &[f64], slopes: &[Vec<f64>], fixed: Option<usize>) -> f64 {
    let free: Vec<&Vec<f64>> =
        slopes.iter().enumerate().filter(|(axis, _)| Some(*axis) != fixed).map(|of| of.1).collect();
    let squares = dot(rows, rows);
    let most = free.iter().map(|slope| dot(slope, slope)).fold(0.0, f64::max);
    let matrix = free.iter().enumerate().map(|(a, left)| {
        let cell = |(b, right): (usize, &&Vec<f64>)| {
            dot(left, right) + if a == b { 1e-6 * most + f64::MIN_POSITIVE } else { 0.0 }
        };
        free.iter().enumerate().map(cell).collect()
    });
    let along: Vec<f64> = free.iter().map(|slope| dot(slope, rows)).collect();
    let gained = solve(matrix.collect(), along.clone()).map_or(0.0, |step| dot(&step, &along));
    (squares - gained).max(0.0)
}

/// The square of the part of a slope that no combination of others has.
fn alone(slopes: &[Vec<f64>], axis: usize) -> f64 {
    followed(&slopes[axis], slopes, Some(axis))
}
