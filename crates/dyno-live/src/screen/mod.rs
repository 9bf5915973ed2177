//! The full-screen view of `--live`: takes over the terminal, draws the state of the run a few
//! times a second, listens for keys, and restores the terminal.

mod agents;
mod backend;
mod charts;
mod draw;
mod levels;
mod picture;
mod slo;
mod table;
mod terminal;
#[cfg(test)]
mod tests;

pub use terminal::give_back as restore_terminal;
pub(super) use terminal::takes_output;

use crate::words::Text;
use crate::{ProgressStyle, Terminal, Viewer};
use backend::Ansi;
use dyno_model::Message;
use picture::Picture;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use terminal::Taken;

const LOOK: Duration = Duration::from_millis(100);
/// The view is redrawn every so many looks.
const LOOKS_PER_FRAME: u32 = 3;
const CTRL_L: u8 = 0x0c;

/// How the view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    ByKey,
    /// The run is over.
    AtTheEnd,
    /// The terminal is gone.
    Gone,
}

/// Whether the view can be shown; prints a note if not.
pub(super) fn is_possible(terminal: &dyn Terminal) -> bool {
    let why = if terminal.progress_style() != ProgressStyle::Line {
        Text::NoTerminal
    } else if !terminal::is_ours() {
        Text::NotInForeground
    } else {
        return true;
    };
    terminal.note(&Message::from(why));
    false
}

/// Holds back what is printed meanwhile; it is printed however the view ends.
struct Holding(Arc<dyn Terminal>);

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Shows the view until it is closed, the run is over or the terminal is gone.
pub(super) fn run(viewer: &mut Viewer) -> Closed {
    // Undone in the opposite order: first the terminal, then what was held back.
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
        let running = viewer.wait(LOOK);
        viewer.print_finished(Some(super::width()));
        if !running || !terminal::is_taken() {
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
            let picture =
                Picture::of(&viewer.watch, viewer.terminal.said(), viewer.live.language());
            drawn.draw(|frame| draw::draw(frame, &picture))?;
        }
    }
    Ok(Closed::AtTheEnd)
}
