//! Recovered steps against those of simulated engines.

mod costs;
mod pipeline;
mod places;
mod refusals;

use super::simulated::Run;
use super::{LevelRecords, LevelSteps, Refusal, level_steps};

fn recovered(run: &Run) -> Result<LevelSteps, Vec<Refusal>> {
    level_steps(LevelRecords { requests: &run.records, samples: &run.samples, shared: false })
}
