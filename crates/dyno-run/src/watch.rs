//! Polls the server's metrics during a run: a separate thread, one request a second, and nothing
//! waits for the responses.

use super::metrics::PollError;
use crate::identity::on_one_line;
use dyno_drive::StopSignal;
use dyno_model::frame::Frame;
use dyno_model::server::ServerSample;
use dyno_model::{Diagnostic, Message};
use dyno_words::{Note, values};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The interval between requests.
const EVERY: Duration = Duration::from_secs(1);
/// The start of a level and the end of a run wait no longer than this for a sample.
const LAST_WITHIN: Duration = Duration::from_millis(500);
/// A note is printed if more than this share of requests failed.
const GAPS: f64 = 0.1;

/// When the next request is due, and how the previous ones went.
struct State {
    /// The polling thread has started.
    begun: bool,
    due: Instant,
    /// A sample was asked for since the last request: a level has ended, or is about to start.
    asked_for: bool,
    /// How many were asked for, and how many of these have been taken or have failed.
    wanted: u64,
    answered: u64,
    asked: u64,
    failed: u64,
    last_error: Option<Message>,
    over: bool,
}

impl State {
    fn want(&mut self) {
        self.asked_for = true;
        self.wanted += 1;
    }
}

/// Shared between the driver and the polling thread.
pub(crate) struct TargetWatch {
    state: Mutex<State>,
    changed: Condvar,
    stop: StopSignal,
}

