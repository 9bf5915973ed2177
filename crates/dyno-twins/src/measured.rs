//! A measured run: the plans of its levels, its results, and its records where it has any.

use crate::imported;
use crate::server::prompts_begin_alike;
use dyno_analysis::{DirSource, level_plans};
use dyno_model::Summary;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_record::{RecordError, RunDir};
use std::collections::BTreeMap;

/// A run whose levels can be compared with a twin's.
#[derive(Debug)]
pub struct MeasuredRun {
    /// The planned levels by their index.
    pub(crate) plans: BTreeMap<u32, LevelPlan>,
    /// The results.
    pub(crate) summary: Summary,
    /// The records of a run of Dyno's own, with its plan. Other tools' files have too few times.
    pub(crate) records: Option<(RunDir, Plan)>,
}

impl MeasuredRun {
    /// A run with its directory.
    pub fn recorded(summary: Summary, dir: RunDir) -> Result<Self, RecordError> {
        let plan = dir.read_plan()?;
        let plans = level_plans(&plan, &DirSource::open(&dir)?);
        let records = summary.run.origin.is_none().then_some((dir, plan));
        Ok(Self { plans, summary, records })
    }

    /// Whether its prompts begin alike on purpose.
    pub(crate) fn begins_alike(&self) -> bool {
        self.records.as_ref().is_some_and(|(_, plan)| prompts_begin_alike(&plan.data))
    }

    /// Whether a server answered that others may use, too.
    pub(crate) fn is_of_server(&self) -> bool {
        self.records.as_ref().is_some_and(|(_, plan)| plan.target.url.is_some())
    }

    /// Results of another tool, or a summary alone: the plans are what it states.
    pub fn stated(summary: Summary) -> Self {
        Self { plans: imported::plans(&summary), summary, records: None }
    }
}
