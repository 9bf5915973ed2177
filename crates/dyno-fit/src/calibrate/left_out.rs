//! How well levels and kinds of load are predicted by the others.

use super::choice::Setting;
use super::descent::{Descent, Point};
use super::evidence::{EvidenceLevel, simulated};
use super::miss;
use super::search::{CostSearch, FoundCosts, ROUND, SETTINGS};
use crate::model::Model;
use crate::search::parallel;
use crate::trial::{Quantity, SentRequest, TrialKind, most_in_flight};
use dyno_stats::rng::SplitMix;
use std::collections::BTreeMap;

/// Parts into which levels are divided, each to be predicted by the rest.
const FOLDS: usize = 5;

/// The parameters of the rest. Where few levels are left, what they do not show moves little.
const AGAIN: Descent = Descent { rounds: 4, steps: 3, damped: 0.03, threads: 1 };
/// How far from the parameters of all levels the search for those of the rest begins, as a share: it must
/// find its own way, or it remembers the levels that were left out.
const AWAY: f64 = 0.2;
/// Settings that are found first.
const BASIC: [Setting; 2] = [Setting::Policy, Setting::StepsAhead];
/// Loads and lengths that differ by no more than this share are the same,
const ALIKE: f64 = 0.03;
/// and those of few requests, by no more than this over the root of their number,
const BY_CHANCE: f64 = 0.5;
/// or than so many standard errors of the difference of their means.
const ERRORS: f64 = 2.0;

/// A level that was left out, and how far the prediction was from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Missed {
    /// The level.
    pub label: String,
    /// Its kind of load.
    pub kind: TrialKind,
    /// Logarithms of simulated over measured values.
    pub by: BTreeMap<Quantity, f64>,
}

/// What leaving out showed.
#[derive(Debug, Clone, Default)]
pub struct LeftOut {
    /// Levels, each predicted by levels of all kinds.
    pub levels: Vec<Missed>,
    /// Levels, each predicted by levels of other kinds alone. Empty if all are of one kind.
    pub kinds: Vec<Missed>,
}

/// Leaves out one fold after the other, and one kind after the other.
pub(super) fn leave_out(search: &CostSearch<'_>, found: &FoundCosts) -> LeftOut {
    let all = &search.evidence.whole;
    let mut kinds: Vec<TrialKind> = all.iter().map(|level| level.trial.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut parts = folds(all);
    let of_levels = parts.len();
    if kinds.len() > 1 {
        let of = |kind: &TrialKind| Part {
            levels: (0..all.len()).filter(|at| all[*at].trial.kind == *kind).collect(),
            settings: true,
        };
        parts.extend(kinds.iter().map(of));
    }
    let models = parallel(search.options.threads, &parts, |part| refit(search, found, part));
    let missed = |(part, model): (&Part, &Model)| {
        let levels: Vec<Missed> = part.levels.iter().map(|at| missed(&all[*at], model)).collect();
        levels
    };
    let mut each: Vec<Vec<Missed>> = parts.iter().zip(&models).map(missed).collect();
    let kinds = each.split_off(of_levels).into_iter().flatten().collect();
    let levels = each.into_iter().flatten().collect();
    LeftOut { levels, kinds }
}

/// Levels that are left out together.
struct Part {
    levels: Vec<usize>,
    /// Whether the settings of the engine are chosen again. With most levels left they would be the same.
    settings: bool,
}

/// The levels in parts. Those that were loaded in the same way are together: each would tell of the other.
fn folds(all: &[EvidenceLevel]) -> Vec<Part> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, level) in all.iter().enumerate() {
        let like = |group: &&mut Vec<usize>| loaded_alike(&all[group[0]], level);
        match groups.iter_mut().find(like) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    let folds = FOLDS.min(groups.len());
    if folds < 2 {
        return Vec::new();
    }
    let fold = |fold: usize| Part {
        levels: groups.iter().skip(fold).step_by(folds).flatten().copied().collect(),
        settings: false,
    };
    (0..folds).map(fold).collect()
}

/// Whether two levels had the same load and lengths, as far as requests show.
fn loaded_alike(one: &EvidenceLevel, other: &EvidenceLevel) -> bool {
    let count = |of: &EvidenceLevel| of.trial.requests.len().max(1) as f64;
    // Its mean and the square of its error.
    let mean = |of: &EvidenceLevel, length: fn(&SentRequest) -> u32| {
        let lengths = || of.trial.requests.iter().map(|sent| f64::from(length(sent)));
        let mean = lengths().sum::<f64>() / count(of);
        let squares = lengths().map(|length| (length - mean).powi(2)).sum::<f64>();
        (mean, squares / count(of).powi(2))
    };
    let same_length = |length: fn(&SentRequest) -> u32| {
        let ((a, error_of_a), (b, error_of_b)) = (mean(one, length), mean(other, length));
        (a - b).abs() <= ALIKE * a.max(b) + ERRORS * (error_of_a + error_of_b).sqrt()
    };
    let load = |of: &EvidenceLevel| match of.trial.kind {
        TrialKind::Open => of.measured.get(Quantity::Rate),
        TrialKind::Closed | TrialKind::Sessions | TrialKind::Burst => {
            f64::from(most_in_flight(&of.trial))
        }
    };
    let chance = match one.trial.kind {
        TrialKind::Open | TrialKind::Sessions => BY_CHANCE / count(one).min(count(other)).sqrt(),
        TrialKind::Closed | TrialKind::Burst => 0.0,
    };
    let (a, b) = (load(one), load(other));
    one.trial.kind == other.trial.kind
        && (a - b).abs() <= ALIKE.max(chance) * a.max(b)
        && same_length(|sent| sent.input)
        && same_length(|sent| sent.output)
}

/// The model that is fitted to all levels but these. What steps show, they show of the rest alone.
fn refit(search: &CostSearch<'_>, found: &FoundCosts, part: &Part) -> Model {
    let rest = search.evidence.without(&part.levels);
    let start = rest.start();
    let search = CostSearch { evidence: &rest, start: &start, ..*search };
    let levels: Vec<&EvidenceLevel> = rest.whole.iter().collect();
    let mut signs = SplitMix::new(part.levels.iter().fold(0, |seed, at| (seed << 5) ^ *at as u64));
    let moved = |at: &f64| match signs.next_u64() % 2 {
        0 => at * (1.0 + AWAY),
        _ => at / (1.0 + AWAY),
    };
    let point = Point::start(found.point.at.iter().map(moved).collect());
    let mut found = FoundCosts { point, ..found.clone() };
    if part.settings {
        found = search.fit(found.choice, Some(&found), ROUND);
        found = search.settled(&found, &[&BASIC[..], &SETTINGS].concat());
    }
    let start = Point::start(found.point.at.clone());
    found.at(&search.descend(&found, start, &levels, AGAIN).at)
}

fn missed(level: &EvidenceLevel, model: &Model) -> Missed {
    let figures = simulated(&level.trial, model);
    let by = |quantity: &Quantity| {
        let miss = miss(&level.measured, figures.as_ref()?, *quantity);
        miss.is_finite().then_some((*quantity, miss))
    };
    Missed {
        label: level.trial.label.clone(),
        kind: level.trial.kind,
        by: Quantity::ALL.iter().filter_map(by).collect(),
    }
}

impl LeftOut {
    /// The mean absolute error of a value on levels that were left out, as a share.
    pub fn error(&self, quantity: Quantity) -> Option<f64> {
        let errors: Vec<f64> = self
            .levels
            .iter()
            .filter_map(|missed| Some((missed.by.get(&quantity)?.exp() - 1.0).abs()))
            .collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }
}
