//! The full-screen view of `--live`: takes the terminal, draws what the watcher knows a few times
//! a second, listens for keys, and gives the terminal back.

mod backend;
mod charts;
mod draw;
mod levels;
mod picture;
mod terminal;
#[cfg(test)]
mod tests;

pub use terminal::give_back as give_terminal_back;
pub(super) use terminal::takes_output;

use crate::{ProgressStyle, Terminal, Viewer};
use backend::Ansi;
use picture::Picture;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use terminal::Taken;

const LOOK: Duration = Duration::from_millis(100);
/// Every so many looks the view is drawn anew.
const LOOKS_PER_FRAME: u32 = 3;
const CTRL_L: u8 = 0x0c;

/// How the view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    ByKey,
    /// The run is over.
    AtTheEnd,
    /// There is no terminal any more.
    Gone,
}

/// Whether there is a terminal for it; a note if there is none.
pub(super) fn is_possible(terminal: &dyn Terminal) -> bool {
    let why = if terminal.progress_style() != ProgressStyle::Line {
        "stderr is no terminal that can be drawn on"
    } else if !terminal::is_ours() {
        "dyno is not in the foreground of its terminal"
    } else {
        return true;
    };
    terminal.note(&format_args!("--live: {why}; the view is left out"));
    false
}

/// What is printed meanwhile is held, and comes out however the view ends.
struct Holding(Arc<dyn Terminal>);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Shows the view until it is closed, the run is over or the terminal is gone.
pub(super) fn run(viewer: &mut Viewer) -> Closed {
    // Given back in the opposite order: first the terminal, then what was held.
    let holding = Holding(Arc::clone(&viewer.terminal));
    holding.0.hold();
    let closed = show(viewer);
    drop(holding);
    closed.unwrap_or(Closed::Gone)
}

fn show(viewer: &mut Viewer) -> io::Result<Closed> {
    let taken = Taken::take()?;
    let mut drawn = ratatui_core::terminal::Terminal::new(Ansi::new(viewer.terminal.colour()))?;
    for look in 0_u32.. {
        let goes_on = viewer.wait(LOOK);
        viewer.news(Some(super::width()));
        if !goes_on || !terminal::is_taken() {
            return Ok(Closed::AtTheEnd);
        }
        let keys = taken.pressed();
        if keys.iter().any(|key| matches!(key, b'q' | b'Q')) {
            return Ok(Closed::ByKey);
        }
        if keys.contains(&CTRL_L) {
            drawn.clear()?;
        }
        if look % LOOKS_PER_FRAME == 0 && takes_output() {
            viewer.watch.look(&viewer.live);
            let picture = Picture::of(&viewer.watch, viewer.terminal.said());
            drawn.draw(|frame| draw::draw(frame, &picture))?;
        }
    }
    Ok(Closed::AtTheEnd)
}
