//! What is known of a run as a whole, and how long it will take as far as that can be estimated.

use super::live::Seen;
use super::words::Text;
use dyno_analysis::running_level::LevelTerms;
use dyno_model::Language;
use dyno_model::level_schedule::{Over, Search};
use dyno_model::load::LoadKind;
use dyno_model::plan::{LevelPlan, Load, Plan, Warmup};
use dyno_model::slo::Slo;
use std::time::Duration;

/// What is expected of a level before it begins counts as much as so many of its requests, so that
/// the estimate does not jump with its first responses.
const EXPECTED_COUNTS: f64 = 20.0;

/// What is known of a run before it starts, and while it runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outlook {
    /// The target and the model.
    pub(crate) target: String,
    /// The run is a prediction: its times are virtual.
    pub(crate) predicted: bool,
    /// Texts are embedded or ranked, and nothing is generated.
    pub(crate) embeds: bool,
    /// Share of failed requests that is allowed.
    pub(crate) allow_failures: f64,
    pub(crate) slo: Option<Slo>,
    /// The levels known so far.
    pub(crate) levels: Vec<Bounds>,
    /// More may follow.
    pub(crate) more: bool,
    /// How many a search runs in all, and whether it is sure to run so many.
    pub(crate) searched: Option<(u64, bool)>,
    /// The kind of load that a search is about, where other levels say how long it takes.
    pub(crate) sought: Option<LoadKind>,
    /// The pause before each level but the first.
    pub(crate) pause: Duration,
    /// Another run takes turns with this one.
    pub(crate) in_turns: bool,
}

/// What ends a level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) label: String,
    pub(crate) load: Load,
    /// The plan of the level; absent in tests that need none.
    pub(crate) plan: Option<Box<LevelPlan>>,
    /// Requests, warm-up included.
    pub(crate) requests: Option<u64>,
    /// Time of sending, a timed warm-up included.
    pub(crate) time: Option<Duration>,
}

/// How long a finished level took, from which the time of those to come is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Took {
    /// Requests, warm-up included.
    pub(crate) requests: u64,
    pub(crate) time: Duration,
    /// From the end of sending to the end of the last request.
    pub(crate) draining: Duration,
}

/// Time that the run will still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) time: Duration,
    /// The time of some levels cannot be estimated.
    pub(crate) at_least: bool,
    /// How many levels a search still runs, and whether it is sure to run so many. If not, the time is the most, or
    /// absent with `at_least`.
    pub(crate) levels: Option<(u64, bool)>,
}

impl Outlook {
    pub(super) fn of(plan: &Plan, language: Language) -> Self {
        let target = match (&plan.target.url, &plan.target.embedded) {
            (Some(url), _) => url.clone(),
            (None, Some(twin)) if plan.target.predicted => {
                Text::TwinPredicted.with(language, &[twin])
            }
            (None, Some(twin)) => Text::EngineWithTwin.with(language, &[twin]),
            (None, None) => Text::Engine.text(language).to_owned(),
        };
        let model = plan.request.model.as_deref().map(|model| format!("  {model}"));
        let target = target + &model.unwrap_or_default();
        Self {
            target,
            predicted: plan.target.predicted,
            embeds: !plan.request.task.generates(),
            allow_failures: plan.allow_failures,
            slo: plan.slo.clone(),
            levels: Vec::new(),
            more: false,
            searched: match plan.course.search {
                Some(Search::Sweep { points, .. }) => Some((points.into(), true)),
                Some(Search::Capacity { levels, .. }) => Some((levels.into(), false)),
                Some(Search::Ladder { .. }) | None => None,
            },
            sought: match plan.course.search {
                Some(Search::Capacity { over: Over::Rate, .. }) => Some(LoadKind::Rate),
                _ => None,
            },
            pause: match plan.target.predicted {
                true => Duration::ZERO,
                false => Duration::from_nanos(plan.course.cooldown_ns),
            },
            in_turns: plan.course.versus.is_some(),
        }
    }

