//! Waiting for a server that refuses the preflight because it has too much to do.

use dyno_drive::{Stop, StopSignal};
use dyno_model::{MS, Message, Nanos, SEC, message};
use std::time::Duration;

/// The longest wait, all in all: pauses, and the requests between them.
const IN_ALL: Nanos = 20 * SEC;
/// The first pause of our own. A server that asks for less is not asked again any sooner: one that says
/// 0 would be flooded.
const FIRST: Nanos = 250 * MS;
/// The longest pause of our own.
const LONGEST: Nanos = 4 * SEC;

/// How long a server has been waited for.
#[derive(Debug)]
pub(super) struct Patience {
    /// When it was first refused.
    since: Option<Nanos>,
    waited: Nanos,
    pause: Nanos,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { since: None, waited: 0, pause: FIRST }
    }

    /// How long to wait after a refusal: as long as the server says, or else a little longer than the
    /// last time; absent if that would take too long.
    fn next(&mut self, now: Nanos, told: Option<Nanos>) -> Option<Nanos> {
        let since = *self.since.get_or_insert(now);
        self.waited = now.saturating_sub(since);
        let pause = match told.filter(|told| *told >= FIRST) {
            Some(told) => told,
            None => {
                let longer = self.pause.saturating_mul(2).min(LONGEST);
                std::mem::replace(&mut self.pause, longer)
            }
        };
        (self.waited.saturating_add(pause) <= IN_ALL).then_some(pause)
    }

    /// Waits after a refusal that came now. `false` if that would take too long.
    pub(super) fn wait(&mut self, now: Nanos, told: Option<Nanos>, stop: &StopSignal) -> bool {
        let Some(mut left) = self.next(now, told) else { return false };
        while left > 0 && stop.get() == Stop::No {
            let nap = left.min(50 * MS);
            std::thread::sleep(Duration::from_nanos(nap));
            left -= nap;
        }
        true
    }

    /// What is said when it has run out.
    pub(super) fn exhausted(&self, status: u16, told: Option<Nanos>, message: &Message) -> Message {
        let waited = (self.waited + SEC / 2) / SEC;
        match told {
            Some(told) => {
                let told = told.div_ceil(SEC);
                message!(
                    "the server is overloaded: it returned HTTP {status}, after waiting for {waited} \
                     s, and asks to be tried again in {told} s: {message}",
                    "服务器过载：等待 {waited} s 后仍返回 HTTP {status}，并要求 {told} s 后重试：{message}"
                )
            }
            None => message!(
                "the server is overloaded: it returned HTTP {status}, still after waiting for {waited} \
                 s: {message}",
                "服务器过载：等待 {waited} s 后仍返回 HTTP {status}：{message}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses after refusals that each take so long, of a server that asks for so much.
    fn pauses(took: Nanos, told: Option<Nanos>) -> Vec<Nanos> {
        let (mut patience, mut now) = (Patience::new(), 7 * SEC);
        let mut pauses = Vec::new();
        while let Some(pause) = patience.next(now, told) {
            pauses.push(pause);
            now += pause + took;
            assert!(pauses.len() < 1000, "it is flooded");
        }
        pauses
    }

    #[test]
    fn it_waits_as_told_and_not_for_ever() {
        assert_eq!(pauses(0, Some(6 * SEC)), [6 * SEC; 3]);
        assert!(pauses(0, Some(IN_ALL + 1)).is_empty());
        assert!(pauses(0, Some(Nanos::MAX)).is_empty());
        let own = [250 * MS, 500 * MS, SEC, 2 * SEC, 4 * SEC, 4 * SEC, 4 * SEC, 4 * SEC];
        assert_eq!(pauses(0, None), own);
    }

    #[test]
    fn a_server_that_says_at_once_is_not_flooded() {
        for told in [0, 1, MS, 249 * MS] {
            assert_eq!(pauses(0, Some(told)), pauses(0, None), "{told}");
        }
    }

    #[test]
    fn the_time_of_the_requests_counts() {
        assert_eq!(pauses(5 * SEC, Some(5 * SEC)), [5 * SEC; 2]);
        assert_eq!(pauses(30 * SEC, None), [250 * MS], "but not that before the first refusal");
    }

    #[test]
    fn a_stop_ends_the_wait() {
        let stop = StopSignal::new();
        stop.raise();
        assert!(Patience::new().wait(0, Some(IN_ALL), &stop));
    }
}
