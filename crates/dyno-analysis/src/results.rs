//! A run's results, wherever they come from.

use crate::source::VecSource;
use dyno_model::Summary;
use dyno_model::plan::Plan;
use dyno_model::summary::{Extras, LevelSummary};
use dyno_record::RunDir;
use std::path::{Path, PathBuf};

/// The results of a run, or one table, sweep or result object of another tool.
#[derive(Debug, Clone)]
pub struct RunResults {
    /// Where they were found.
    pub path: PathBuf,
    /// The results.
    pub summary: Summary,
    /// What some layouts need beyond the summary, and what another tool stated besides its metrics.
    pub extras: Extras,
    /// Its records, where they are kept.
    pub dir: Option<RunDir>,
    /// Records rebuilt from another tool's data on single requests, with the plan that goes with them.
    pub rebuilt: Option<(Plan, VecSource)>,
    /// Another tool's own values of each level, before anything was recomputed.
    pub stated: Vec<LevelSummary>,
}

impl RunResults {
    /// A summary alone, found at `path`.
    pub fn of(path: &Path, summary: Summary) -> Self {
        Self {
            path: path.to_owned(),
            summary,
            extras: Extras::default(),
            dir: None,
            rebuilt: None,
            stated: Vec::new(),
        }
    }

    /// Its label, else its id.
    pub fn name(&self) -> &str {
        let run = &self.summary.run;
        run.label.as_deref().filter(|label| !label.trim().is_empty()).unwrap_or(&run.id)
    }
}
