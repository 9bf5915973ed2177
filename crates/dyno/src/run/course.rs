//! From level to level: which one comes next, what happens in between, and when it is enough.

use super::past::Past;
use dyno_analysis::slo;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::slo::Condition;
use dyno_words::Note;
use std::collections::{BTreeMap, BTreeSet};

/// Chooses levels by what the levels before them showed.
pub(crate) trait Navigator {
    /// The next level; nothing when it is enough. `so_far` are all that ran, in order.
    fn next(&mut self, so_far: &[&LevelSummary]) -> Option<LevelPlan>;

    /// How many levels there may be in all, where that is known.
    fn at_most(&self) -> Option<usize>;
}

/// A level that is up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leg {
    pub(crate) index: u32,
    pub(crate) plan: LevelPlan,
    /// It is not in the plan.
    pub(crate) chosen: bool,
}

/// The way through a plan.
pub(crate) struct Course<'p, 'n> {
    plan: &'p Plan,
    navigator: Option<&'n mut dyn Navigator>,
    next: u32,
    finished: BTreeSet<u32>,
    results: BTreeMap<u32, LevelSummary>,
}

impl<'p, 'n> Course<'p, 'n> {
    /// The way through `plan`, where `past` may hold levels that an earlier process finished.
    pub(crate) fn new(
        plan: &'p Plan,
        navigator: Option<&'n mut dyn Navigator>,
        past: Option<&Past>,
    ) -> Self {
        let mut course =
            Self { plan, navigator, next: 0, finished: BTreeSet::new(), results: BTreeMap::new() };
        for level in past.into_iter().flat_map(|past| &past.finished) {
            course.finished.insert(level.index);
            course.results.insert(level.index, level.clone());
        }
        course
    }

    /// The next level that is not done yet.
    pub(crate) fn next(&mut self) -> Option<Leg> {
        loop {
            let index = self.next;
            let leg = match self.plan.levels.get(index as usize) {
                Some(plan) => Leg { index, plan: plan.clone(), chosen: false },
                None => {
                    let navigator = self.navigator.as_mut()?;
                    let before = self.results.range(..index);
                    let so_far: Vec<&LevelSummary> = before.map(|(_, level)| level).collect();
                    Leg { index, plan: navigator.next(&so_far)?, chosen: true }
                }
            };
            self.next += 1;
            if !self.finished.contains(&index) {
                return Some(leg);
            }
        }
    }

    /// Whether anybody wants to know how levels went while the run goes on.
    pub(crate) fn wants_results(&self) -> bool {
        self.navigator.is_some() || !self.plan.course.stop_on.is_empty()
    }

    /// A level is over, and how it went.
    pub(crate) fn learn(&mut self, summary: LevelSummary) {
        self.results.insert(summary.index, summary);
    }

    /// Why no more levels are run although there are some, if so: a condition that the last one
    /// met.
    pub(crate) fn enough(&self, last: &LevelSummary) -> Option<Diagnostic> {
        let mut met = self.plan.course.stop_on.iter().filter(|condition| slo::met(last, condition));
        let values = |condition: &Condition| vec![condition.to_string(), last.label.clone()];
        met.next().map(|condition| Note::StoppedOn.with(values(condition)))
    }

    /// Levels of the plan after the one that is up; none where nobody knows them all.
    pub(crate) fn to_come(&self) -> &'p [LevelPlan] {
        if self.navigator.is_some() {
            return &[];
        }
        self.plan.levels.get(self.next as usize..).unwrap_or_default()
    }

    /// Whether levels of the plan are left.
    pub(crate) fn has_more(&self) -> bool {
        (self.next as usize) < self.plan.levels.len()
    }

    /// Levels in all, as far as known.
    pub(crate) fn known(&self) -> usize {
        let planned = self.plan.levels.len();
        let chosen = self.navigator.as_ref().and_then(|navigator| navigator.at_most());
        chosen.unwrap_or(planned).max(self.next as usize)
    }
}
