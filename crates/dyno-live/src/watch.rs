//! The progress thread's side: takes what the run put into the mailbox, and keeps what is shown.

use super::agents::{AgentRow, Agents};
use super::live::{Live, Seen};
use super::mailbox::{Boundary, Counted, Letters, News};
use super::outlook::{Left, Outlook, Took};
use super::rates::Rates;
use super::seconds::Seconds;
use dyno_analysis::counts::Counts;
use dyno_analysis::running_level::{LevelSoFar, LevelTerms, RunningLevel};
use dyno_model::frame::Ending;
use dyno_model::record::RequestRecord;
use std::time::{Duration, Instant};

/// Percentiles are left out where more than one request in so many was lost.
const TOLERATED: u64 = 100;
/// A running level is judged at most so often,
const JUDGED_EVERY: Duration = Duration::from_millis(500);
/// and so rarely that it takes no more than a hundredth of a CPU from the client.
const REST_PER_LOOK: u32 = 100;

/// Everything that is known of a run in progress.
#[derive(Debug)]
pub(super) struct LiveWatch {
    letters: Letters,
    rates: Rates,
    pub(super) seen: Seen,
    pub(super) outlook: Outlook,
    pub(super) seconds: Seconds,
    /// The levels that began, in order.
    pub(super) levels: Vec<Watched>,
    lost: u64,
    /// Output tokens received by the last look.
    received: Option<u64>,
    agents: Agents,
    /// When the last report of several load generators was counted, and of which level.
    reported: Option<(u64, Duration)>,
}

/// A level that began.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    begun: Duration,
    requests: u64,
    lost: u64,
    glimpse: RunningLevel,
    /// The level as it was last judged, and when it may be judged again.
    judged: LevelSoFar,
    judge_from: Instant,
    /// Present once it is over.
    pub(crate) over: Option<Over>,
}

/// A level that is over.
#[derive(Debug, Clone)]
pub(crate) struct Over {
    pub(crate) ending: Ending,
    pub(crate) took: Took,
    pub(crate) found: LevelSoFar,
}

impl LiveWatch {
    pub(super) fn new(live: &Live) -> Self {
        live.mailbox.watch();
        Self {
            letters: Letters::with_room(),
            rates: Rates::default(),
            seen: live.look(),
            outlook: live.outlook(),
            seconds: Seconds::default(),
            levels: Vec::new(),
            lost: live.mailbox.lost(),
            received: live.received(),
            agents: Agents::default(),
            reported: None,
        }
    }

    /// Takes what is new and returns the levels that have ended since the last call.
    pub(super) fn update(&mut self, live: &Live) -> Vec<usize> {
        let mut letters = std::mem::take(&mut self.letters);
        live.mailbox.swap(&mut letters);
        // Afterwards, so that it has every level that a letter belongs to.
        self.outlook = live.outlook();
        let lost = live.mailbox.lost();
        let newly = lost - std::mem::replace(&mut self.lost, lost);
        let mut over = Vec::new();
        letters.open(|news| match news {
            News::Request(record) => self.ended(&record),
            News::Boundary(Boundary::Begun { level, at }) => {
                self.level(level).begun = at;
            }
            News::Boundary(Boundary::Ended { level, at, counted, ending, draining, found }) => {
                let watched = self.level(level);
                watched.lost += newly;
                match found {
                    None => watched.end(at, counted, ending, draining),
                    Some(found) => watched.collected(at, counted, ending, draining, *found),
                }
                over.push(level);
            }
        });
        self.letters = letters;
        if over.is_empty()
            && let Some(level) = self.levels.last_mut()
        {
            level.lost += newly;
        }
        if let Some(second) = live.second().filter(|_| self.seen.fleet.is_none()) {
            self.seconds.advance(second);
            let received = live.received();
            if let Some(total) = received {
                let before = self.received.unwrap_or(total);
                self.seconds.received(total.saturating_sub(before));
            }
            self.received = received;
        }
        over
    }

    /// Reads the counters and judges the running level; `false` before the first level.
    pub(super) fn look(&mut self, live: &Live) -> bool {
        self.seen = live.look();
        if self.seen.fleet.is_some() {
            self.look_at_agents();
        } else if self.seen.levels > 0 {
            self.rates.add(&self.seen);
        }
        let running = self.levels.last_mut().filter(|level| level.over.is_none());
        if let Some(level) = running.filter(|_| self.seen.fleet.is_none()) {
            level.judge();
        }
        self.seen.levels > 0
    }

