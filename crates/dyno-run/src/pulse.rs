//! Whether a target that says nothing is still there. A long silence is no sign of death: a prompt
//! may take minutes. So its health is asked for, on a connection and a thread of its own, and only
//! where that is not answered for as long as a stream may pause, the target is given up.

use super::target::OUT_OF_SERVICE;
use dyno_drive::StopSignal;
use dyno_model::units::format_duration;
use dyno_model::{MS, Nanos, SEC};
use dyno_net::Clock;
use dyno_wire::client::{Client, ClientOptions};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// No question takes longer.
const LONGEST_WAIT: Nanos = 10 * SEC;

/// Asks a silent target for its health.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// Builds the client that asks.
    options: Box<ClientOptions>,
    clock: Clock,
    stop: StopSignal,
    /// How long a silence may be before anybody asks.
    first_asked: Nanos,
    /// How long questions may stay without an answer.
    patience: Nanos,
    asking: Option<Arc<Mutex<Asked>>>,
}

/// What the questions found out, and whether they go on.
#[derive(Debug, Default)]
struct Asked {
    over: bool,
    /// Since when nothing was answered.
    unanswered_since: Option<Nanos>,
    /// Refused, again and again.
    refused: u32,
    words: String,
}

impl Pulse {
    /// Watches a target that may pause for `idle`.
    pub(crate) fn new(
        options: ClientOptions,
        clock: Clock,
        idle: Nanos,
        stop: &StopSignal,
    ) -> Self {
        Self {
            options: Box::new(options),
            clock,
            stop: stop.clone(),
            first_asked: (idle / 6 / MS).max(1).saturating_mul(MS).min(LONGEST_WAIT),
            patience: idle,
            asking: None,
        }
    }

    /// Nothing has come for `silence` although requests are under way. The words, if the target is
    /// to be given up.
    pub(crate) fn feel(&mut self, silence: Nanos) -> Option<String> {
        if silence < self.first_asked {
            if let Some(asking) = self.asking.take() {
                lock(&asking).over = true;
            }
            return None;
        }
        let asking = self.asking.get_or_insert_with(|| {
            let asked = Arc::<Mutex<Asked>>::default();
            let (options, shared) = (self.options.clone(), Arc::clone(&asked));
            let (clock, stop) = (self.clock, self.stop.clone());
            let every = Duration::from_nanos(self.first_asked);
            // Without a thread nobody asks, and time-outs have to do.
            let _ = thread::Builder::new()
                .name("pulse".to_owned())
                .spawn(move || ask(*options, clock, &stop, &shared, every));
            asked
        });
        let asked = lock(asking);
        let unanswered = asked.unanswered_since.map(|since| self.clock.now().saturating_sub(since));
        let words = &asked.words;
        if asked.refused >= 2 {
            return Some(format!("it went silent and refuses connections: {words}"));
        }
        unanswered.filter(|time| *time >= self.patience).map(|time| {
            format!(
                "nothing came for {}, and its health was not answered for {}: {words}",
                format_duration(whole(silence)),
                format_duration(whole(time)),
            )
        })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        if let Some(asking) = &self.asking {
            lock(asking).over = true;
        }
    }
}

/// Tenths of seconds are enough.
fn whole(time: Nanos) -> Nanos {
    time / (SEC / 10) * (SEC / 10)
}

fn lock(asked: &Mutex<Asked>) -> std::sync::MutexGuard<'_, Asked> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ask(
    options: ClientOptions,
    clock: Clock,
    stop: &StopSignal,
    shared: &Mutex<Asked>,
    every: Duration,
) {
    let path = options.endpoint.beside("/health");
    let Ok(mut client) = Client::new(options, clock) else { return };
    loop {
        let began = clock.now();
        let Ok(fetched) = client.fetch(&path, LONGEST_WAIT.min(every.as_nanos() as u64), stop)
        else {
            return;
        };
        let mut asked = lock(shared);
        if asked.over {
            return;
        }
        // Whatever it says, it speaks; only what speaks of its own death is taken at its word.
        match fetched.record.status {
            Some(status) if !OUT_OF_SERVICE.contains(&status) => *asked = Asked::default(),
            _ => {
                asked.unanswered_since.get_or_insert(began);
                asked.words = fetched.words(&client.rules().redactor.clone());
                asked.refused += u32::from(fetched.unreachable());
            }
        }
        drop(asked);
        thread::sleep(every);
    }
}