impl TargetWatch {
    /// Polling has not started.
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                begun: false,
                due: Instant::now() + EVERY,
                asked_for: false,
                wanted: 0,
                answered: 0,
                asked: 0,
                failed: 0,
                last_error: None,
                over: false,
            }),
            changed: Condvar::new(),
            stop: StopSignal::new(),
        }
    }

    /// Starts to poll with `ask`; every sample goes to `keep`.
    pub(crate) fn start(
        this: &Arc<Self>,
        mut ask: impl FnMut(&StopSignal) -> Result<ServerSample, PollError> + Send + 'static,
        keep: impl Fn(Frame) + Send + 'static,
    ) -> std::io::Result<PollerGuard> {
        let watch = Arc::clone(this);
        let thread = std::thread::Builder::new().name("dyno-metrics".into()).spawn(move || {
            while let Some(wanted) = watch.next_request() {
                match ask(&watch.stop) {
                    Ok(sample) => {
                        keep(Frame::Server(sample));
                        watch.took(wanted, None);
                    }
                    Err(PollError::Why(why)) => watch.took(wanted, Some(why)),
                    Err(PollError::Stopped) => return,
                }
            }
        })?;
        this.lock().begun = true;
        Ok(PollerGuard { watch: Arc::clone(this), thread: Some(thread) })
    }

    /// Follows the frames that are recorded: samples are taken in the middle of a level's seconds and
    /// right after its end, and the end of the run stops the polling.
    pub(crate) fn on_frame(&self, frame: &Frame) {
        match frame {
            Frame::LevelStart(_) => self.lock().due = Instant::now() + EVERY / 2,
            Frame::LevelEnd(_) => self.lock().want(),
            Frame::RunEnd(_) => {
                self.wait(self.lock());
                self.end();
            }
            Frame::LevelChosen(_) | Frame::Request(_) | Frame::Server(_) => return,
        }
        self.changed.notify_all();
    }

    /// Takes a sample now, and waits for it: what the server has counted so far does not belong to the level that
    /// starts next.
    pub(crate) fn sample_now(&self) {
        let mut state = self.lock();
        state.want();
        self.changed.notify_all();
        self.wait(state);
    }

    /// Waits until no sample is wanted any more, but not for long.
    fn wait(&self, state: MutexGuard<'_, State>) {
        let waits = |state: &mut State| state.begun && state.answered < state.wanted;
        let waited = self.changed.wait_timeout_while(state, LAST_WITHIN, waits);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Stops polling; a request in progress is aborted.
    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.stop.raise();
        self.changed.notify_all();
    }

    /// A note about failed requests, if there were many.
    pub(crate) fn note(&self) -> Option<Diagnostic> {
        let state = self.lock();
        let error = state.last_error.as_ref()?;
        let (asked, failed) = (state.asked, state.failed);
        (failed as f64 > GAPS * asked as f64)
            .then(|| Note::MetricsGaps.with(values![failed, asked, on_one_line(error)]))
    }

    /// Waits until the next request is due; returns how many samples were asked for by then.
    fn next_request(&self) -> Option<u64> {
        let mut state = self.lock();
        while !state.over {
            if std::mem::take(&mut state.asked_for) {
                return Some(state.wanted);
            }
            let now = Instant::now();
            if state.due <= now {
                // Requests that a late response made impossible are skipped.
                let next = state.due + EVERY;
                state.due = if next > now { next } else { now + EVERY };
                return Some(state.wanted);
            }
            let wait = state.due - now;
            let waited = self.changed.wait_timeout(state, wait);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn took(&self, wanted: u64, failed: Option<Message>) {
        let mut state = self.lock();
        state.answered = wanted;
        state.asked += 1;
        if failed.is_some() {
            state.failed += 1;
            state.last_error = failed;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The polling thread, which ends when this is dropped. A panic of the thread does not reach the run.
pub(crate) struct PollerGuard {
    watch: Arc<TargetWatch>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for PollerGuard {
    fn drop(&mut self) {
        self.watch.end();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_drive::Stop;
    use dyno_model::frame::{Ending, LevelEnd, LevelStart, RunEnd};

    fn run_end() -> Frame {
        Frame::RunEnd(RunEnd { ended: 0, ending: Ending::Requests })
    }

    fn level_end() -> Frame {
        Frame::LevelEnd(Box::new(LevelEnd::at(0, Ending::Requests, 0)))
    }

    #[test]
    fn a_server_that_never_responds_delays_nothing() {
        let watch = Arc::new(TargetWatch::new());
        let (send, asked) = std::sync::mpsc::channel();
        let hang = move |stop: &StopSignal| {
            send.send(()).unwrap();
            while stop.get() == Stop::No {
                std::thread::yield_now();
            }
            Err(PollError::Stopped)
        };
        let asking =
            TargetWatch::start(&watch, hang, |_| panic!("there is nothing to keep")).unwrap();
        watch.on_frame(&Frame::LevelStart(LevelStart { level: 0, started: 0 }));
        watch.on_frame(&level_end());
        watch.on_frame(&run_end());
        drop(asking);
        assert_eq!(asked.iter().count(), 1);
        assert!(watch.note().is_none());
    }

    #[test]
    fn a_sample_that_is_wanted_now_is_kept_before_anything_else_happens() {
        let watch = Arc::new(TargetWatch::new());
        let (keep, kept) = std::sync::mpsc::channel();
        let ask = |_: &StopSignal| Ok(ServerSample::default());
        // Nobody polls yet.
        watch.sample_now();
        let asking =
            TargetWatch::start(&watch, ask, move |frame| keep.send(frame).unwrap()).unwrap();
        watch.sample_now();
        assert!(kept.try_iter().count() > 0);
        drop(asking);
    }

    #[test]
    fn without_polling_the_end_waits_for_nothing() {
        let watch = TargetWatch::new();
        watch.on_frame(&level_end());
        // Would wait for a response that never comes.
        assert!(!watch.lock().begun);
        watch.on_frame(&run_end());
        assert!(watch.lock().over);
    }

    #[test]
    fn one_sample_follows_the_end_of_each_level_and_gaps_are_noted() {
        let watch = Arc::new(TargetWatch::new());
        let (keep, kept) = std::sync::mpsc::channel();
        let mut requests = 0;
        let ask = move |_: &StopSignal| {
            requests += 1;
            match requests {
                1 => Ok(ServerSample::default()),
                _ => Err(PollError::Why(Message::quoted("HTTP 500: out of order"))),
            }
        };
        let asking =
            TargetWatch::start(&watch, ask, move |frame| keep.send(frame).unwrap()).unwrap();
        let answered = |ends| {
            watch.on_frame(&level_end());
            let state = watch.lock();
            drop(watch.changed.wait_while(state, |state| state.answered < ends).unwrap());
        };
        answered(1);
        assert!(watch.note().is_none());
        answered(2);
        drop(asking);
        assert_eq!(kept.iter().count(), 1);
        let note = watch.note().unwrap();
        assert!(note.what.contains("1 of 2") && note.what.contains("out of order"), "{note:?}");
    }
}
