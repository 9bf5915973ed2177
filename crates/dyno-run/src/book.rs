//! The run directory while it is written: every frame on its way, the server's own figures beside
//! them, and the records of a level that is over read back from the file.

use crate::error::RunError;
use crate::identity;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::order::{Order, Place};
use crate::watch::{EndsWith, Watch};
use dyno_analysis::{FrameSource, summarise};
use dyno_model::Diagnostic;
use dyno_model::LevelSummary;
use dyno_model::environment::Environment;
use dyno_model::frame::{Frame, RunHeader};
use dyno_model::plan::Plan;
use dyno_net::Clock;
use dyno_record::{Finished, Recorder, RunDir};
use std::cell::Cell;
use std::sync::Arc;
use tempfile::TempDir;

/// Takes the records of one run.
pub(crate) struct Book {
    dir: RunDir,
    /// The directory goes with it.
    temporary: Option<TempDir>,
    header: RunHeader,
    recorder: Recorder,
    watch: Arc<Watch>,
    asking: Option<EndsWith>,
    warned: Cell<bool>,
}

/// What is left of it when the run is over.
pub(crate) struct Closed {
    pub(crate) dir: RunDir,
    pub(crate) temporary: Option<TempDir>,
    pub(crate) recorded: Finished,
}

impl Book {
    /// The directory and the record file: new ones, or those of the run that is gone on with.
    pub(crate) fn open(
        order: &Order,
        plan: &Plan,
        environment: &Environment,
        clock: &Clock,
    ) -> Result<Self, RunError> {
        let not_made = |error| RunError::setting("--out", error);
        let name = identity::name(clock, plan.course.versus.as_ref().map(|versus| versus.side));
        let mut temporary = None;
        let path = match &order.place {
            Place::Resumed(dir, past) => {
                let header = identity::header(past.run_id.clone(), plan, clock);
                // Before anything is sent: the next attempt must not send it again.
                let before = dir.read_environment().ok().flatten();
                let before = before.unwrap_or_else(|| environment.clone());
                dir.write_environment(&Environment { attempts: environment.attempts, ..before })
                    .map_err(|error| RunError::setting("--resume", error))?;
                let recorder =
                    Recorder::resume(dir).map_err(|error| RunError::setting("--resume", error))?;
                return Ok(Self::new(dir.clone(), None, header, recorder));
            }
            Place::At(path) => path.clone(),
            Place::Below(path) => path.join(&name),
            Place::Temporary => {
                let made = tempfile::Builder::new().prefix("dyno-").tempdir();
                let made = made.map_err(|error| {
                    RunError::Own(format!("no temporary directory can be made: {error}"))
                })?;
                temporary.insert(made).path().to_owned()
            }
        };
        let dir = RunDir::create(path).map_err(not_made)?;
        dir.write_plan(plan).map_err(not_made)?;
        dir.write_environment(environment).map_err(not_made)?;
        let header = identity::header(name, plan, clock);
        let recorder = Recorder::start(&dir, header.clone()).map_err(not_made)?;
        Ok(Self::new(dir, temporary, header, recorder))
    }

    fn new(dir: RunDir, temporary: Option<TempDir>, header: RunHeader, recorder: Recorder) -> Self {
        let (watch, warned) = (Arc::new(Watch::new()), Cell::new(false));
        Self { dir, temporary, header, recorder, watch, asking: None, warned }
    }

    /// Asks the server for its own figures from now on.
    pub(crate) fn ask(&mut self, mut metrics: Metrics, observer: &dyn Observer) {
        let (record, show) = (self.recorder.sender(), observer.server_metrics());
        let keep = move |frame: Frame| {
            if let (Frame::Server(sample), Some(show)) = (&frame, &show) {
                show(sample);
            }
            record(frame);
        };
        keep(Frame::Server(metrics.first));
        match Watch::start(&self.watch, move |stop| metrics.ask(stop), keep) {
            Ok(asking) => self.asking = Some(asking),
            Err(error) => {
                observer.warn(&format!("the server's own figures cannot be asked for: {error}"))
            }
        }
    }

    /// Keeps a frame.
    pub(crate) fn send(&self, frame: Frame) {
        self.watch.on_frame(&frame);
        self.recorder.send(frame);
    }

    /// Whether what is measured now is lost. Trouble with the disk is told once: the frames wait in
    /// memory until it takes them.
    pub(crate) fn is_losing(&self, observer: &dyn Observer) -> bool {
        if let Some(words) = self.recorder.trouble().filter(|_| !self.warned.replace(true)) {
            observer.warn(&words);
        }
        self.recorder.is_losing()
    }

    /// Where in the file the next frame will be, or before that; not known where nobody writes.
    pub(crate) fn place(&self) -> Option<u64> {
        self.recorder.written().map(|written| written.length)
    }

    /// How a level went whose frames begin at `from`, read back from the file. The server's own figures
    /// are left out: when they come is chance, and which level comes next must not be.
    pub(crate) fn level(
        &self,
        plan: &Plan,
        environment: &Environment,
        number: u32,
        from: u64,
    ) -> Option<LevelSummary> {
        let unwritten = self.recorder.written()?.rest;
        let records = Since { book: self, from, unwritten };
        let levels = summarise(plan, Some(environment), &records).levels;
        levels.into_iter().find(|level| level.index == number)
    }

    /// Asks the server no more; what should be known of the answers that did not come.
    pub(crate) fn end_asking(&mut self) -> Option<Diagnostic> {
        drop(self.asking.take());
        self.watch.note()
    }

    /// Replaces what was saved about this machine and the server, with what an earlier process of a
    /// resumed run had to say: that still holds.
    pub(crate) fn write_environment(&self, mut environment: Environment, observer: &dyn Observer) {
        let before = self.dir.read_environment().ok().flatten();
        for note in before.map(|before| before.notes).unwrap_or_default() {
            if !environment.notes.contains(&note) {
                environment.notes.push(note);
            }
        }
        if let Err(error) = self.dir.write_environment(&environment) {
            observer.error(&error.to_string());
        }
    }

    /// Writes what is left.
    pub(crate) fn close(self) -> Closed {
        let Self { dir, temporary, recorder, .. } = self;
        Closed { dir, temporary, recorded: recorder.finish() }
    }
}

/// The frames from some place on: those in the file, and those that the disk has not taken.
struct Since<'a> {
    book: &'a Book,
    from: u64,
    unwritten: Vec<Frame>,
}

impl FrameSource for Since<'_> {
    fn header(&self) -> &RunHeader {
        &self.book.header
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        let stored = self.book.dir.records_from(self.from).ok().into_iter().flatten();
        let frames = stored.chain(self.unwritten.iter().cloned());
        Box::new(frames.filter(|frame| !matches!(frame, Frame::Server(_))))
    }

    fn damaged(&self) -> Option<String> {
        None
    }
}
