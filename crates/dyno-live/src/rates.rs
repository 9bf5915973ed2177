//! Requests and tokens per second of the present level.

use super::live::Seen;
use std::collections::VecDeque;
use std::time::Duration;

/// What rates cover: the level so far, at most so much of it.
const WINDOW: Duration = Duration::from_secs(60);

/// Requests and tokens per second of a level.
///
/// Responses often end in groups: with 4 in flight, four at once and then none for a second. Time
/// is therefore counted up to the last response, so that the rate does not fall until the next
/// group ends; only a pause longer than any before lowers it.
#[derive(Debug, Default)]
pub(super) struct Rates {
    level: Option<u64>,
    /// Time since the start of the level and completed requests, at each look at which more had
    /// ended, whatever their outcome.
    ended: VecDeque<(Duration, u64)>,
    /// The same for tokens, at every look.
    tokens: VecDeque<(Duration, u64)>,
    longest_pause: Duration,
    now: Duration,
    done: u64,
    /// Those that completed.
    completed: u64,
    /// When the last of them ended.
    last_ended: Duration,
}

impl Rates {
    /// Adds a look; a new level starts again from zero.
    pub(super) fn add(&mut self, seen: &Seen) {
        if self.level != Some(seen.level) {
            let start = VecDeque::from([(Duration::ZERO, 0)]);
            *self = Self {
                level: Some(seen.level),
                ended: start.clone(),
                tokens: start,
                ..Self::default()
            };
        }
        self.now = seen.elapsed;
        if seen.done > self.done {
            let pause = self.now.saturating_sub(self.last_ended);
            self.longest_pause = self.longest_pause.max(pause);
            (self.done, self.last_ended) = (seen.done, self.now);
            // As in every report: what was refused or failed is not throughput.
            self.completed = seen.completed;
            push(&mut self.ended, (self.now, self.completed));
        }
        push(&mut self.tokens, (self.now, seen.tokens));
    }

    /// Completed requests and tokens per second.
    pub(super) fn per_second(&self) -> Option<(f64, f64)> {
        let (ended, tokens) = (self.ended.front()?, self.tokens.front()?);
        let requests = match self.ended.len() {
            1 => 0.0,
            _ => per_second(
                self.completed.saturating_sub(ended.1),
                self.counted().saturating_sub(ended.0),
            )?,
        };
        let last = self.tokens.back()?;
        let time = last.0.saturating_sub(tokens.0);
        Some((requests, per_second(last.1.saturating_sub(tokens.1), time)?))
    }

    /// Requests of the level that have ended, and the time they took.
    pub(super) fn so_far(&self) -> (u64, Duration) {
        (self.done, self.counted())
    }

    /// The time that counts: up to the last response, unless the pause since then is unusually long.
    /// Before the first one, nothing is known.
    fn counted(&self) -> Duration {
        if self.done == 0 {
            return Duration::ZERO;
        }
        self.last_ended.max(self.now.saturating_sub(self.longest_pause))
    }
}

/// Adds a sample and drops those that are too old; one older than the window is kept as its start.
fn push(samples: &mut VecDeque<(Duration, u64)>, sample: (Duration, u64)) {
    samples.push_back(sample);
    let from = sample.0.saturating_sub(WINDOW);
    while samples.get(1).is_some_and(|second| second.0 <= from) {
        samples.pop_front();
    }
}

fn per_second(count: u64, time: Duration) -> Option<f64> {
    let seconds = time.as_secs_f64();
    (seconds > 0.0).then(|| count as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_ms: u64, done: u64) -> Seen {
        let at = Duration::from_millis(at_ms);
        let (completed, tokens) = (done, 64 * done);
        Seen { at, done, completed, tokens, levels: 3, elapsed: at, ..Seen::default() }
    }

    #[test]
    fn responses_in_groups_give_a_steady_rate() {
        let mut rates = Rates::default();
        rates.add(&seen(1000, 0));
        assert_eq!(rates.so_far(), (0, Duration::ZERO), "a slow start is not a slow pace");
        let mut rates = Rates::default();
        // 4 in flight that end together every 1.2 s: 3.3 requests per second.
        for look in 1..=100 {
            let at = 200 * look;
            rates.add(&seen(at, 4 * (at / 1200)));
            if let Some((requests, _)) = rates.per_second().filter(|_| at >= 1200) {
                assert!((3.3..3.4).contains(&requests), "{requests} after {at} ms");
            }
        }
        // A pause that is longer than any before shows.
        rates.add(&seen(40_000, 64));
        assert!(rates.per_second().is_some_and(|(requests, _)| requests < 2.0));
    }

    #[test]
    fn rates_start_afresh_with_a_level_and_forget_its_distant_past() {
        let mut rates = Rates::default();
        (1..=100).for_each(|s| rates.add(&seen(1000 * s, s)));
        (101..=200).for_each(|s| rates.add(&seen(1000 * s, 100 + 10 * (s - 100))));
        assert_eq!(rates.per_second(), Some((10.0, 640.0)));
        assert_eq!(rates.so_far(), (1100, Duration::from_secs(200)));
        rates.add(&Seen { level: 1, ..seen(1000, 7) });
        assert_eq!(rates.per_second().map(|(requests, _)| requests), Some(7.0));
    }

    #[test]
    fn refused_requests_are_not_throughput() {
        let mut rates = Rates::default();
        for s in 1..=10 {
            rates.add(&Seen { completed: 5 * s, failed: s, ..seen(1000 * s, 10 * s) });
        }
        assert_eq!(rates.per_second().map(|(requests, _)| requests), Some(5.0));
        assert_eq!(rates.so_far(), (100, Duration::from_secs(10)), "the pace is that of all");
    }
}
