//! Deleting a run, and nothing else.

use super::elsewhere;
use super::entry::is_being_written;
use crate::dir::{RECORDS, failed, holds_run};
use crate::error::{Doing, RecordError};
use crate::file::MAGIC;
use crate::parts::part_number;
use dyno_model::{Message, message};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Deletes the run at `path`, which must be a directory directly below `root` or listed there, that Dyno
/// wrote and no process is writing. Nothing is followed out of it: links in it are removed as links, and a
/// directory in it is a reason to refuse, unless it is what an agent kept. The records are deleted last, so
/// that an interrupted deletion leaves a run that can still be listed and deleted.
pub fn delete_run(root: &Path, path: &Path) -> Result<(), RecordError> {
    let refused = |why: Message| RecordError::NotDeleted { path: path.to_owned(), why };
    let found = fs::symlink_metadata(path).map_err(failed(Doing::Read, path))?;
    if found.is_symlink() {
        return Err(refused(message!(
            "it is a link; name the run itself, or remove the link",
            "这是一个链接；请指定测试本身，或删除该链接"
        )));
    }
    let real = fs::canonicalize(path).map_err(failed(Doing::Read, path))?;
    let real_root = fs::canonicalize(root).map_err(failed(Doing::Read, root))?;
    if real.parent() != Some(&real_root) && !elsewhere::known(root).contains(&real) {
        let root = root.display();
        return Err(refused(message!(
            "it is not directly below {root} and not listed there; name its parent with --dir",
            "它不直接位于 {root} 之下，也未列在其中；请用 --dir 指定其上级目录"
        )));
    }
    if !found.is_dir() || !holds_run(&real) || !is_ours(&real) {
        return Err(refused(message!("it is not a run that Dyno wrote", "它不是 Dyno 写入的测试")));
    }
    let (files, folders) = entries(&real)?;
    let mut parts = Vec::new();
    for folder in folders {
        let name = || folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (within, deeper) = match part_number(&folder).filter(|_| is_ours(&folder)) {
            Some(_) => entries(&folder)?,
            None => {
                let name = name();
                return Err(refused(message!(
                    "it holds a directory, `{name}`, which no run has",
                    "其中含有目录 `{name}`，而测试目录不会有子目录"
                )));
            }
        };
        if !deeper.is_empty() {
            return Err(refused(message!(
                "`{}` in it holds a directory, which no run has",
                "其中的 `{}` 含有目录，而压测端的部分不会有子目录",
                name()
            )));
        }
        parts.push((folder, within));
    }
    if [&real]
        .into_iter()
        .chain(parts.iter().map(|(part, _)| part))
        .any(|dir| is_being_written(dir))
    {
        return Err(refused(message!(
            "a process is writing it; wait until it has ended",
            "有进程正在写入；请等待其结束"
        )));
    }
    parts.iter().try_for_each(|(part, files)| delete(part, files))?;
    delete(&real, &files)
}

/// The files in a directory, records last, and the directories in it.
fn entries(dir: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), RecordError> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir).map_err(failed(Doing::List, dir))? {
        let entry = entry.map_err(failed(Doing::List, dir))?;
        let kind = entry.file_type().map_err(failed(Doing::Read, entry.path()))?;
        if kind.is_dir() { &mut folders } else { &mut files }.push(entry.path());
    }
    files.sort_by_key(|file| file.file_name().is_some_and(|name| name == RECORDS));
    Ok((files, folders))
}

fn delete(dir: &Path, files: &[PathBuf]) -> Result<(), RecordError> {
    files.iter().try_for_each(|file| fs::remove_file(file).map_err(failed(Doing::Remove, file)))?;
    fs::remove_dir(dir).map_err(failed(Doing::Remove, dir))
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