    /// Takes what several load generators reported, if that is new. While their records are fetched,
    /// nothing happens at the server, so rates and charts stay as they were.
    fn look_at_agents(&mut self) {
        let Some(fleet) = &self.seen.fleet else { return };
        let report = Some((self.seen.level, fleet.reported));
        if fleet.agents.is_empty() || std::mem::replace(&mut self.reported, report) == report {
            return;
        }
        self.agents.update(self.seen.level, &fleet.agents, &mut self.seconds);
        if !fleet.collects() {
            let seen = Seen { elapsed: fleet.reported, fleet: None, ..self.seen.clone() };
            self.rates.add(&seen);
        }
        let judged = fleet.level(self.rates.per_second(), self.outlook.embeds);
        let level = self.level(self.seen.level as usize);
        if level.over.is_none() {
            level.judged = judged;
        }
    }

    /// The load generators of the present level.
    pub(super) fn agents(&self) -> Vec<AgentRow> {
        self.seen.fleet.as_ref().map_or_else(Vec::new, |fleet| self.agents.rows(fleet.now))
    }

    /// Requests and tokens per second of the level so far. For a prediction, those of the level
    /// in virtual time: how fast a twin is simulated is not a property of the server.
    pub(super) fn per_second(&self) -> Option<(f64, f64)> {
        if !self.outlook.predicted {
            return self.rates.per_second();
        }
        let found = self.present()?;
        Some((found.requests_per_s?, found.output_tokens_per_s?))
    }

    /// Requests per second of wall time, from which the time left is estimated.
    pub(super) fn pace(&self) -> Option<f64> {
        self.outlook.pace(&self.seen, self.rates.so_far(), self.last())
    }

    /// The running level as it was last judged.
    pub(super) fn present(&self) -> Option<&LevelSoFar> {
        let level = self.levels.get(self.seen.level as usize)?;
        Some(level.over.as_ref().map_or(&level.judged, |over| &over.found))
    }

    /// How long the whole run will still take.
    pub(super) fn left(&self) -> Option<Left> {
        self.outlook.left(&self.seen, self.pace(), self.last().map(|(_, took)| took))
    }

    /// The last level that is over: its index and how long it took.
    fn last(&self) -> Option<(usize, Took)> {
        let levels = self.levels.iter().enumerate().rev();
        levels.into_iter().find_map(|(index, level)| Some((index, level.over.as_ref()?.took)))
    }

    /// What is known of a level that began.
    pub(super) fn found(&self, index: usize) -> Option<LevelSoFar> {
        let level = self.levels.get(index)?;
        Some(match &level.over {
            Some(over) => over.found.clone(),
            None if self.seen.fleet.is_some() => level.judged.clone(),
            // Counts are always current; the rest is as it was last judged.
            None => LevelSoFar { counts: level.glimpse.counts().clone(), ..level.judged.clone() },
        })
    }

    fn level(&mut self, index: usize) -> &mut Watched {
        while self.levels.len() <= index {
            self.levels.push(Watched::new(self.outlook.terms(self.levels.len())));
        }
        &mut self.levels[index]
    }

    fn ended(&mut self, record: &RequestRecord) {
        self.seconds.add(record);
        let level = self.level(record.level as usize);
        level.requests += 1;
        level.glimpse.add(record);
    }
}

impl Watched {
    /// It began while somebody looked; others have a place only.
    pub(super) fn has_begun(&self) -> bool {
        !self.begun.is_zero()
    }

    fn new(terms: LevelTerms) -> Self {
        Self {
            begun: Duration::ZERO,
            requests: 0,
            lost: 0,
            glimpse: RunningLevel::new(terms),
            judged: LevelSoFar::default(),
            judge_from: Instant::now(),
            over: None,
        }
    }

    /// The level is over.
    fn end(&mut self, at: Duration, counted: Counted, ending: Ending, draining: Duration) {
        let mut found = std::mem::take(&mut self.glimpse).settled();
        if self.lost > 0 {
            let Counted { issued: planned, failed, unconfirmed, shed, unsent } = counted;
            let dropped = 0;
            found.counts =
                Counts { planned, failed, unconfirmed, shed, unsent, dropped, ..found.counts };
        }
        if self.lost * TOLERATED > self.requests {
            found = LevelSoFar { counts: found.counts, ..LevelSoFar::default() };
        }
        let requests = self.requests + self.lost;
        let took = Took { requests, time: at.saturating_sub(self.begun), draining };
        self.over = Some(Over { ending, took, found });
    }

    /// The level is over, and its requests did not come one by one.
    fn collected(
        &mut self,
        at: Duration,
        counted: Counted,
        ending: Ending,
        draining: Duration,
        found: LevelSoFar,
    ) {
        let (requests, time) = (counted.issued, at.saturating_sub(self.begun));
        self.over = Some(Over { ending, took: Took { requests, time, draining }, found });
    }