    /// What level `index` is judged by.
    pub(super) fn terms(&self, index: usize) -> LevelTerms {
        LevelTerms {
            level: self.levels.get(index).and_then(|level| level.plan.clone()),
            predicted: self.predicted,
            allow_failures: self.allow_failures,
            slo: self.slo.clone(),
        }
    }

    /// Level `index` begins, and its bounds are known more precisely.
    pub(super) fn begin(&mut self, index: usize, bounds: Bounds) {
        if self.levels.len() <= index {
            self.levels.resize(index + 1, bounds.clone());
        }
        self.levels[index] = bounds;
    }

    /// Requests per second of the present level: what is expected of it by the `last` finished one
    /// (its index and time), and more and more what it does itself.
    pub(super) fn pace(
        &self,
        seen: &Seen,
        (done, time): (u64, Duration),
        last: Option<(usize, Took)>,
    ) -> Option<f64> {
        let present = self.levels.get(seen.level as usize);
        let expected = last.and_then(|(index, took)| {
            let rate = took.requests as f64 / took.time.as_secs_f64();
            Some(self.scaled(rate, self.levels.get(index)?, present?))
        });
        let weight = expected.map_or(0.0, |_| EXPECTED_COUNTS);
        let before = expected.map_or(0.0, |rate| EXPECTED_COUNTS / rate);
        let pace = (weight + done as f64) / (before + time.as_secs_f64());
        Some(pace).filter(|pace| pace.is_finite() && *pace > 0.0)
    }

    /// The rate of one level as it is expected of another, as in the estimates of `dyno-run`:
    /// throughput is taken to grow with the square root of the concurrency.
    fn scaled(&self, rate: f64, of: &Bounds, to: &Bounds) -> f64 {
        match (of.load, to.load) {
            (_, Load::Rate { rate, .. }) if !self.predicted => rate,
            (Load::Concurrency { concurrency: from }, Load::Concurrency { concurrency: to })
                if !self.predicted =>
            {
                rate * (f64::from(to) / f64::from(from)).sqrt()
            }
            _ => rate,
        }
    }

    /// How long the run will still take, by the bounds of its levels and the pace of the present
    /// one. Absent while nothing is known.
    pub(super) fn left(
        &self,
        seen: &Seen,
        per_second: Option<f64>,
        last: Option<Took>,
    ) -> Option<Left> {
        let draining = last.map_or(Duration::ZERO, |took| took.draining);
        let mut this = level_left(seen, per_second);
        let begun = seen.level as usize + 1;
        let to_come = self.levels.get(begun..).unwrap_or_default();
        let to_come = to_come.iter().map(|level| {
            let pace = match (per_second, self.levels.get(seen.level as usize)) {
                (Some(pace), Some(present)) => Some(self.scaled(pace, present, level)),
                (None, Some(_)) if level.load.is_open() && !self.predicted => {
                    Some(self.scaled(0.0, level, level))
                }
                (pace, _) => pace,
            };
            let by_count = level.requests.and_then(|requests| per(requests, pace));
            nearer(level.time, by_count).map(|time| time + draining + self.pause)
        });
        let mut to_come: Vec<Option<Duration>> = to_come.collect();
        let levels = self.searched.filter(|_| self.more).map(|(all, sure)| {
            let chosen = self.levels.len().max(begun);
            let each = self.unchosen(sure, last).map(|time| time + self.pause);
            to_come.resize(to_come.len() + (all as usize).saturating_sub(chosen), each);
            (to_come.len() as u64, sure)
        });
        if levels.is_some_and(|(_, sure)| !sure) {
            this = this.map(|time| time + self.drain_left(seen));
        }
        if self.in_turns {
            to_come.extend_from_within(..);
        }
        let known: Vec<Option<Duration>> = std::iter::once(this).chain(to_come).collect();
        if known.iter().all(Option::is_none) {
            return None;
        }
        // Whether the other run is still to do this level is not known here.
        let open = self.more && levels.is_none() || self.in_turns;
        let at_least = open || known.iter().any(Option::is_none);
        let mut time = known.into_iter().flatten().fold(Duration::ZERO, Duration::saturating_add);
        if let Some(rest) = seen.rests {
            // A part of the pause before the next level is over.
            time = time.saturating_sub(self.pause) + rest;
        }
        let levels = levels.filter(|(count, sure)| *count > 0 && !(*sure && at_least));
        Some(Left { time, at_least, levels })
    }

