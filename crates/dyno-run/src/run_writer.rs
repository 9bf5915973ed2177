//! The run directory while it is being written: frames, server metrics, and the records of a finished
//! level read back from the file.

use crate::error::RunError;
use crate::identity;
use crate::metrics::Metrics;
use crate::observer::RunObserver;
use crate::order::{Order, RunOutput};
use crate::watch::{PollerGuard, TargetWatch};
use dyno_analysis::{FrameSource, summarise};
use dyno_model::LevelSummary;
use dyno_model::environment::Environment;
use dyno_model::frame::{Frame, RunHeader};
use dyno_model::plan::Plan;
use dyno_model::{Diagnostic, Message, message};
use dyno_net::Clock;
use dyno_record::{FinishedFile, RecordError, Recorder, RunDir};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Writes the records of one run.
pub(crate) struct RunWriter {
    dir: RunDir,
    /// Removes a temporary directory when it is dropped.
    temporary: Option<TempDir>,
    header: RunHeader,
    recorder: Recorder,
    watch: Arc<TargetWatch>,
    asking: Option<PollerGuard>,
    warned: Cell<bool>,
}

/// What remains of it after the run.
pub(crate) struct Closed {
    pub(crate) dir: RunDir,
    pub(crate) temporary: Option<TempDir>,
    pub(crate) recorded: FinishedFile,
}

impl RunWriter {
    /// Opens the directory and the record file: new ones, or those of the run being resumed.
    pub(crate) fn open(
        order: &Order,
        plan: &Plan,
        environment: &Environment,
        clock: &Clock,
    ) -> Result<Self, RunError> {
        let not_made = |error: RecordError| RunError::setting("--out", error);
        let name = identity::name(clock, plan.course.versus.as_ref().map(|versus| versus.side));
        if let RunOutput::Resumed(dir, past) = &order.place {
            let header = identity::header(past.run_id.clone(), plan, clock);
            // Before anything is sent: the next attempt must not send it again.
            let before = dir.read_environment().ok().flatten();
            let mut before = before.unwrap_or_else(|| environment.clone());
            // The user has confirmed where a copy sends its requests.
            before.made.directory = dir.mark();
            dir.write_environment(&Environment { attempts: environment.attempts, ..before })
                .map_err(|error| RunError::setting("--resume", error))?;
            let recorder =
                Recorder::resume(dir).map_err(|error| RunError::setting("--resume", error))?;
            return Ok(Self::new(dir.clone(), None, header, recorder));
        }
        let mut temporary = None;
        let path = match order.place.directory(&name) {
            Some(path) => path,
            None => {
                let made = tempfile::Builder::new().prefix("dyno-").tempdir();
                let made = made.map_err(|error| {
                    RunError::Own(message!(
                        "cannot create a temporary directory: {error}",
                        "无法创建临时目录：{error}",
                    ))
                })?;
                temporary.insert(made).path().to_owned()
            }
        };
        let dir = RunDir::create(path).map_err(not_made)?;
        let header = identity::header(name, plan, clock);
        // Of several runs that are started at once in the same directory, one can create the file of records, and
        // the plan must be that one's.
        let recorder = Recorder::start_described(&dir, header.clone(), || {
            dir.write_plan(plan)?;
            let mut environment = environment.clone();
            environment.made.directory = dir.mark();
            dir.write_environment(&environment)
        });
        Ok(Self::new(dir.clone(), temporary, header, recorder.map_err(not_made)?))
    }

    /// The run directory.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn new(dir: RunDir, temporary: Option<TempDir>, header: RunHeader, recorder: Recorder) -> Self {
        let (watch, warned) = (Arc::new(TargetWatch::new()), Cell::new(false));
        Self { dir, temporary, header, recorder, watch, asking: None, warned }
    }

    /// Starts to poll the server's metrics.
    pub(crate) fn ask(&mut self, mut metrics: Metrics, observer: &dyn RunObserver) {
        let (record, show) = (self.recorder.sender(), observer.server_metrics());
        let keep = move |frame: Frame| {
            if let (Frame::Server(sample), Some(show)) = (&frame, &show) {
                show(sample);
            }
            record(frame);
        };
        keep(Frame::Server(metrics.first));
        match TargetWatch::start(&self.watch, move |stop| metrics.ask(stop), keep) {
            Ok(asking) => self.asking = Some(asking),
            Err(error) => observer.warn(&message!(
                "server metrics cannot be polled: {error}",
                "无法轮询服务器指标：{error}",
            )),
        }
    }

    /// Takes a sample of the server's metrics before a level starts.
    pub(crate) fn sample_now(&self) {
        self.watch.sample_now();
    }

    /// Keeps a frame.
    pub(crate) fn send(&self, frame: Frame) {
        self.watch.on_frame(&frame);
        self.recorder.send(frame);
    }

    /// Whether records are being lost. A disk error is reported once; frames wait in memory until the
    /// disk accepts them.
    pub(crate) fn is_losing(&self, observer: &dyn RunObserver) -> bool {
        if let Some(message) = self.recorder.trouble().filter(|_| !self.warned.replace(true)) {
            observer.warn(&message);
        }
        self.recorder.is_losing()
    }

    /// A position in the file at or before the next frame; unknown where nothing is written.
    pub(crate) fn place(&self) -> Option<u64> {
        self.recorder.written().map(|written| written.length)
    }

    /// The summary of a level whose frames begin at `from`, read back from the file. Server metrics are
    /// left out: they arrive at random times, and the choice of the next level must not depend on that.
    pub(crate) fn level(
        &self,
        plan: &Plan,
        environment: &Environment,
        number: u32,
        from: u64,
    ) -> Option<LevelSummary> {
        let unwritten = self.recorder.written()?.rest;
        let records = Since { writer: self, from, unwritten };
        let levels = summarise(plan, Some(environment), &records).levels;
        levels.into_iter().find(|level| level.index == number)
    }

    /// Stops polling the server; returns a note about polls that failed.
    pub(crate) fn stop_polling(&mut self) -> Option<Diagnostic> {
        drop(self.asking.take());
        self.watch.note()
    }

    /// Rewrites `environment.json`, keeping the notes of earlier processes of a resumed run, and how it was
    /// made.
    pub(crate) fn write_environment(
        &self,
        mut environment: Environment,
        observer: &dyn RunObserver,
    ) {
        let before = self.dir.read_environment().ok().flatten();
        let (notes, made) = before.map(|before| (before.notes, before.made)).unwrap_or_default();
        environment.made = made;
        for note in notes {
            if !environment.notes.contains(&note) {
                environment.notes.push(note);
            }
        }
        if let Err(error) = self.dir.write_environment(&environment) {
            observer.error(&Message::of(error));
        }
    }

    /// Writes what is left in memory.
    pub(crate) fn close(self) -> Closed {
        let Self { dir, temporary, recorder, .. } = self;
        Closed { dir, temporary, recorded: recorder.finish() }
    }
}

/// The frames from a position on: those in the file, and those the disk has not accepted.
struct Since<'a> {
    writer: &'a RunWriter,
    from: u64,
    unwritten: Vec<Frame>,
}

impl FrameSource for Since<'_> {
    fn header(&self) -> &RunHeader {
        &self.writer.header
    }

    fn frames(&self) -> Box<dyn Iterator<Item = Frame> + '_> {
        let stored = self.writer.dir.records_from(self.from).ok().into_iter().flatten();
        let frames = stored.chain(self.unwritten.iter().cloned());
        Box::new(frames.filter(|frame| !matches!(frame, Frame::Server(_))))
    }

    fn damaged(&self) -> Option<Message> {
        None
    }
}
