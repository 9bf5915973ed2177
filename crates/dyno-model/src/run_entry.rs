//! One run in a list of runs, as plain data. `dyno-record` reads it, `dyno-report` prints it.

use crate::load::LoadKind;
use crate::message::Message;
use crate::verdict::Verdict;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It ended as planned.
    Complete,
    /// It was interrupted, or lost its target; a summary was saved.
    Interrupted,
    /// A process is writing it.
    Running,
    /// The process ended without a summary, for example because it was killed.
    Unfinished,
    /// Its files cannot be read; [`RunEntry::problem`] says why.
    Damaged,
}

/// How the levels of a run were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelChoice {
    /// As given.
    Given,
    /// `--sweep`.
    Sweep,
    /// `--concurrency auto`.
    Auto,
    /// `dyno capacity`.
    Capacity,
}

/// The load of a run in brief: its kind, and the lowest and the highest value over all levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadRange {
    /// How levels were chosen.
    pub choice: LevelChoice,
    /// The kind of the first level.
    pub kind: LoadKind,
    /// The lowest value of any level.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// A run as a list shows it. What is not known is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEntry {
    /// Name of its directory.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Identity of the run, which is not the directory's name where `--out` was given.
    pub id: Option<String>,
    /// When it started, in UTC and ISO 8601.
    pub started: Option<String>,
    /// The same in nanoseconds since 1970.
    #[serde(skip)]
    pub started_unix_ns: Option<u64>,
    /// How far it got.
    pub state: RunState,
    /// It ended because the target was lost.
    pub target_lost: bool,
    /// What is wrong with its files; saved as text.
    #[serde(serialize_with = "as_text")]
    pub problem: Option<Message>,
    /// Its label: the one set later, else that of the plan.
    pub label: Option<String>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// The model asked for.
    pub model: Option<String>,
    /// The URL, or the name of the twin or script.
    pub target: Option<String>,
    /// The API.
    pub api: Option<String>,
    /// No real model was measured.
    pub simulated: bool,
    /// Nothing was measured: a twin answered in virtual time.
    pub predicted: bool,
    /// The load in brief.
    pub load: Option<LoadRange>,
    /// Levels in the summary.
    pub levels: Option<usize>,
    /// The worst verdict of any level.
    pub verdict: Option<Verdict>,
    /// The highest request throughput of a level that is not invalid: over its steady window where
    /// it has one, as in the report.
    pub requests_per_s: Option<f64>,
    /// The highest output throughput of a level that is not invalid, likewise.
    pub output_tokens_per_s: Option<f64>,
    /// The highest number of texts per second, where they are embedded or ranked.
    pub inputs_per_s: Option<f64>,
}

fn as_text<S: Serializer>(said: &Option<Message>, serializer: S) -> Result<S::Ok, S::Error> {
    said.as_ref().map(Message::to_string).serialize(serializer)
}
