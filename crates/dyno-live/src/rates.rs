//! Recent requests and tokens per second.

use super::live::Seen;
use std::collections::VecDeque;
use std::time::Duration;

/// Requests and tokens per second over the last few looks.
#[derive(Debug)]
pub(super) struct Rates {
    samples: VecDeque<(Duration, u64, u64)>,
    keep: usize,
    level: u64,
}

impl Rates {
    /// Over the last `keep` looks.
    pub(super) fn over(keep: usize) -> Self {
        Self { samples: VecDeque::new(), keep: keep.max(2), level: 0 }
    }

    /// Adds a look; a new level starts again from zero.
    pub(super) fn add(&mut self, seen: &Seen) {
        if seen.level != self.level || self.samples.is_empty() {
            self.level = seen.level;
            self.samples.clear();
            self.samples.push_back((seen.at.saturating_sub(seen.elapsed), 0, 0));
        }
        self.samples.push_back((seen.at, seen.done, seen.tokens));
        while self.samples.len() > self.keep {
            self.samples.pop_front();
        }
    }

    /// Requests and tokens per second.
    pub(super) fn per_second(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let time = last.0.saturating_sub(first.0).as_secs_f64();
        (time > 0.0).then(|| {
            let rate = |from: u64, to: u64| to.saturating_sub(from) as f64 / time;
            (rate(first.1, last.1), rate(first.2, last.2))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at_s: u64, done: u64) -> Seen {
        let at = Duration::from_secs(at_s);
        Seen { at, done, tokens: 64 * done, levels: 3, elapsed: at, ..Seen::default() }
    }

    #[test]
    fn rates_are_recent_and_start_afresh_with_a_level() {
        let mut rates = Rates::over(2);
        rates.add(&seen(4, 40));
        rates.add(&seen(5, 140));
        assert_eq!(rates.per_second(), Some((100.0, 6400.0)));
        let elapsed = Duration::from_secs(1);
        rates.add(&Seen { level: 1, elapsed, ..seen(6, 7) });
        assert_eq!(rates.per_second().unwrap().0, 7.0);
    }
}
