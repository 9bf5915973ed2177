//! The watcher's side: takes what the run put into the box, and keeps what can be said about it.

use super::live::{Live, Seen};
use super::mailbox::{Letters, News, Turn};
use super::outlook::{Left, Outlook, Took};
use super::rates::Rates;
use super::seconds::Seconds;
use dyno_analysis::glimpse::{Glimpse, Glimpsed};
use dyno_model::frame::Ending;
use dyno_model::record::RequestRecord;
use std::time::Duration;

/// Of this many requests one may be lost before percentiles are left out.
const TOLERATED: u64 = 100;

/// All that is known of a run that goes on.
#[derive(Debug)]
pub(super) struct Watch {
    letters: Letters,
    rates: Rates,
    pub(super) seen: Seen,
    pub(super) outlook: Outlook,
    pub(super) seconds: Seconds,
    /// The levels that began, in order.
    pub(super) levels: Vec<Watched>,
    lost: u64,
}

/// A level that began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched {
    begun: Duration,
    requests: u64,
    lost: u64,
    glimpse: Glimpse,
    /// Present once it is over.
    pub(crate) over: Option<Over>,
}

/// A level that is over.
#[derive(Debug, Clone)]
pub(crate) struct Over {
    pub(crate) ending: Ending,
    pub(crate) took: Took,
    pub(crate) found: Glimpsed,
}

impl Watch {
    /// Rates are taken over the last `looks` looks.
    pub(super) fn new(live: &Live, looks: usize) -> Self {
        live.mailbox.watch();
        Self {
            letters: Letters::with_room(),
            rates: Rates::over(looks),
            seen: live.look(),
            outlook: live.outlook(),
            seconds: Seconds::default(),
            levels: Vec::new(),
            lost: live.mailbox.lost(),
        }
    }

    /// Takes what is new; the indices of the levels that are over since the last time.
    pub(super) fn update(&mut self, live: &Live) -> Vec<usize> {
        self.outlook = live.outlook();
        let mut letters = std::mem::take(&mut self.letters);
        live.mailbox.swap(&mut letters);
        let lost = live.mailbox.lost();
        let newly = lost - std::mem::replace(&mut self.lost, lost);
        let mut over = Vec::new();
        letters.open(|news| match news {
            News::Request(record) => self.ended(&record),
            News::Turn(Turn::Begun { level, at }) => {
                self.level(level).begun = at;
            }
            News::Turn(Turn::Ended { level, at, ending, draining }) => {
                self.level(level).lost += newly;
                self.over(level, at, ending, draining);
                over.push(level);
            }
        });
        self.letters = letters;
        if over.is_empty()
            && let Some(level) = self.levels.last_mut()
        {
            level.lost += newly;
        }
        if let Some(second) = live.second() {
            self.seconds.advance(second);
        }
        over
    }

    /// Looks at the counters, too; `false` before the first level.
    pub(super) fn look(&mut self, live: &Live) -> bool {
        self.seen = live.look();
        if self.seen.levels > 0 {
            self.rates.add(&self.seen);
        }
        self.seen.levels > 0
    }

    /// Requests and tokens per second, lately.
    pub(super) fn per_second(&self) -> Option<(f64, f64)> {
        self.rates.per_second()
    }

    /// How long the whole run still takes.
    pub(super) fn left(&self) -> Option<Left> {
        let last = self.levels.iter().rev().find_map(|level| level.over.as_ref());
        let per_second = self.per_second().map(|(requests, _)| requests);
        self.outlook.left(&self.seen, per_second, last.map(|over| over.took))
    }

    /// What is known of a level that began.
    pub(super) fn found(&self, index: usize) -> Option<Glimpsed> {
        let level = self.levels.get(index)?;
        Some(match &level.over {
            Some(over) => over.found.clone(),
            None => level.glimpse.so_far(self.outlook.allow_failures),
        })
    }

    fn level(&mut self, index: usize) -> &mut Watched {
        if self.levels.len() <= index {
            self.levels.resize_with(index + 1, Watched::default);
        }
        &mut self.levels[index]
    }

    fn ended(&mut self, record: &RequestRecord) {
        self.seconds.add(record);
        let level = self.level(record.level as usize);
        level.requests += 1;
        level.glimpse.add(record);
    }

    fn over(&mut self, index: usize, at: Duration, ending: Ending, draining: Duration) {
        let allowed = self.outlook.allow_failures;
        let level = self.level(index);
        let glimpse = std::mem::take(&mut level.glimpse);
        let mut found = glimpse.settled(allowed);
        if level.lost * TOLERATED > level.requests {
            found = Glimpsed { counts: found.counts, ..Glimpsed::default() };
        }
        let requests = level.requests + level.lost;
        let took = Took { requests, time: at.saturating_sub(level.begun), draining };
        level.over = Some(Over { ending, took, found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;
    use dyno_model::frame::LevelEnd;
    use dyno_model::metric::Time;

    fn end(level: u32) -> LevelEnd {
        LevelEnd { level, ..made_up::level_end() }
    }

    #[test]
    fn levels_are_told_apart_and_told_once() {
        let live = Live::default();
        let mut watch = Watch::new(&live, 2);
        assert!(!watch.look(&live));
        live.begin_level(0, 2, &made_up::level_plan("one"), Some(3));
        (0..3).for_each(|i| live.ended(&made_up::record(0, i)));
        live.end_level(&end(0));
        live.begin_level(1, 2, &made_up::level_plan("two"), Some(9));
        live.ended(&made_up::record(1, 0));
        assert_eq!(watch.update(&live), [0]);
        assert!(watch.look(&live));
        assert!(watch.update(&live).is_empty());
        let first = watch.levels[0].over.as_ref().unwrap();
        assert_eq!((first.took.requests, first.found.counts.completed), (3, 3));
        assert!(
            first.found.times[Time::Ttft].p50.is_some()
                && first.found.times[Time::Itl].p50.is_some()
        );
        assert!(watch.levels[1].over.is_none());
        assert_eq!(watch.found(1).unwrap().counts.completed, 1);
        assert_eq!((watch.seen.done, watch.seen.level, watch.seen.levels), (1, 1, 2));
        assert_eq!(watch.outlook.levels.len(), 2);
    }

    #[test]
    fn figures_of_what_was_lost_are_absent() {
        let live = Live::default();
        let mut watch = Watch::new(&live, 2);
        live.begin_level(0, 1, &made_up::level_plan("one"), None);
        // More than the box holds, and nobody looks.
        (0..20_000).for_each(|i| live.ended(&made_up::record(0, i)));
        live.end_level(&end(0));
        watch.update(&live);
        let over = watch.levels[0].over.as_ref().unwrap();
        assert_eq!(over.took.requests, 20_000);
        assert_eq!(over.found.times[Time::Ttft].p50, None);
        assert_eq!(live.look().done, 20_000);
    }
}