    /// How long a level takes that a search has not chosen yet: as long as the others. Of a search that may end before,
    /// it is the most: that of its longest level so far, with all its time to drain, so that the sum falls.
    fn unchosen(&self, sure: bool, last: Option<Took>) -> Option<Duration> {
        let took = last.map(|took| took.time);
        if sure {
            let draining = last.map_or(Duration::ZERO, |took| took.draining);
            // The levels of a sweep are of one length, but for one that had to be measured again for longer.
            let time = self.levels.iter().filter_map(|level| level.time).min();
            return time.or(took).map(|time| time + draining);
        }
        let sought = |level: &&Bounds| self.sought.is_none_or(|kind| level.load.kind() == kind);
        let all = self.levels.iter().filter(sought);
        all.filter_map(|level| level.time.map(|time| time + level.drain()).or(took)).max()
    }

    /// The most that the present level still drains.
    fn drain_left(&self, seen: &Seen) -> Duration {
        let drain = self.levels.get(seen.level as usize).map_or(Duration::ZERO, Bounds::drain);
        let over = seen.duration.map_or(Duration::ZERO, |time| seen.elapsed.saturating_sub(time));
        drain.saturating_sub(over)
    }
}

impl Bounds {
    /// The longest time that it drains.
    fn drain(&self) -> Duration {
        self.plan.as_ref().map_or(Duration::ZERO, |plan| Duration::from_nanos(plan.drain_ns))
    }

    /// Of a level as it is planned. Durations in virtual time say nothing about waiting.
    pub(super) fn of(level: &LevelPlan, real_time: bool) -> Self {
        let (warmup_requests, warmup_time) = match level.warmup {
            Some(Warmup::Requests(n)) => (n, 0),
            Some(Warmup::Duration(time)) => (0, time),
            None => (0, 0),
        };
        let time = level.duration_ns.map(|time| time.saturating_add(warmup_time));
        let time = time.map(Duration::from_nanos);
        let requests = level.requests.or(match level.load {
            Load::Burst { requests } => Some(requests),
            // Virtual time does not bound a watcher's wait; the requests in it do.
            Load::Rate { rate, .. } if !real_time => {
                time.map(|time| (rate * time.as_secs_f64()).ceil() as u64)
            }
            _ => None,
        });
        Self {
            label: level.label.clone(),
            load: level.load,
            plan: Some(Box::new(level.clone())),
            requests: requests.map(|n| n.saturating_add(warmup_requests)),
            time: time.filter(|_| real_time),
        }
    }
}

/// How long the present level will still send requests; zero while it drains.
pub(super) fn level_left(seen: &Seen, per_second: Option<f64>) -> Option<Duration> {
    let by_time = seen.duration.map(|time| time.saturating_sub(seen.elapsed));
    let to_do = seen.planned.map(|planned| planned.saturating_sub(seen.done + seen.unsent));
    nearer(by_time, to_do.and_then(|to_do| per(to_do, per_second)))
}

fn per(requests: u64, per_second: Option<f64>) -> Option<Duration> {
    let per_second = per_second.filter(|rate| *rate > 0.0)?;
    Duration::try_from_secs_f64(requests as f64 / per_second).ok()
}

