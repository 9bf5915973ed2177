//! Waiting for a server that refuses the preflight because it has too much to do.

use dyno_drive::{Stop, StopSignal};
use dyno_model::record::RequestRecord;
use dyno_model::{MS, Nanos, SEC};
use std::time::Duration;

/// The longest wait, all in all.
const IN_ALL: Nanos = 20 * SEC;

/// How long a server has been waited for.
#[derive(Debug)]
pub(super) struct Patience {
    waited: Nanos,
    pause: Nanos,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { waited: 0, pause: 250 * MS }
    }

    /// Waits as long as the server says, or else a little longer than the last time. `false` if that
    /// would take too long.
    pub(super) fn wait(&mut self, told: Option<Nanos>, stop: &StopSignal) -> bool {
        let pause = told.unwrap_or(self.pause).max(MS);
        if self.waited.saturating_add(pause) > IN_ALL {
            return false;
        }
        let mut left = pause;
        while left > 0 && stop.get() == Stop::No {
            let nap = left.min(50 * MS);
            std::thread::sleep(Duration::from_nanos(nap));
            left -= nap;
        }
        self.waited += pause;
        self.pause *= 2;
        true
    }

    /// What is said when it has run out.
    pub(super) fn exhausted(&self, status: u16, told: Option<Nanos>, message: &str) -> String {
        let waited = (self.waited + SEC / 2) / SEC;
        let message = message.trim();
        match told {
            Some(told) => {
                let told = told.div_ceil(SEC);
                format!(
                    "the server is overloaded: it returned HTTP {status}, after waiting for {waited} \
                     s, and asks to be tried again in {told} s: {message}"
                )
            }
            None => format!(
                "the server is overloaded: it returned HTTP {status}, still after waiting for {waited} \
                 s: {message}"
            ),
        }
    }
}

/// Whether a status means overload.
pub(super) fn is_overload(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// When the server asks to be tried again, by the record or by its header.
pub(super) fn told(record: &RequestRecord, header: Option<&str>) -> Option<Nanos> {
    let seconds = || header?.trim().parse::<u64>().ok();
    record.retry_after.or_else(|| seconds().map(|seconds| seconds.saturating_mul(SEC)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_as_told_and_not_for_ever() {
        let stop = StopSignal::new();
        let mut patience = Patience::new();
        assert!(patience.wait(Some(2 * MS), &stop));
        assert!(!patience.wait(Some(IN_ALL), &stop));
        // Doubling pauses end, too.
        stop.raise();
        let pauses = (0..100).take_while(|_| patience.wait(None, &stop)).count();
        assert!((3..10).contains(&pauses), "{pauses}");
    }
}
