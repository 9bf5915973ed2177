//! Checks whether a silent target is still alive. A long silence does not mean that it is down: a
//! prompt may take minutes. So `/health` is requested on a separate connection and thread, and the
//! target is lost only if that gets no response for as long as a stream may pause.

use super::target::OUT_OF_SERVICE;
use dyno_drive::StopSignal;
use dyno_model::units::format_duration;
use dyno_model::{MS, Message, Nanos, SEC, message};
use dyno_net::Clock;
use dyno_wire::client::{Client, ClientOptions};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest wait for one health check.
const LONGEST_WAIT: Nanos = 10 * SEC;

/// Checks the health of a silent target.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// For the client that sends the health checks.
    options: Box<ClientOptions>,
    clock: Clock,
    stop: StopSignal,
    /// The silence after which health checks start.
    first_asked: Nanos,
    /// How long health checks may fail before the target is lost.
    patience: Nanos,
    asking: Option<Arc<Mutex<Asked>>>,
}

/// The results of the health checks, and whether they continue.
#[derive(Debug, Default)]
struct Asked {
    over: bool,
    /// Since when there has been no response.
    unanswered_since: Option<Nanos>,
    /// How many connections were refused in a row.
    refused: u32,
    error: Option<Message>,
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

    /// No data has arrived for `silence` although requests are in flight. The reason, if the target is
    /// lost.
    pub(crate) fn check(&mut self, silence: Nanos) -> Option<Message> {
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
            // Without a thread there are no health checks, and time-outs decide.
            let _ = thread::Builder::new()
                .name("pulse".to_owned())
                .spawn(move || ask(*options, clock, &stop, &shared, every));
            asked
        });
        let asked = lock(asking);
        let unanswered = asked.unanswered_since.map(|since| self.clock.now().saturating_sub(since));
        let error = asked.error.as_ref()?;
        if asked.refused >= 2 {
            return Some(message!(
                "it went silent and refuses connections: {error}",
                "不再返回数据，并拒绝连接：{error}",
            ));
        }
        unanswered.filter(|time| *time >= self.patience).map(|time| {
            message!(
                "no data for {}, and no response to /health for {}: {error}",
                "{} 内没有数据，{} 内 /health 没有响应：{error}",
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
    let health = options.rules.dialect.about().health.first().copied().unwrap_or("/");
    let path = options.endpoint.beside(health);
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
        // Any response shows that it is alive, except those that say it is out of service.
        match fetched.record.status {
            Some(status) if !OUT_OF_SERVICE.contains(&status) => *asked = Asked::default(),
            _ => {
                asked.unanswered_since.get_or_insert(began);
                asked.error = Some(fetched.words(&client.rules().redactor.clone()));
                asked.refused += u32::from(fetched.unreachable());
            }
        }
        drop(asked);
        thread::sleep(every);
    }
}
