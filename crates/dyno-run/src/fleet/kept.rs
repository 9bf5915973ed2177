//! The records of an agent's last level: a run directory that is removed when the coordinator has fetched
//! them, and stays where the coordinator is lost.

use super::files::piece;
use super::folder::Folder;
use crate::error::RunError;
use crate::identity::{on_one_line, one_line};
use dyno_model::environment::Environment;
use dyno_model::plan::{Plan, Shard};
use dyno_model::{Message, message};
use dyno_record::{RunDir, delete_run};
use dyno_words::Note;
use std::cmp::Reverse;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the names of kept directories begin with.
const PREFIX: &str = "lost-";
/// Between the id of the run and the number of the agent.
const AGENT: &str = "-agent-";
/// Of how many runs they are kept in one place.
const RUNS: usize = 4;
/// Letters of a run's id that are used: it may come from a bus.
const LONGEST: usize = 64;
/// Directories of one agent and one run, which may have been lost before.
const AGAIN: u32 = 100;

/// Where an agent keeps records that its coordinator did not fetch.
#[derive(Debug, Clone)]
pub enum KeepRecords {
    /// In the directory of the run, where they are written.
    InRun(PathBuf),
    /// Below the first of these directories that can be written; those of old runs are removed there.
    Below(Vec<PathBuf>),
}

/// The records of a level.
pub(super) struct KeptRecords {
    folder: Folder,
    dir: RunDir,
    /// They are where they are to be kept.
    in_place: bool,
    /// Requests.
    pub(super) records: u64,
    pub(super) bytes: u64,
    /// The coordinator has all of them.
    fetched: bool,
}

impl KeptRecords {
    /// Opens the directory of an agent's part.
    pub(super) fn create(
        keep: &KeepRecords,
        plan: &Plan,
        environment: &Environment,
    ) -> Result<Self, RunError> {
        let own = |error: io::Error| RunError::Own(Message::of(error));
        let in_run = match keep {
            KeepRecords::InRun(run) => {
                Folder::in_run(run, &RunDir::part_name(plan.shard.index)).ok()
            }
            KeepRecords::Below(_) => None,
        };
        let in_place = in_run.is_some();
        let folder = in_run.map_or_else(Folder::of_agent, Ok).map_err(own)?;
        let path = folder.path();
        let dir = RunDir::create(if in_place { path.to_owned() } else { path.join("level") })?;
        dir.write_plan(plan)?;
        dir.write_environment(environment)?;
        Ok(Self { folder, dir, in_place, records: 0, bytes: 0, fetched: false })
    }

    pub(super) fn dir(&self) -> &RunDir {
        &self.dir
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("records.dyno")
    }

    /// All of them are written.
    pub(super) fn close(mut self, records: u64) -> Result<Self, RunError> {
        let found = self.path().metadata();
        let length = found.map_err(|error| RunError::Own(Message::of(error)))?.len();
        (self.records, self.bytes) = (records, length);
        Ok(self)
    }

    pub(super) fn piece(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let piece = piece(&self.path(), from)?;
        self.fetched |= from.saturating_add(piece.len() as u64) >= self.bytes;
        Ok(piece)
    }

    /// Keeps the records of a run that is over, unless the coordinator has them and said so: where they
    /// are, or why that failed.
    pub(super) fn keep(
        self,
        keep: &KeepRecords,
        why: &Message,
        told: bool,
    ) -> Option<Result<PathBuf, Message>> {
        if self.records == 0 || told && self.fetched {
            return None;
        }
        if let Ok(Some(mut environment)) = self.dir.read_environment() {
            environment.notes.push(Note::NotFetched.with([on_one_line(why)]));
            // Without it the records are as good.
            let _ = self.dir.write_environment(&environment);
        }
        if self.in_place {
            return Some(Ok(self.folder.keep()));
        }
        let KeepRecords::Below(roots) = keep else { return None };
        Some(self.moved(roots))
    }

    /// Moves them below the first directory that can be written.
    fn moved(&self, roots: &[PathBuf]) -> Result<PathBuf, Message> {
        let header = self.dir.records().map_err(Message::of)?.header().clone();
        let name = name(&header.run_id, header.shard);
        let mut why = message!("there is no place for them", "没有可保存的位置");
        for root in roots {
            match moved(self.dir.path(), root, &name) {
                Ok(path) => {
                    remove_old(root);
                    return Ok(path);
                }
                Err(error) => why = message!("{}: {error}", "{}：{error}", root.display()),
            }
        }
        Err(why)
    }
}

/// What a report of an agent's part says about it.
pub(super) fn note(name: &str, shard: Shard) -> dyno_model::Diagnostic {
    Note::AgentsPart.with(vec![one_line(name), shard.of.to_string()])
}

