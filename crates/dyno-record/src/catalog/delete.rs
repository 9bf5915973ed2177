//! Deleting a run, and nothing else.

use super::elsewhere;
use super::entry::is_being_written;
use crate::dir::{RECORDS, failed, holds_run};
use crate::error::RecordError;
use crate::file::MAGIC;
use crate::parts::part_number;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Deletes the run at `path`, which must be a directory directly below `root` or listed there, that Dyno
/// wrote and no process is writing. Nothing is followed out of it: links in it are removed as links, and a
/// directory in it is a reason to refuse, unless it is what an agent kept. The records are deleted last, so
/// that an interrupted deletion leaves a run that can still be listed and deleted.
pub fn delete_run(root: &Path, path: &Path) -> Result<(), RecordError> {
    let refused = |why: String| RecordError::NotDeleted { path: path.to_owned(), why };
    let found = fs::symlink_metadata(path).map_err(failed("read", path))?;
    if found.is_symlink() {
        return Err(refused("it is a link; name the run itself, or remove the link".to_owned()));
    }
    let real = fs::canonicalize(path).map_err(failed("read", path))?;
    let real_root = fs::canonicalize(root).map_err(failed("read", root))?;
    if real.parent() != Some(&real_root) && !elsewhere::known(root).contains(&real) {
        let root = root.display();
        return Err(refused(format!(
            "it is not directly below {root} and not listed there; name its parent with --dir"
        )));
    }
    if !found.is_dir() || !holds_run(&real) || !is_ours(&real) {
        return Err(refused("it is not a run that Dyno wrote".to_owned()));
    }
    let (files, folders) = entries(&real)?;
    let mut parts = Vec::new();
    for folder in folders {
        let name = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (within, deeper) = match part_number(&folder).filter(|_| is_ours(&folder)) {
            Some(_) => entries(&folder)?,
            None => {
                let name = name();
                return Err(refused(format!("it holds a directory, `{name}`, which no run has")));
            }
        };
        if !deeper.is_empty() {
            return Err(refused(format!("`{}` in it holds a directory, which no run has", name())));
        }
        parts.push((folder, within));
    }
    if [&real]
        .into_iter()
        .chain(parts.iter().map(|(part, _)| part))
        .any(|dir| is_being_written(dir))
    {
        return Err(refused("a process is writing it; wait until it has ended".to_owned()));
    }
    parts.iter().try_for_each(|(part, files)| delete(part, files))?;
    delete(&real, &files)
}

/// The files in a directory, records last, and the directories in it.
fn entries(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), RecordError> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir).map_err(failed("list", dir))? {
        let entry = entry.map_err(failed("list", dir))?;
        let kind = entry.file_type().map_err(failed("read", entry.path()))?;
        if kind.is_dir() { &mut folders } else { &mut files }.push(entry.path());
    }
    files.sort_by_key(|file| file.file_name().is_some_and(|name| name == RECORDS));
    Ok((files, folders))
}

fn delete(dir: &Path, files: &[PathBuf]) -> Result<(), RecordError> {
    files.iter().try_for_each(|file| fs::remove_file(file).map_err(failed("delete", file)))?;
    fs::remove_dir(dir).map_err(failed("delete", dir))
}

/// Whether the files themselves show that Dyno wrote them: a directory may hold a `plan.json` of
/// another tool.
fn is_ours(path: &Path) -> bool {
    let starts = |name: &str, length: usize| -> Vec<u8> {
        let mut start = Vec::new();
        let file = regular(&path.join(name)).and_then(|file| File::open(file).ok());
        let _ = file.map(|file| file.take(length as u64).read_to_end(&mut start));
        start
    };
    starts(RECORDS, MAGIC.len()) == MAGIC
        || String::from_utf8_lossy(&starts("plan.json", 200)).contains("\"dyno.plan/")
}

fn regular(path: &Path) -> Option<PathBuf> {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file()).then(|| path.to_owned())
}
