//! A finished run: how it ended, its directory and its summary.

use crate::error::RunError;
use crate::identity::{on_one_line, one_line};
use crate::recording::LastSuccess;
use crate::run_writer::Closed;
use dyno_analysis::{DirSource, FrameSource, summarise};
use dyno_drive::TransportError;
use dyno_model::Diagnostic;
use dyno_model::frame::{Ending, Frame, LevelEnd, RunHeader};
use dyno_model::plan::Plan;
use dyno_model::units::format_duration;
use dyno_model::when::utc;
use dyno_model::{Message, Nanos, SEC, Summary, message};
use dyno_net::Clock;
use dyno_record::{RecordError, RunDir};
use dyno_words::escape::shell;
use dyno_words::{Note, values};
use std::path::Path;
use tempfile::TempDir;

/// A finished run.
#[derive(Debug)]
pub struct FinishedRun {
    /// Its directory. A temporary one is removed when this value is dropped.
    pub dir: RunDir,
    /// The plan as it was saved.
    pub plan: Plan,
    /// The summary of the records that were kept.
    pub summary: Result<Summary, RunError>,
    /// How the last level ended.
    pub ending: Ending,
    /// How the target was lost, if it was.
    pub lost: Option<Lost>,
    /// Agents that were lost.
    pub lost_agents: Vec<LostAgent>,
    /// Why the summary is not in the directory, if so.
    pub unsaved: Option<RecordError>,
    /// A failure of this machine: records the disk did not accept, or an event loop that failed.
    pub failures: Vec<RunError>,
    /// The data error that ended the run early.
    pub data: Option<RunError>,
    unwritten: Vec<Frame>,
    _temporary: Option<TempDir>,
}

impl FinishedRun {
    pub(crate) fn of(
        closed: Closed,
        plan: &Plan,
        ending: Ending,
        lost: Option<Lost>,
        error: Option<TransportError>,
        data: Option<Message>,
    ) -> Self {
        let Closed { dir, temporary, recorded } = closed;
        // An error beyond the last prompt that was needed does not matter.
        let data = data.filter(|_| ending == Ending::Aborted);
        let disk = recorded.error.map(RunError::from);
        // Until the summary is saved, the run is being written.
        let _held = recorded.held;
        let mut finished = Self {
            dir,
            plan: plan.clone(),
            summary: Err(RunError::Own(message!("there is no summary yet", "尚无汇总"))),
            ending,
            lost,
            lost_agents: Vec::new(),
            unsaved: None,
            failures: disk.into_iter().chain(error.map(RunError::from)).collect(),
            data: data.map(|words| RunError::setting("--data", words)),
            unwritten: recorded.unwritten,
            _temporary: temporary,
        };
        finished.summary = finished.sum_up();
        if let Ok(summary) = &finished.summary {
            finished.unsaved = match serde_json::to_vec_pretty(summary) {
                Ok(json) => finished.dir.write_summary(&json).err(),
                Err(source) => {
                    Some(RecordError::Json { path: finished.dir.path().to_owned(), source })
                }
            };
        }
        finished
    }

    fn sum_up(&self) -> Result<Summary, RunError> {
        let environment = self.dir.read_environment()?;
        Ok(summarise(&self.plan, environment.as_ref(), &self.records()?))
    }

    /// Every frame: those in the file, then those the disk did not accept.
    pub fn records(&self) -> Result<impl FrameSource, RunError> {
        Ok(Records { stored: DirSource::open(&self.dir)?, unwritten: &self.unwritten })
    }
}

/// The frames on disk, then those the disk did not accept.
struct Records<'a> {
    stored: DirSource<'a>,
    unwritten: &'a [Frame],
}

impl FrameSource for Records<'_> {
    fn header(&self) -> &RunHeader {
        self.stored.header()
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        Box::new(self.stored.frames().chain(self.unwritten.iter().cloned()))
    }

    fn damaged(&self) -> Option<Message> {
        self.stored.damaged()
    }
}

/// An agent that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostAgent {
    /// Its name.
    pub name: String,
    /// In which level, from 0.
    pub level: u32,
    /// Why, on one line.
    pub why: Message,
}

impl LostAgent {
    /// Those that were lost in a level, or could not continue.
    pub(crate) fn of(end: &LevelEnd) -> Vec<Self> {
        let lost = end.agents.iter().filter_map(|agent| {
            let (name, level) = (one_line(&agent.name), end.level);
            let why = on_one_line(agent.lost.as_ref()?);
            Some(Self { name, level, why })
        });
        lost.filter(|_| !end.ending.carried_out()).collect()
    }
}

/// How a target was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// When, on the run's clock.
    pub at: Nanos,
    /// What was observed, on one line.
    pub words: Message,
    /// The last completed request.
    pub last_success: Option<LastSuccess>,
}

impl Lost {
    pub(crate) fn new(at: Nanos, words: &Message, last_success: Option<LastSuccess>) -> Self {
        Self { at, words: on_one_line(words), last_success }
    }

    /// How long before that the last request completed, in tenths of seconds: `1.3s`.
    pub fn after(&self, last: &LastSuccess) -> String {
        format_duration(tenths(self.at.saturating_sub(last.at)))
    }

    /// When the target was lost, and the last completed request. One of two alternating runs cannot be
    /// resumed.
    pub(crate) fn note(&self, plan: &Plan, dir: &Path, clock: Clock) -> Diagnostic {
        let dir = named(dir);
        let at = utc(clock.anchor_unix_ns() + self.at);
        let mut values = values![at, format_duration(tenths(self.at)), &self.words].to_vec();
        let note = match &self.last_success {
            None => {
                values.extend(values![dir]);
                Note::TargetLostUnanswered.with(values)
            }
            Some(last) => {
                values.extend(values![last.index, last.level + 1, self.after(last), dir]);
                Note::TargetLost.with(values)
            }
        };
        let advice = note.advice.filter(|_| plan.course.versus.is_none());
        Diagnostic { advice, ..note }
    }
}

/// A path, as a shell reads it.
fn named(path: &Path) -> String {
    shell(&[path.display().to_string()]).unwrap_or_default()
}

/// A time in tenths of seconds.
fn tenths(time: Nanos) -> Nanos {
    time / (SEC / 10) * (SEC / 10)
}
