//! Temporary folders of agents and coordinators. Such a process may be killed, and then nobody removes its
//! folder: each folder has a file that its process keeps locked, and the next process removes those that
//! nobody holds any more.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What the names of such folders begin with.
const PREFIXES: [&str; 3] = ["dyno-agent-", "dyno-files-", "dyno-fleet-"];
const LOCK: &str = ".lock";

/// A temporary folder; removed when this is dropped, or by the next process unless it is in a run directory.
#[derive(Debug)]
pub(super) struct Folder {
    dir: TempDir,
    /// Held as long as this process lives.
    _lock: Option<File>,
}

impl Folder {
    /// For the records of an agent.
    pub(super) fn of_agent() -> io::Result<Self> {
        Self::new(&std::env::temp_dir(), PREFIXES[0])
    }

    /// For the files of a plan.
    pub(super) fn of_files() -> io::Result<Self> {
        Self::new(&std::env::temp_dir(), PREFIXES[1])
    }

    /// For a coordinator and its children.
    pub(super) fn of_fleet() -> io::Result<Self> {
        Self::new(&std::env::temp_dir(), PREFIXES[2])
    }

    /// For the records of an agent, in the directory of its run: they stay if the agent is killed.
    pub(super) fn in_run(run: &Path, name: &str) -> io::Result<Self> {
        let dir = private().prefix(name).rand_bytes(0).tempdir_in(run)?;
        Ok(Self { dir, _lock: None })
    }

    /// Leaves it where it is.
    pub(super) fn keep(self) -> PathBuf {
        self.dir.keep()
    }

    fn new(within: &Path, prefix: &str) -> io::Result<Self> {
        let dir = private().prefix(prefix).tempdir_in(within)?;
        // Locked before it has the name that others look for. A file system without locks must not stop it; its
        // folders are not removed by others.
        let new = dir.path().join(".new");
        let lock = File::create(&new)?;
        let held = lock.try_lock().is_ok();
        match held {
            true => fs::rename(&new, dir.path().join(LOCK))?,
            false => fs::remove_file(&new)?,
        }
        remove_left(within, dir.path());
        Ok(Self { dir, _lock: held.then_some(lock) })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Makes folders that no other user may read.
fn private<'a>() -> tempfile::Builder<'a, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(0o700));
    builder
}

/// Removes the folders that processes of the same user have left behind. `own` is a new one of this process.
fn remove_left(within: &Path, own: &Path) {
    let Ok(user) = fs::metadata(own).map(|found| found.uid()) else { return };
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let ours = name.to_str().is_some_and(|name| PREFIXES.iter().any(|p| name.starts_with(p)));
        let is_left = || {
            let found = fs::symlink_metadata(&path).ok()?;
            let lock = path.join(LOCK);
            let locked = fs::symlink_metadata(&lock).ok()?;
            let of_user = found.is_dir() && found.uid() == user && locked.is_file();
            (of_user && File::open(lock).ok()?.try_lock().is_ok()).then_some(())
        };
        if ours && path != own && is_left().is_some() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed_and_those_of_others_are_not() {
        let within = tempfile::tempdir().unwrap();
        let make = |name: &str, locked: bool| {
            let path = within.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("records.dyno"), "data").unwrap();
            if locked {
                fs::write(path.join(LOCK), "").unwrap();
            }
            path
        };
        let killed = [make("dyno-agent-killed", true), make("dyno-files-killed", true)];
        let living = make("dyno-agent-living", true);
        let held = File::open(living.join(LOCK)).unwrap();
        held.try_lock().unwrap();
        let others = [make("dyno-agent-unlocked", false), make("something-else", true)];
        let own = Folder::new(within.path(), PREFIXES[1]).unwrap();
        assert!(killed.iter().all(|path| !path.exists()));
        assert!(living.exists() && others.iter().all(|path| path.exists()));
        let second = Folder::new(within.path(), PREFIXES[0]).unwrap();
        assert!(own.path().exists(), "it is in use");
        let mode = own.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "it has records, which may have texts");
        drop((own, second));
        drop(held);
        drop(Folder::new(within.path(), PREFIXES[0]).unwrap());
        assert!(!living.exists(), "nobody holds it any more");
    }
}
