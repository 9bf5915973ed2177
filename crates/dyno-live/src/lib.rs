//! Progress of a run: counters that the run updates without ever waiting, and a separate thread
//! that reads them a few times a second and draws a line or a full-screen view. Nothing depends on
//! it: if the terminal goes away, the thread ends and the run does not notice.
//!
//! The run's side is `live` (counters) and `mailbox` (copies of finished requests). On the progress thread, `watch` takes
//! them; `view`, `finished` and `screen` draw, `words` has the texts, and `terminal` is what they need of the program's printer. How a
//! running level is judged is in `dyno-analysis` (`aggregate/running_level.rs`).

mod agents;
mod finished;
mod fit;
mod lines;
mod live;
mod mailbox;
mod outlook;
mod rates;
#[cfg(test)]
mod samples;
mod screen;
mod seconds;
mod terminal;
mod view;
mod watch;
mod words;
mod working;

pub use live::Live;
pub use screen::restore_terminal;
pub use terminal::{ProgressStyle, Said, Terminal, prefix};
pub use working::while_shown;

use dyno_words::escape::escape;
use screen::Closed;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use view::Status;
use watch::LiveWatch;

const REDRAW: Duration = Duration::from_millis(200);
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// The end of a run does not wait longer than this for a terminal that takes no output.
const PATIENCE: Duration = Duration::from_secs(2);
const LONGEST_LABEL: usize = 200;

/// Shows a [`Live`] until it is dropped.
#[derive(Debug)]
pub struct Progress {
    stop: Option<Sender<()>>,
    /// Disconnected once the thread has ended.
    ended: Receiver<()>,
    terminal: Arc<dyn Terminal>,
}

impl Progress {
    /// Starts to show `live` as the terminal allows, or on the whole screen.
    pub fn start(live: Arc<Live>, terminal: Arc<dyn Terminal>, full_screen: bool) -> Self {
        let (stop, stopped) = channel();
        let (alive, ended) = channel();
        let style = terminal.progress_style();
        let full_screen = full_screen && screen::is_possible(&*terminal);
        if style != ProgressStyle::Hidden {
            let terminal = Arc::clone(&terminal);
            let watch = LiveWatch::new(&live);
            let mut viewer = Viewer { live, terminal, stopped, watch };
            // Without a thread there is no progress, but the run goes ahead.
            let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
                let _alive: Sender<()> = alive;
                viewer.show(style, full_screen);
            });
        }
        Self { stop: Some(stop), ended, terminal }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.ended.recv_timeout(PATIENCE);
        self.terminal.clear_line();
    }
}

/// The state of the progress thread.
struct Viewer {
    live: Arc<Live>,
    terminal: Arc<dyn Terminal>,
    stopped: Receiver<()>,
    watch: LiveWatch,
}

impl Viewer {
    fn show(&mut self, style: ProgressStyle, full_screen: bool) {
        if full_screen {
            match screen::run(self) {
                Closed::ByKey => {}
                Closed::AtTheEnd | Closed::Gone => return,
            }
        }
        match style {
            ProgressStyle::Hidden => {}
            ProgressStyle::Line => self.redraw(),
            ProgressStyle::Plain => self.report(),
            ProgressStyle::Json => self.write_lines(),
        }
    }

    /// Waits; `false` once the run is over.
    fn wait(&self, time: Duration) -> bool {
        self.stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    fn redraw(&mut self) {
        loop {
            let running = self.wait(REDRAW);
            if !self.print_finished(Some(width())) || !running {
                return;
            }
            if self.watch.look(&self.live) && screen::takes_output() {
                let line = self.status().line(Some(width()));
                if !self.terminal.draw_line(&line) {
                    return;
                }
            }
        }
    }

    fn report(&mut self) {
        let mut last = Instant::now();
        loop {
            let running = self.wait(REDRAW);
            if !self.print_finished(None) || !running {
                return;
            }
            if self.watch.look(&self.live) && last.elapsed() >= PLAIN_EVERY {
                last = Instant::now();
                if !self.terminal.plain_line(&self.status().line(None)) {
                    return;
                }
            }
        }
    }

    fn status(&self) -> Status<'_> {
        Status::of(&self.watch, self.live.language())
    }

    /// Takes what is new, and prints a line for each level that has ended; `false` if the terminal
    /// is gone.
    fn print_finished(&mut self, columns: Option<usize>) -> bool {
        // Before the levels, so that the level of each note is among those printed by now.
        let notes = self.live.take_notes();
        let over = self.watch.update(&self.live);
        let printed = over.into_iter().all(|index| match self.finished(index, columns) {
            Some(line) => self.terminal.plain_line(&line),
            None => true,
        });
        notes.iter().for_each(|note| self.terminal.note(note));
        printed
    }

    fn finished(&self, index: usize, columns: Option<usize>) -> Option<String> {
        let over = self.watch.levels.get(index)?.over.as_ref()?;
        let outlook = &self.watch.outlook;
        let label = outlook.levels.get(index).map_or("", |level| &level.label);
        let label = escape(label, LONGEST_LABEL);
        let levels = outlook.levels.len().max(self.live.look().levels as usize);
        Some(finished::line(
            index,
            levels,
            outlook.more,
            &label,
            over,
            columns,
            self.live.language(),
        ))
    }
}

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}