/// The name of a kept directory: a run's id may be any text.
fn name(run: &str, agent: u32) -> String {
    let run = run.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(LONGEST);
    format!("{PREFIX}{}{AGENT}{}", run.collect::<String>(), u64::from(agent) + 1)
}

/// Moves the files of a directory into a new one below `root`, for this user alone.
fn moved(from: &Path, root: &Path, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(root)?;
    let (mut to, mut number) = (root.join(name), 1);
    loop {
        number += 1;
        match DirBuilder::new().mode(0o700).create(&to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number <= AGAIN => {
                to = root.join(format!("{name}-{number}"));
            }
            made => break made?,
        }
    }
    let each = || -> io::Result<()> {
        for file in fs::read_dir(from)? {
            let file = file?;
            let to = to.join(file.file_name());
            // It may be on another file system.
            fs::rename(file.path(), &to).or_else(|_| fs::copy(file.path(), &to).map(drop))?;
        }
        Ok(())
    };
    each().inspect_err(|_| drop(fs::remove_dir_all(&to)))?;
    Ok(to)
}

/// Removes what was kept of all but the last few runs.
fn remove_old(root: &Path) {
    let mut runs: Vec<(String, SystemTime, Vec<PathBuf>)> = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let run = name.to_str().filter(|name| name.starts_with(PREFIX));
        let run = run.and_then(|name| Some(name.rsplit_once(AGENT)?.0.to_owned()));
        let at = entry.metadata().and_then(|found| found.modified());
        let (Some(run), Ok(at)) = (run, at) else { continue };
        match runs.iter_mut().find(|(known, ..)| *known == run) {
            Some((_, newest, paths)) => {
                *newest = at.max(*newest);
                paths.push(entry.path());
            }
            None => runs.push((run, at, vec![entry.path()])),
        }
    }
    runs.sort_by_key(|(_, newest, _)| Reverse(*newest));
    let old = runs.into_iter().skip(RUNS).flat_map(|(.., paths)| paths);
    // Only what Dyno wrote, and nobody writes.
    old.for_each(|path| drop(delete_run(root, &path)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity;
    use dyno_model::plan::{Plan, Target};
    use dyno_net::Clock;
    use dyno_record::Recorder;
    use std::os::unix::fs::PermissionsExt;

    fn kept(run: &str, keep: &KeepRecords) -> KeptRecords {
        let mut plan = Plan::new(Target::at("http://127.0.0.1:9"));
        plan.shard = Shard { index: 1, of: 3 };
        let environment = identity::environment(
            Default::default(),
            Default::default(),
            vec![note("a", plan.shard)],
        );
        let kept = KeptRecords::create(keep, &plan, &environment).unwrap();
        let header = identity::header(run.to_owned(), &plan, &Clock::start());
        Recorder::start(kept.dir(), header).unwrap().finish();
        kept.close(1).unwrap()
    }

    fn names(root: &Path) -> Vec<String> {
        let entries = fs::read_dir(root).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn records_of_the_last_few_runs_are_kept_for_this_user_alone() {
        let place = tempfile::tempdir().unwrap();
        let (no, root) = (place.path().join("file"), place.path().join("runs"));
        fs::write(&no, "").unwrap();
        fs::create_dir_all(root.join("lost-and-found")).unwrap();
        let keep = KeepRecords::Below(vec![no, root.clone()]);
        for run in ["../../1", "2", "2", "3", "4", "5"] {
            let path =
                kept(run, &keep).keep(&keep, &Message::quoted("gone"), false).unwrap().unwrap();
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
            assert_eq!(
                RunDir::open(path).unwrap().read_environment().unwrap().unwrap().notes.len(),
                2
            );
        }
        let expected = [
            "lost-2-agent-2",
            "lost-2-agent-2-2",
            "lost-3-agent-2",
            "lost-4-agent-2",
            "lost-5-agent-2",
        ];
        assert_eq!(names(&root), [&expected[..], &["lost-and-found"]].concat());
    }

    #[test]
    fn what_the_coordinator_has_or_never_was_is_not_kept() {
        let place = tempfile::tempdir().unwrap();
        let keep = KeepRecords::InRun(place.path().to_owned());
        let mut fetched = kept("1", &keep);
        assert_eq!(names(place.path()), ["agent-2"]);
        while !fetched.fetched {
            fetched.piece(0).unwrap();
        }
        assert_eq!(fetched.keep(&keep, &Message::quoted("over"), true), None);
        let empty = KeptRecords { records: 0, ..kept("1", &keep) };
        assert_eq!(empty.keep(&keep, &Message::quoted("gone"), false), None);
        assert!(names(place.path()).is_empty());
        let part = kept("1", &keep).keep(&keep, &Message::quoted("gone"), false).unwrap().unwrap();
        assert_eq!(part, place.path().join("agent-2"));
        assert_eq!(part.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}
