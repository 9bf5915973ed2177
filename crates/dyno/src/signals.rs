//! Ctrl-C: once to stop sending, twice to stop immediately. SIGHUP and SIGXFSZ do not end a run.

use dyno_model::{Message, message};
use dyno_run::StopSignal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};
use std::thread::JoinHandle;

/// Listens for signals for as long as it lives.
#[derive(Debug)]
pub(crate) struct Listening {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// Turns signals into `stop`, and calls `notify` with the number of signals so far.
pub(crate) fn listen(
    stop: StopSignal,
    notify: impl Fn(usize) + Send + 'static,
) -> std::io::Result<Listening> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXFSZ])?;
    let handle = signals.handle();
    let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut times = 0;
        for signal in signals.forever() {
            // A file at its size limit also makes the write fail, which is handled there.
            if signal == SIGHUP || signal == SIGXFSZ {
                continue;
            }
            stop.raise();
            times += 1;
            notify(times);
        }
    })?;
    Ok(Listening { handle, thread: Some(thread) })
}

/// What is said where nothing can listen.
pub(crate) fn unheard(error: &std::io::Error) -> Message {
    message!("Ctrl-C will not be handled: {error}", "无法处理 Ctrl-C：{error}")
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
