//! The parts of a run that its agents keep until the coordinator has fetched them: run directories within
//! the run's own. Where the coordinator was lost before that, they are the only records of a level.

use crate::dir::{RECORDS, RunDir, failed, holds_records};
use crate::error::{Doing, RecordError};
use crate::reader::{Damage, RecordReader};
use dyno_model::frame::{Frame, LevelStart, RunHeader};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// What the names of such directories begin with; the number of the agent follows, from 1.
const PREFIX: &str = "agent-";
/// How long an agent may still be writing when its run is resumed.
const TO_END: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(50);

impl RunDir {
    /// The name of an agent's part; agents are numbered from 0.
    pub fn part_name(agent: u32) -> String {
        format!("{PREFIX}{}", u64::from(agent) + 1)
    }

    /// The parts that hold records, in the order of their agents.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let mut parts: Vec<(u32, PathBuf)> = entries
            .filter_map(|entry| Some((part_number(&entry.path())?, entry.path())))
            .filter(|(_, path)| holds_records(path))
            .collect();
        parts.sort();
        parts.into_iter().map(|(_, path)| Self::at(path)).collect()
    }

    /// All records of the run: its own, and those of agents in levels that have no end.
    pub fn all_records(&self) -> Result<AllRecords, RecordError> {
        let (own, parts) = (self.records()?, self.parts());
        let addresses = match parts.is_empty() {
            true => 0,
            false => self.read_environment().ok().flatten().map_or(0, |e| e.server.addresses.len()),
        };
        Ok(AllRecords { own, parts, addresses, levels: Levels::default(), part: None })
    }
}

/// The number of a part's agent, from 1, if it is a directory that is called like one.
pub(crate) fn part_number(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()).then_some(number)
}

/// Waits until no agent is writing its part any more.
pub(crate) fn wait_for(parts: &[RunDir]) -> Result<(), RecordError> {
    let is_written = |part: &RunDir| {
        let file = File::open(part.path().join(RECORDS));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    };
    let mut waited = Duration::ZERO;
    while let Some(part) = parts.iter().find(|part| is_written(part)) {
        if waited >= TO_END {
            return Err(RecordError::InUse(part.path().to_owned()));
        }
        thread::sleep(GLANCE);
        waited += GLANCE;
    }
    Ok(())
}

/// Removes parts whose records are elsewhere.
pub(crate) fn remove(parts: &[RunDir]) -> Result<(), RecordError> {
    let removed =
        |part: &RunDir| fs::remove_dir_all(part.path()).map_err(failed(Doing::Remove, part.path()));
    parts.iter().try_for_each(removed)
}

/// Which indices there were: a bit for each, in blocks where there are any.
#[derive(Debug, Default)]
pub struct SeenPart(BTreeMap<u64, [u64; 64]>);

impl SeenPart {
    /// Whether it is new.
    pub fn insert(&mut self, index: u64) -> bool {
        let block = self.0.entry(index / 4096).or_insert([0; 64]);
        let (word, bit) = ((index % 4096 / 64) as usize, 1 << (index % 64));
        let new = block[word] & bit == 0;
        block[word] |= bit;
        new
    }
}

/// What the run's own records have of its levels.
#[derive(Debug, Default)]
struct Levels {
    started: BTreeSet<u32>,
    ended: BTreeSet<u32>,
    /// Requests of the level that was started last.
    seen: SeenPart,
}

impl Levels {
    fn see(&mut self, frame: &Frame) {
        match frame {
            Frame::LevelStart(start) => {
                self.started.insert(start.level);
                self.ended.remove(&start.level);
                self.seen = SeenPart::default();
            }
            Frame::Request(record) => {
                self.seen.insert(record.index);
            }
            Frame::LevelEnd(end) => {
                self.ended.insert(end.level);
            }
            _ => {}
        }
    }
}

/// The frames of a run's own records, then those of agents' parts of levels that have no end, on the
/// clock of the run.
#[derive(Debug)]
pub struct AllRecords {
    own: RecordReader,
    /// Parts that have not been read yet.
    parts: Vec<RunDir>,
    /// The target's addresses that have a number.
    addresses: usize,
    levels: Levels,
    part: Option<RecordReader>,
}

impl AllRecords {
    /// Skips the run's own records.
    pub(crate) fn skip_own(&mut self) {
        while self.next_own().is_some() {}
    }

    /// The run's own records.
    pub(crate) fn own(&self) -> &RecordReader {
        &self.own
    }

    /// Why the run's own records end early, once they have been read.
    pub fn damage(&self) -> Option<Damage> {
        self.own.damage()
    }

    fn next_own(&mut self) -> Option<Frame> {
        let frame = self.own.next()?;
        if !self.parts.is_empty() {
            self.levels.see(&frame);
        }
        Some(frame)
    }

    /// The next frame of a part that counts.
    fn next_of_part(&mut self) -> Option<Frame> {
        loop {
            let Some(part) = &mut self.part else {
                if self.parts.is_empty() {
                    return None;
                }
                let reader = self.parts.remove(0).records().ok();
                self.part = reader.filter(|part| belongs(part.header(), self.own.header()));
                continue;
            };
            let by = part.header().anchor_unix_ns as i64 - self.own.header().anchor_unix_ns as i64;
            let agent = part.header().shard;
            match part.next() {
                Some(Frame::Request(mut record)) if !self.levels.ended.contains(&record.level) => {
                    if self.levels.seen.insert(record.index) {
                        record.shift(by);
                        record.agent = Some(agent);
                        record.address =
                            record.address.filter(|at| usize::from(*at) < self.addresses);
                        return Some(Frame::Request(record));
                    }
                }
                // The coordinator may have been lost before its own start was written.
                Some(Frame::LevelStart(start)) if self.levels.started.insert(start.level) => {
                    self.levels.seen = SeenPart::default();
                    let started = start.started.saturating_add_signed(by);
                    return Some(Frame::LevelStart(LevelStart { started, ..start }));
                }
                Some(_) => {}
                None => self.part = None,
            }
        }
    }
}

/// Whether a part is one of this run.
fn belongs(part: &RunHeader, run: &RunHeader) -> bool {
    part.run_id == run.run_id
}

impl Iterator for AllRecords {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        self.next_own().or_else(|| self.next_of_part())
    }
}
