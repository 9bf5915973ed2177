//! The terminal while the view occupies it: keys are read one by one without echo, and the former
//! settings are restored however the view ends.
//!
//! Ctrl-C is still SIGINT, as without a view, even if this thread hangs. Ctrl-Z and Ctrl-\ are
//! disabled, because they would leave the terminal in this state.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush,
    tcgetattr, tcgetpgrp, tcsetattr,
};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

/// The alternate screen, no cursor, no line wrap; and back.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const GIVE_BACK: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal's settings before the view.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Occupies the terminal until it is dropped.
pub(super) struct Taken {
    keys: Option<OwnedFd>,
}

/// Only a process in the foreground may change the terminal's settings.
pub(super) fn is_ours() -> bool {
    let ours = rustix::process::getpgrp();
    io::stderr().is_terminal() && tcgetpgrp(io::stderr()).is_ok_and(|group| group == ours)
}

impl Taken {
    pub(super) fn take() -> io::Result<Self> {
        let before = tcgetattr(io::stderr())?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        now.input_modes.remove(InputModes::IXON);
        now.special_codes[SpecialCodeIndex::VMIN] = 1;
        now.special_codes[SpecialCodeIndex::VTIME] = 0;
        for unwanted in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
            now.special_codes[unwanted] = 0;
        }
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let taken = Self { keys: keys() };
        tcsetattr(io::stderr(), OptionalActions::Now, &now)?;
        let mut stderr = io::stderr().lock();
        stderr.write_all(TAKE).and_then(|()| stderr.flush())?;
        Ok(taken)
    }

    /// The keys pressed since the last call.
    pub(super) fn pressed(&self) -> Vec<u8> {
        let Some(keys) = &self.keys else { return Vec::new() };
        if !is_ready(keys, PollFlags::IN) {
            return Vec::new();
        }
        let mut buffer = [0; 64];
        let read = rustix::io::read(keys, &mut buffer).unwrap_or(0);
        buffer[..read].to_vec()
    }
}

/// Whether the terminal takes output now. A terminal that is stuck must not block the thread.
pub(crate) fn takes_output() -> bool {
    is_ready(io::stderr(), PollFlags::OUT)
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the view still occupies it: a panic elsewhere restores it.
pub(super) fn is_taken() -> bool {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Restores the terminal if the view occupies it.
pub fn give_back() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // Keys typed at the view are not meant for the shell. The modes come first: unlike writing,
        // setting them never blocks on a terminal that is stuck.
        let _ = tcflush(io::stderr(), QueueSelector::IFlush);
        let _ = tcsetattr(io::stderr(), OptionalActions::Now, &before);
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(GIVE_BACK).and_then(|()| stderr.flush());
    }
}

/// Where keys come from: stdin may be redirected.
fn keys() -> Option<OwnedFd> {
    if io::stdin().is_terminal() {
        return io::stdin().as_fd().try_clone_to_owned().ok();
    }
    File::open("/dev/tty").ok().map(OwnedFd::from)
}

fn is_ready(fd: impl AsFd, what: PollFlags) -> bool {
    let mut fds = [PollFd::new(&fd, what)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().intersects(what)
}
