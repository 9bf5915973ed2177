//! Asking the server for its own figures while a run goes on: a thread of its own, a question a
//! second, and nobody who waits for the answers.

use super::metrics::Unanswered;
use dyno_drive::StopSignal;
use dyno_model::Diagnostic;
use dyno_model::frame::Frame;
use dyno_model::server::ServerSample;
use dyno_words::Note;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// From question to question.
const EVERY: Duration = Duration::from_secs(1);
/// The end of a run waits no longer than this for the figures after its last level.
const LAST_WITHIN: Duration = Duration::from_millis(500);
/// Beyond this share of questions, missing answers are worth a note.
const GAPS: f64 = 0.1;

/// When to ask, and how it went.
struct State {
    /// Somebody asks.
    begun: bool,
    due: Instant,
    /// A level has just ended, and nobody has asked since.
    just_ended: bool,
    /// How many levels have ended, and how many of these ends were followed by an answer.
    ends: u64,
    answered: u64,
    asked: u64,
    failed: u64,
    last_words: Option<String>,
    over: bool,
}

/// What the driver and the thread that asks share.
pub(crate) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
    stop: StopSignal,
}

impl Watch {
    /// Nothing is asked yet.
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                begun: false,
                due: Instant::now() + EVERY,
                just_ended: false,
                ends: 0,
                answered: 0,
                asked: 0,
                failed: 0,
                last_words: None,
                over: false,
            }),
            changed: Condvar::new(),
            stop: StopSignal::new(),
        }
    }

    /// Begins to ask with `ask`; every answer goes to `keep`.
    pub(crate) fn start(
        this: &Arc<Self>,
        mut ask: impl FnMut(&StopSignal) -> Result<ServerSample, Unanswered> + Send + 'static,
        keep: impl Fn(Frame) + Send + 'static,
    ) -> std::io::Result<EndsWith> {
        let watch = Arc::clone(this);
        let thread = std::thread::Builder::new().name("dyno-metrics".into()).spawn(move || {
            while let Some(ends) = watch.next_turn() {
                match ask(&watch.stop) {
                    Ok(sample) => {
                        keep(Frame::Server(sample));
                        watch.took(ends, None);
                    }
                    Err(Unanswered::Why(why)) => watch.took(ends, Some(why)),
                    Err(Unanswered::Stopped) => return,
                }
            }
        })?;
        this.lock().begun = true;
        Ok(EndsWith { watch: Arc::clone(this), thread: Some(thread) })
    }

    /// Looks at a frame on its way to the records: a level's samples stand in the middle of its
    /// seconds, one comes right after its end, and the run's end stops everything.
    pub(crate) fn heed(&self, frame: &Frame) {
        match frame {
            Frame::LevelStart(_) => self.lock().due = Instant::now() + EVERY / 2,
            Frame::LevelEnd(_) => {
                let mut state = self.lock();
                state.just_ended = true;
                state.ends += 1;
            }
            Frame::RunEnd(_) => {
                let state = self.lock();
                let waits = |state: &mut State| state.begun && state.answered < state.ends;
                let waited = self.changed.wait_timeout_while(state, LAST_WITHIN, waits);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
                self.end();
            }
            Frame::LevelChosen(_) | Frame::Request(_) | Frame::Server(_) => return,
        }
        self.changed.notify_all();
    }

    /// No more questions; one that is under way is given up.
    pub(crate) fn end(&self) {
        self.lock().over = true;
        self.stop.raise();
        self.changed.notify_all();
    }

    /// What should be known of the answers that did not come.
    pub(crate) fn note(&self) -> Option<Diagnostic> {
        let state = self.lock();
        let words = state.last_words.as_ref()?;
        let (asked, failed) = (state.asked, state.failed);
        (failed as f64 > GAPS * asked as f64).then(|| {
            let values = vec![failed.to_string(), asked.to_string(), words.clone()];
            Note::MetricsGaps.with(values)
        })
    }

    /// Waits until it is time to ask; how many levels had ended by then.
    fn next_turn(&self) -> Option<u64> {
        let mut state = self.lock();
        while !state.over {
            if std::mem::take(&mut state.just_ended) {
                return Some(state.ends);
            }
            let now = Instant::now();
            if state.due <= now {
                // A late answer leaves out what it made impossible.
                let next = state.due + EVERY;
                state.due = if next > now { next } else { now + EVERY };
                return Some(state.ends);
            }
            let wait = state.due - now;
            let waited = self.changed.wait_timeout(state, wait);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn took(&self, ends: u64, failed: Option<String>) {
        let mut state = self.lock();
        state.answered = ends;
        state.asked += 1;
        if failed.is_some() {
            state.failed += 1;
            state.last_words = failed;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that asks. When this goes, whatever happened, so do the questions; a panic of the
/// thread, if it should ever have one, is kept from the run.
pub(crate) struct EndsWith {
    watch: Arc<Watch>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.watch.end();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_drive::Stop;
    use dyno_model::frame::{Ending, LevelStart, RunEnd};

    fn run_end() -> Frame {
        Frame::RunEnd(RunEnd { ended: 0, ending: Ending::Requests })
    }

    fn level_end() -> Frame {
        Frame::LevelEnd(Box::new(dyno_model::frame::LevelEnd {
            level: 0,
            ending: Ending::Requests,
            ended: 0,
            sending_stopped: 0,
            starved: None,
            planned: None,
            issued: 0,
            warmup: 0,
            client: Default::default(),
            slip: None,
        }))
    }

    #[test]
    fn a_server_that_never_answers_holds_up_nothing() {
        let watch = Arc::new(Watch::new());
        let (told, asked) = std::sync::mpsc::channel();
        let hang = move |stop: &StopSignal| {
            told.send(()).unwrap();
            while stop.get() == Stop::No {
                std::thread::yield_now();
            }
            Err(Unanswered::Stopped)
        };
        let asking = Watch::start(&watch, hang, |_| panic!("there is nothing to keep")).unwrap();
        watch.heed(&Frame::LevelStart(LevelStart { level: 0, started: 0 }));
        watch.heed(&level_end());
        watch.heed(&run_end());
        drop(asking);
        assert_eq!(asked.iter().count(), 1);
        assert!(watch.note().is_none());
    }

    #[test]
    fn without_anybody_who_asks_the_end_waits_for_nothing() {
        let watch = Watch::new();
        watch.heed(&level_end());
        // Would wait for an answer that nobody can give.
        assert!(!watch.lock().begun);
        watch.heed(&run_end());
        assert!(watch.lock().over);
    }

    #[test]
    fn one_answer_follows_the_end_of_each_level_and_gaps_are_told() {
        let watch = Arc::new(Watch::new());
        let (keep, kept) = std::sync::mpsc::channel();
        let mut turns = 0;
        let ask = move |_: &StopSignal| {
            turns += 1;
            match turns {
                1 => Ok(ServerSample::default()),
                _ => Err(Unanswered::Why("HTTP 500: out of order".to_owned())),
            }
        };
        let asking = Watch::start(&watch, ask, move |frame| keep.send(frame).unwrap()).unwrap();
        let answered = |ends| {
            watch.heed(&level_end());
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
