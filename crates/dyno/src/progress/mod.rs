//! What is seen of a run while it goes on: counters that the run bumps without ever waiting, and
//! a thread of its own that looks at them now and then. Nothing depends on it: if the terminal
//! goes away, the thread ends and the run does not notice.

mod live;
mod view;

pub(crate) use live::Live;

use crate::printer::{Printer, ProgressStyle};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use view::Rates;

const REDRAW: Duration = Duration::from_millis(200);
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// Rates are taken over the last two seconds, so that the line is neither jumpy nor stale.
const RATE_SAMPLES: usize = 10;

/// Shows a [`Live`] for as long as it lives.
#[derive(Debug)]
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    printer: Printer,
}

impl Progress {
    /// Starts to show `live`, in the way that suits the printer.
    pub(crate) fn start(live: Arc<Live>, printer: &Printer) -> Self {
        let (stop, stopped) = channel();
        let screen = printer.clone();
        let show: Option<fn(&Live, &Printer, &Receiver<()>)> = match printer.progress_style() {
            ProgressStyle::Hidden => None,
            ProgressStyle::Line => Some(redraw),
            ProgressStyle::Plain => Some(report),
        };
        // No thread, no progress: the run matters more.
        let thread = show.and_then(|show| {
            std::thread::Builder::new()
                .name("progress".to_owned())
                .spawn(move || show(&live, &screen, &stopped))
                .ok()
        });
        Self { stop: Some(stop), thread, printer: printer.clone() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.printer.clear_line();
    }
}

fn wait(stopped: &Receiver<()>, time: Duration) -> bool {
    stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

fn redraw(live: &Live, printer: &Printer, stopped: &Receiver<()>) {
    let mut rates = Rates::over(RATE_SAMPLES);
    while wait(stopped, REDRAW) {
        let seen = live.look();
        if seen.levels == 0 {
            continue;
        }
        rates.add(&seen);
        if !printer.draw_line(&view::line(&seen, &rates, Some(width()))) {
            return;
        }
    }
}

fn report(live: &Live, printer: &Printer, stopped: &Receiver<()>) {
    let mut rates = Rates::over(2);
    while wait(stopped, PLAIN_EVERY) {
        let seen = live.look();
        if seen.levels == 0 {
            continue;
        }
        rates.add(&seen);
        if !printer.plain_line(&view::line(&seen, &rates, None)) {
            return;
        }
    }
}

fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}
