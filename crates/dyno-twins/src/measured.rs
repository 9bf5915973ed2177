//! A measured run: the plans of its levels and its results.

use crate::imported;
use dyno_analysis::{DirSource, level_plans};
use dyno_model::Summary;
use dyno_model::plan::LevelPlan;
use dyno_record::{RecordError, RunDir};
use std::collections::BTreeMap;

/// A run whose levels can be compared with a twin's.
#[derive(Debug)]
pub struct Measured {
    /// The planned levels by their index.
    pub(crate) plans: BTreeMap<u32, LevelPlan>,
    /// The results.
    pub(crate) summary: Summary,
}

impl Measured {
    /// A run of Dyno's, with its directory.
    pub fn recorded(summary: Summary, dir: &RunDir) -> Result<Self, RecordError> {
        let plan = dir.read_plan()?;
        Ok(Self { plans: level_plans(&plan, &DirSource::open(dir)?), summary })
    }

    /// Results of another tool, or a summary alone: the plans are what it states.
    pub fn stated(summary: Summary) -> Self {
        Self { plans: imported::plans(&summary), summary }
    }
}