fn nearer(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::Arrival;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn level(load: Load, requests: Option<u64>, time: Option<u64>) -> Bounds {
        Bounds { label: String::new(), load, plan: None, requests, time: time.map(seconds) }
    }

    fn closed(requests: Option<u64>, time: Option<u64>) -> Bounds {
        level(Load::Concurrency { concurrency: 4 }, requests, time)
    }

    fn outlook(levels: Vec<Bounds>) -> Outlook {
        Outlook { levels, ..Outlook::default() }
    }

    /// Half way through a level of 100 requests, at 5 a second.
    fn seen() -> Seen {
        Seen { planned: Some(100), done: 50, elapsed: seconds(10), levels: 1, ..Seen::default() }
    }

    fn exactly(time: u64) -> Option<Left> {
        Some(Left { time: seconds(time), at_least: false, levels: None })
    }

    #[test]
    fn levels_to_come_count_with_their_nearer_bound() {
        let fixed = level(Load::Rate { rate: 4.0, arrival: Arrival::Poisson }, Some(200), None);
        let levels = vec![closed(Some(100), None), closed(Some(50), Some(300)), fixed];
        // 10 s of this one, 50 requests at its own pace, 200 at 4 a second.
        assert_eq!(outlook(levels.clone()).left(&seen(), Some(5.0), None), exactly(10 + 10 + 50));
        // A finished level gives the time to drain.
        let took = Took { requests: 100, time: seconds(50), draining: seconds(3) };
        let left = outlook(levels.clone()).left(&seen(), Some(5.0), Some(took));
        assert_eq!(left, exactly(10 + (10 + 3) + (50 + 3)));
        // Of an open loop the rate is known before any response.
        let begun = Seen { done: 0, elapsed: seconds(0), duration: Some(seconds(7)), ..seen() };
        let left = outlook(levels).left(&begun, None, Some(took));
        assert_eq!(left, exactly(7 + (300 + 3) + (50 + 3)));
    }

    #[test]
    fn the_pace_passes_from_the_expected_to_the_measured_one() {
        let eight = level(Load::Concurrency { concurrency: 16 }, Some(100), None);
        let outlook = outlook(vec![closed(Some(100), None), eight]);
        let took = Took { requests: 100, time: seconds(50), draining: seconds(0) };
        let begun = Seen { level: 1, ..seen() };
        let pace = |done, time| outlook.pace(&begun, (done, seconds(time)), Some((0, took)));
        // Four times the concurrency is expected to double the rate of 2 a second.
        assert_eq!(pace(0, 0), Some(4.0));
        // It does 6 a second.
        let rates = [6, 60, 600, 6000].map(|done| pace(done, done / 6).unwrap());
        assert!(rates.is_sorted() && rates[0] < 4.5 && rates[3] > 5.9, "{rates:?}");
        let first = Seen { level: 0, ..seen() };
        assert_eq!(outlook.pace(&first, (0, seconds(0)), None), None);
        assert_eq!(outlook.pace(&first, (50, seconds(10)), None), Some(5.0));
        // The level to come is expected to take half as long.
        assert_eq!(outlook.left(&first, Some(5.0), None), exactly(10 + 10));
    }

    #[test]
    fn a_prediction_takes_as_long_as_its_requests_are_simulated() {
        let load = Load::Rate { rate: 2.0, arrival: Arrival::Poisson };
        let plan = LevelPlan {
            duration_ns: Some(3_600_000_000_000),
            warmup: Some(Warmup::Duration(100_000_000_000)),
            ..LevelPlan::new(load)
        };
        let hour = Bounds::of(&plan, false);
        assert_eq!((hour.requests, hour.time), (Some(7400), None));
        let levels = vec![closed(Some(100), None), hour];
        let left = Outlook { predicted: true, ..outlook(levels) }.left(&seen(), Some(5.0), None);
        assert_eq!(left, exactly(10 + 7400 / 5));
    }

    #[test]
    fn an_estimate_that_is_not_complete_says_so() {
        let levels = vec![closed(Some(100), None), closed(None, None)];
        let left = outlook(levels).left(&seen(), Some(5.0), None);
        assert_eq!(left, Some(Left { time: seconds(10), at_least: true, levels: None }));
        let open_end = Outlook { more: true, ..outlook(vec![closed(Some(100), None)]) };
        assert!(open_end.left(&seen(), Some(5.0), None).unwrap().at_least);
        // Nothing has ended yet.
        assert_eq!(outlook(vec![closed(Some(100), None)]).left(&seen(), None, None), None);
        let still = outlook(vec![closed(Some(100), None)]).left(&seen(), Some(0.0), None);
        assert_eq!(still, None);
    }

    /// B6: a search says how many levels are to come and about how long they take; pauses and the other one of
    /// two servers count.
    #[test]
    fn levels_that_are_not_chosen_yet_have_a_time() {
        let level = || closed(None, Some(5));
        let seen =
            Seen { duration: Some(seconds(5)), planned: None, elapsed: seconds(5), ..seen() };
        let sweep = Outlook {
            more: true,
            searched: Some((8, true)),
            pause: seconds(3),
            ..outlook(vec![level(), level(), level()])
        };
        // It has two chosen levels and five others to come, each after a pause.
        let third = Seen { level: 0, ..seen.clone() };
        let left = sweep.left(&third, None, None).unwrap();
        assert_eq!(
            (left.time, left.levels, left.at_least),
            (seconds(7 * 8), Some((7, true)), false)
        );
        assert_eq!(
            left.text([Text::RunLeft, Text::RunLeftAtLeast], Language::English),
            "7 more levels, about 56 s"
        );
        let last = Seen { level: 7, ..seen.clone() };
        assert_eq!(sweep.left(&last, None, None).unwrap().levels, None);
        // One that was measured again for longer says nothing about the others.
        let longer = closed(None, Some(115));
        let sweep = Outlook { levels: vec![level(), level(), longer], ..sweep };
        let again = Seen { level: 2, ..seen.clone() };
        assert_eq!(sweep.left(&again, None, None).unwrap().time, seconds(5 * 8));
        let two = Outlook { in_turns: true, ..outlook(vec![level(), level()]) };
        let left = two.left(&third, None, None).unwrap();
        assert_eq!((left.time, left.at_least), (seconds(10), true));
        let rests = Seen { rests: Some(seconds(2)), ..third };
        assert_eq!(outlook(vec![level()]).left(&rests, None, None), exactly(2));
    }

    /// A search for a capacity: no total before a level at a rate, whose length depends on those before it; then the
    /// most, which falls as time passes and where a level drains early.
    #[test]
    fn the_time_of_a_search_that_may_end_early_is_the_most_and_falls() {
        let with_drain = |load: Load, time: u64| {
            let plan = LevelPlan { drain_ns: 30_000_000_000, ..LevelPlan::new(load) };
            Bounds { plan: Some(Box::new(plan)), ..level(load, None, Some(time)) }
        };
        let rate = Load::Rate { rate: 4.0, arrival: Arrival::Poisson };
        let full = Load::Concurrency { concurrency: 512 };
        let mut search = Outlook {
            more: true,
            searched: Some((6, false)),
            sought: Some(LoadKind::Rate),
            ..outlook(vec![with_drain(full, 10)])
        };
        let say = |search: &Outlook, level: u64, time: u64, elapsed: u64| {
            let seen = Seen {
                level,
                duration: Some(seconds(time)),
                planned: None,
                elapsed: seconds(elapsed),
                ..seen()
            };
            let took = Took { requests: 9, time: seconds(14), draining: seconds(4) };
            let left = search.left(&seen, None, Some(took)).unwrap();
            (
                left.time.as_secs(),
                left.text([Text::RunLeft, Text::RunLeftAtLeast], Language::English),
            )
        };
        assert_eq!(say(&search, 0, 10, 1).1, "up to 5 more levels");
        search.begin(1, with_drain(rate, 15));
        // 15 s and 30 s to drain, of this one and of four more.
        assert_eq!(say(&search, 1, 15, 0), (225, "up to 4 more levels, at most 3m45s".to_owned()));
        let mut all: Vec<u64> = [0, 5, 15, 20].map(|elapsed| say(&search, 1, 15, elapsed).0).into();
        search.begin(2, with_drain(rate, 15));
        all.extend([0, 15, 44].map(|elapsed| say(&search, 2, 15, elapsed).0));
        assert!(all.is_sorted_by(|a, b| a > b) && all.ends_with(&[136]), "{all:?}");
    }

    #[test]
    fn a_level_that_was_not_planned_is_known_once_it_begins() {
        let mut outlook = outlook(vec![closed(Some(100), None)]);
        outlook.begin(1, closed(Some(7), None));
        outlook.begin(0, closed(Some(8), None));
        let requests: Vec<_> = outlook.levels.iter().map(|level| level.requests).collect();
        assert_eq!(requests, [Some(8), Some(7)]);
    }
}
