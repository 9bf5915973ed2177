//! A line about work that is not a run: redrawn on a terminal, or one every few seconds.

use super::terminal::{ProgressStyle, Terminal};
use super::{PLAIN_EVERY, REDRAW};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Does `work`, and shows meanwhile the `line` for the time that has passed.
pub fn while_shown<T>(
    terminal: &dyn Terminal,
    line: impl Fn(Duration) -> String + Send,
    work: impl FnOnce() -> T,
) -> T {
    let style = terminal.progress_style();
    let every = match style {
        ProgressStyle::Hidden | ProgressStyle::Json => return work(),
        ProgressStyle::Line => REDRAW,
        ProgressStyle::Plain => PLAIN_EVERY,
    };
    let began = Instant::now();
    let (working, over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let line = line(began.elapsed());
                match style {
                    ProgressStyle::Line => terminal.draw_line(&line),
                    _ => terminal.plain_line(&line),
                };
            }
            terminal.clear_line();
        });
        // Dropped at the end of the work, also if that panics.
        let _working = working;
        work()
    })
}
