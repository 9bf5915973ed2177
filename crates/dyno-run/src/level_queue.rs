//! The order of levels: which one comes next, and when to stop.

use super::past::Past;
use dyno_analysis::search::{Chosen, next_level};
use dyno_analysis::slo;
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::level_schedule::Search;
use dyno_model::plan::{LevelPlan, Load, Plan};
use dyno_model::slo::Condition;
use dyno_words::Note;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The levels of a plan, and then those that its search chooses.
pub(crate) struct LevelQueue {
    plan: Arc<Plan>,
    /// The interval that contains a twin's capacity in requests per second, for rate levels.
    capacity: Option<[f64; 2]>,
    next: u32,
    /// Levels that are over, by number.
    results: BTreeMap<u32, LevelSummary>,
}

impl LevelQueue {
    /// The levels of `plan`; `past` may hold levels that an earlier process finished.
    pub(crate) fn new(plan: Arc<Plan>, capacity: Option<[f64; 2]>, past: Option<&Past>) -> Self {
        let finished = past.into_iter().flat_map(|past| &past.finished);
        let results = finished.map(|level| (level.index, level.clone())).collect();
        Self { plan, capacity, next: 0, results }
    }

    /// The number and the plan of the next level that is not done yet.
    pub(crate) fn next(&mut self) -> Option<(u32, Chosen)> {
        loop {
            let number = self.next;
            let level = match self.plan.levels.get(number as usize) {
                Some(level) => Chosen { level: level.clone(), length: None },
                None => self.choose(number)?,
            };
            self.next += 1;
            if !self.results.contains_key(&number) {
                return Some((number, level));
            }
        }
    }

    fn choose(&self, number: u32) -> Option<Chosen> {
        self.plan.course.search.as_ref()?;
        let so_far: Vec<&LevelSummary> =
            self.results.range(..number).map(|(_, level)| level).collect();
        let mut chosen = next_level(&self.plan, &so_far)?;
        let at_a_rate = matches!(chosen.level.load, Load::Rate { .. });
        chosen.level.capacity = self.capacity.filter(|_| at_a_rate);
        Some(chosen)
    }

    /// Whether results of levels are needed during the run.
    pub(crate) fn wants_results(&self) -> bool {
        self.plan.course.search.is_some() || !self.plan.course.stop_on.is_empty()
    }

    /// Takes the summary of a finished level.
    pub(crate) fn learn(&mut self, summary: LevelSummary) {
        self.results.insert(summary.index, summary);
    }

    /// The `--stop-on` condition that the last level met, if any: no more levels are run.
    pub(crate) fn enough(&self, last: &LevelSummary) -> Option<Diagnostic> {
        let mut met = self.plan.course.stop_on.iter().filter(|condition| slo::met(last, condition));
        let values = |condition: &Condition| vec![condition.to_string(), last.label.clone()];
        met.next().map(|condition| Note::StoppedOn.with(values(condition)))
    }

    /// Planned levels after the current one; none where a search chooses them.
    pub(crate) fn to_come(&self) -> &[LevelPlan] {
        if self.plan.course.search.is_some() {
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
        let at_most = match self.plan.course.search.as_ref() {
            Some(Search::Sweep { points: n, .. } | Search::Capacity { levels: n, .. }) => {
                *n as usize
            }
            Some(Search::Ladder { .. }) | None => planned,
        };
        at_most.max(self.next as usize)
    }
}
