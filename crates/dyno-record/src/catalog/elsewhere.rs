//! The runs that were written outside of the directory of runs: a file in it lists them, so that
//! they are listed and found by name like the others.

use crate::dir::{failed, holds_run};
use crate::error::{Doing, RecordError};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// One absolute path per line.
const LIST: &str = "elsewhere.txt";

/// Lists the run at `path` among those of `root`, unless it is directly below `root`.
pub fn remember_run(root: &Path, path: &Path) -> Result<(), RecordError> {
    let real = fs::canonicalize(path).map_err(failed(Doing::Read, path))?;
    fs::create_dir_all(root).map_err(failed(Doing::Create, root))?;
    let real_root = fs::canonicalize(root).map_err(failed(Doing::Read, root))?;
    // A path that is not text, or of several lines, cannot be listed.
    let Some(line) = real.to_str().filter(|line| !line.contains('\n')) else { return Ok(()) };
    let below = real.parent() == Some(&real_root);
    if below || listed(root).contains(&real) {
        return Ok(());
    }
    let list = root.join(LIST);
    let opened = OpenOptions::new().create(true).append(true).open(&list);
    let written = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.map_err(failed(Doing::Write, &list))
}

/// The runs listed in `root` that still exist.
pub(super) fn known(root: &Path) -> Vec<PathBuf> {
    listed(root).into_iter().filter(|path| holds_run(path)).collect()
}

fn listed(root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root.join(LIST)).unwrap_or_default();
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in text.lines().map(PathBuf::from).filter(|path| path.is_absolute()) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}