    /// Judges the level so far, if that is due.
    fn judge(&mut self) {
        let began = Instant::now();
        if began >= self.judge_from {
            self.judged = self.glimpse.so_far();
            let rest = began.elapsed() * REST_PER_LOOK;
            self.judge_from = began + rest.max(JUDGED_EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::tests::agent;
    use crate::samples;
    use dyno_model::Language;
    use dyno_model::fleet::{AgentSeen, FleetPlan};
    use dyno_model::frame::LevelEnd;
    use dyno_model::metric::Time;
    use dyno_model::plan::{Plan, Target};
    use dyno_net::Clock;

    fn end(level: u32) -> LevelEnd {
        LevelEnd { level, ..samples::level_end() }
    }

    #[test]
    fn levels_are_kept_apart_and_reported_once() {
        let live = Live::default();
        let mut watch = LiveWatch::new(&live);
        assert!(!watch.look(&live));
        live.begin_level(0, 2, &samples::level_plan("one"), Some(3));
        (0..3).for_each(|i| live.ended(&samples::record(0, i)));
        live.end_level(&end(0));
        live.begin_level(1, 2, &samples::level_plan("two"), Some(9));
        live.ended(&samples::record(1, 0));
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
    fn metrics_are_absent_where_requests_were_lost() {
        let live = Live::default();
        let mut watch = LiveWatch::new(&live);
        live.begin_level(0, 1, &samples::level_plan("one"), None);
        // More than the mailbox holds, and nothing takes them out.
        (0..20_000).for_each(|i| live.ended(&samples::record(0, i)));
        live.end_level(&LevelEnd { issued: 20_000, ..end(0) });
        watch.update(&live);
        let over = watch.levels[0].over.as_ref().unwrap();
        assert_eq!(over.took.requests, 20_000);
        assert_eq!(over.found.counts.planned, 20_000, "counters lose nothing");
        assert_eq!(over.found.times[Time::Ttft].p50, None);
        assert_eq!(live.look().done, 20_000);
    }

    /// A run of two agents.
    fn fleet() -> Live {
        let mut plan = Plan::new(Target::at("http://gpu:8000"));
        plan.fleet = Some(FleetPlan { agents: 2, bus: false });
        Live::of(&plan, Clock::start(), Language::English)
    }

    #[test]
    fn what_agents_report_is_shown_until_their_records_come() {
        let live = fleet();
        let mut watch = LiveWatch::new(&live);
        live.begin_level(0, 1, &samples::level_plan("one"), Some(200));
        live.agents(&[agent("1", 0), agent("2", 0)]);
        watch.look(&live);
        live.agents(&[agent("1", 4), agent("2", 4)]);
        watch.update(&live);
        watch.look(&live);
        assert_eq!((watch.seen.done, watch.seen.failed), (80, 0));
        let found = watch.found(0).unwrap();
        assert_eq!((found.counts.planned, found.times[Time::Ttft].p50), (80, Some(50.0)));
        assert_eq!(watch.agents().len(), 2);
        let seconds = |watch: &LiveWatch| -> u64 {
            watch.seconds.over(100).iter().map(|second| second.done).sum()
        };
        let (before, rates) = (seconds(&watch), watch.per_second());
        assert_eq!(before, 80);

        // More at once than the mailbox holds, after the level.
        let done = |name| AgentSeen { done: true, ..agent(name, 4) };
        live.agents(&[done("1"), done("2")]);
        (0..20_000).for_each(|index| live.ended(&samples::record(0, index)));
        watch.update(&live);
        watch.look(&live);
        assert_eq!(watch.seen.done, 20_000, "exact at last");
        assert_eq!((seconds(&watch), watch.per_second()), (before, rates), "nothing happened now");
        live.end_level(&LevelEnd { issued: 20_000, ..end(0) });
        assert_eq!(watch.update(&live), [0]);
        let over = watch.levels[0].over.as_ref().unwrap();
        assert_eq!((over.took.requests, over.found.counts.completed), (20_000, 20_000));
        assert!(over.found.times[Time::Ttft].p99.is_some(), "none was lost");
    }

    #[test]
    fn records_of_agents_cost_nothing_where_nobody_watches() {
        let live = fleet();
        live.begin_level(0, 1, &samples::level_plan("one"), None);
        live.ended(&samples::record(0, 0));
        live.end_level(&end(0));
        let mut watch = LiveWatch::new(&live);
        assert!(watch.update(&live).is_empty());
    }
}
