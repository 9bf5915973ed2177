//! Levels that are chosen as a run goes, as the report's own search chooses them.

use super::course::Navigator;
use dyno_analysis::search::next_level;
use dyno_model::LevelSummary;
use dyno_model::course::Search;
use dyno_model::plan::{LevelPlan, Plan};

/// A search for the levels of a plan.
pub(crate) struct Searching<'a> {
    plan: &'a Plan,
}

impl<'a> Searching<'a> {
    /// The search that a plan asks for, if it does.
    pub(crate) fn of(plan: &'a Plan) -> Option<Self> {
        plan.course.search.as_ref().map(|_| Self { plan })
    }
}

impl Navigator for Searching<'_> {
    fn next(&mut self, so_far: &[&LevelSummary]) -> Option<LevelPlan> {
        next_level(self.plan, so_far)
    }

    fn at_most(&self) -> Option<usize> {
        match self.plan.course.search.as_ref()? {
            Search::Sweep { points, .. } => Some(*points as usize),
            Search::Capacity { levels, .. } => Some(*levels as usize),
            Search::Ladder { .. } => None,
        }
    }
}
