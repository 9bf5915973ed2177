//! Processes under test: what they say is kept, none outlives its test, and one that hangs fails
//! it with all that it said.

use crate::bench::verdict::{amiss, levels_of, levels_under};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nothing here takes anywhere near this long unless it hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

/// What a stream has said so far.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    pub(crate) fn listen(mut stream: impl Read + Send + 'static) -> (Self, JoinHandle<()>) {
        let heard = Self::default();
        let ours = heard.clone();
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                heard.0.lock().unwrap().extend_from_slice(&buffer[..n]);
            }
        });
        (ours, thread)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// A process that runs.
pub(crate) struct Process {
    child: Child,
    shown: String,
    place: Option<PathBuf>,
    stdout: Heard,
    stderr: Heard,
    listeners: Vec<JoinHandle<()>>,
}

/// A process that has ended.
pub(crate) struct Ended {
    /// Absent if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    shown: String,
    /// The directory it ran in.
    place: Option<PathBuf>,
}

impl Process {
    /// Starts a command, without anything on its stdin.
    pub(crate) fn start(mut command: Command) -> Self {
        let shown = format!("{command:?}");
        let place = command.get_current_dir().map(PathBuf::from);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdout, out) = Heard::listen(child.stdout.take().unwrap());
        let (stderr, err) = Heard::listen(child.stderr.take().unwrap());
        Self { child, shown, place, stdout, stderr, listeners: vec![out, err] }
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// It has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until it has said something on stderr.
    pub(crate) fn wait_for_words(&mut self, words: &str) {
        let stderr = self.stderr.clone();
        self.wait_until(words, || stderr.text().contains(words));
    }

    /// Waits until something has happened, as long as the process is there.
    pub(crate) fn wait_until(&mut self, what: &str, mut happened: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !happened() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("it ended ({status}) before: {what}\n{}", self.said());
            }
            if begun.elapsed() > WATCHDOG {
                let _ = self.child.kill();
                panic!("it did not happen in {WATCHDOG:?}: {what}\n{}", self.said());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > WATCHDOG {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("still running after {WATCHDOG:?}\n{}", self.said());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        for listener in self.listeners.drain(..) {
            listener.join().unwrap();
        }
        Ended {
            status: status.code(),
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
            shown: self.shown.clone(),
            place: self.place.clone(),
        }
    }

    fn said(&self) -> String {
        said(&self.shown, &self.stdout.text(), &self.stderr.text())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> Ended {
    Process::start(command).end()
}

impl Ended {
    /// All that it said, for messages.
    pub(crate) fn said(&self) -> String {
        let status = self.status.map_or("a signal".to_owned(), |status| status.to_string());
        format!("ended by {status}\n{}", said(&self.shown, &self.stdout, &self.stderr))
    }

    /// Fails unless the exit status is one of these.
    #[track_caller]
    pub(crate) fn expect_status(self, allowed: &[i32]) -> Self {
        let good = self.status.is_some_and(|status| allowed.contains(&status));
        assert!(good, "exit status not in {allowed:?}: {}", self.said());
        self
    }

    /// Fails unless the run did all it was to do, and its exit status is that of its verdicts.
    #[track_caller]
    pub(crate) fn expect_measured(self) -> Self {
        self.expect_unless_invalid(0)
    }

    /// Fails unless the exit status is this one, or 4 where a level is rightly invalid: the servers of
    /// most tests answer at once, which leaves little to measure, and the machine may be busy. Where the
    /// verdict is the point, see `verdicts.rs`.
    #[track_caller]
    pub(crate) fn expect_unless_invalid(self, status: i32) -> Self {
        if let Some(wrong) = self.amiss(status) {
            panic!("{wrong}: {}", self.said());
        }
        self
    }

    /// What is wrong with the exit status or the verdicts, where without an invalid level it were this.
    pub(crate) fn amiss(&self, status: i32) -> Option<String> {
        let levels = match (serde_json::from_str(&self.stdout), &self.place) {
            (Ok(printed), _) => levels_of(&printed),
            (Err(_), Some(place)) => levels_under(place),
            (Err(error), None) => return Some(format!("no summary: {error}")),
        };
        amiss(&levels, self.status, status)
    }

    /// Fails unless stderr has all of these words.
    #[track_caller]
    pub(crate) fn expect_words(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` on stderr: {}", self.said());
        }
        self
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is no JSON ({error}): {}", self.said()))
    }
}

fn said(shown: &str, stdout: &str, stderr: &str) -> String {
    let most = 20_000;
    let cut = |text: &str| -> String { text.chars().take(most).collect() };
    format!("$ {shown}\n--- stdout\n{}\n--- stderr\n{}", cut(stdout), cut(stderr))
}
