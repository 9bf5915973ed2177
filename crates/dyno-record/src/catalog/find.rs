//! Which run a name means: `latest`, a path, a directory's name or the start or end of one, or a
//! label.

use super::list_runs;
use crate::dir::RunDir;
use crate::error::RecordError;
use dyno_model::nearest::nearest;
use dyno_model::run_entry::RunEntry;
use std::path::{Path, PathBuf};

/// The directory of the run that `name` means, below `root` unless it is a path that exists. A name
/// that could mean several runs is an error that lists them.
pub fn find_run(root: &Path, name: &str) -> Result<PathBuf, RecordError> {
    // It would be the start of every name.
    if name.is_empty() {
        return Err(RecordError::NoName);
    }
    if Path::new(name).exists() {
        return Ok(PathBuf::from(name));
    }
    if name == "latest" {
        return RunDir::latest(root).map(|dir| dir.path().to_owned());
    }
    let runs = list_runs(root)?;
    // From the most to the least exact: a shorter match never hides a longer one.
    let rules: [&dyn Fn(&RunEntry) -> bool; 3] = [
        &|run| run.name == name || run.id.as_deref() == Some(name),
        &|run| run.label.as_deref() == Some(name),
        &|run| run.name.starts_with(name) || run.name.ends_with(&format!("-{name}")),
    ];
    for rule in rules {
        let found: Vec<&RunEntry> = runs.iter().filter(|run| rule(run)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.path.clone()),
            several => {
                let matches = several.iter().map(|run| run.name.clone()).collect();
                return Err(RecordError::AmbiguousRun { name: name.to_owned(), matches });
            }
        }
    }
    let names = runs.iter().map(|run| run.name.as_str());
    let known: Vec<&str> =
        names.chain(runs.iter().filter_map(|run| run.label.as_deref())).collect();
    let near = nearest(name, &known).map(str::to_owned);
    Err(RecordError::UnknownRun { name: name.to_owned(), root: root.to_owned(), near })
}
