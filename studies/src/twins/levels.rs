//! The levels of recorded runs, all of them or some.

use anyhow::{Context as _, Result, ensure};
use dyno_record::RunDir;
use dyno_twins::{MeasuredRun, Recorded, recorded};
use std::path::Path;

/// The levels of one run.
pub(super) struct Group {
    /// The run's name.
    pub(super) name: String,
    pub(super) levels: Vec<Recorded>,
}

/// The levels of runs, each `RUN`, or `RUN#LOAD,LOAD` for some of its levels.
pub(super) fn read(runs: &[String]) -> Result<Vec<Group>> {
    runs.iter().map(|run| group(run).with_context(|| run.clone())).collect()
}

fn group(run: &str) -> Result<Group> {
    let (path, wanted) = run.split_once('#').unwrap_or((run, ""));
    let wanted = wanted.split(',').filter(|load| !load.is_empty());
    let wanted: Vec<f64> = wanted.map(str::parse).collect::<Result<_, _>>()?;
    let dir = RunDir::open(path)?;
    let summary = dir.read_summary()?.context("has no summary")?;
    let mut levels = recorded(&MeasuredRun::recorded(summary, dir)?)?;
    for load in &wanted {
        ensure!(levels.iter().any(|level| level.plan.load.value() == *load), "no level {load}");
    }
    levels.retain(|level| wanted.is_empty() || wanted.contains(&level.plan.load.value()));
    ensure!(!levels.is_empty(), "no level can be used");
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    Ok(Group { name: name.into_owned(), levels })
}
