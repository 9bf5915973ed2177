//! The counters of a run in progress. Writers never wait. A reader sees the right value of each
//! counter, but not a consistent snapshot of all of them.

use super::agents::FleetSeen;
use super::mailbox::{Boundary, Counted, Mailbox};
use super::outlook::{Bounds, Outlook};
use dyno_analysis::running_level::RunningLevel;
use dyno_model::fleet::AgentSeen;
use dyno_model::frame::LevelEnd;
use dyno_model::outcome::Outcome;
use dyno_model::plan::{LevelPlan, Plan};
use dyno_model::record::RequestRecord;
use dyno_model::server::ServerSample;
use dyno_model::{Language, Message};
use dyno_net::Clock;
use dyno_words::level_name;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No total of tokens was reported, in this run or in this level.
const UNREPORTED: u64 = u64::MAX;
/// Server metrics that are older are not shown: they come once a second.
const STALE: Duration = Duration::from_secs(5);

/// Shared between the run, which counts, and the progress thread, which reads.
#[derive(Debug)]
pub struct Live {
    zero: Instant,
    /// The clock of the records; absent where they are in virtual time.
    clock: Option<Clock>,
    language: Language,
    /// Requests of this level that were sent and have ended, whatever their outcome.
    done: AtomicU64,
    /// Of those, the ones that completed,
    completed: AtomicU64,
    /// the ones that failed,
    failed: AtomicU64,
    /// the ones that are unconfirmed,
    unconfirmed: AtomicU64,
    /// and the ones that were shed.
    shed: AtomicU64,
    /// Arrivals of this level that were never sent.
    unsent: AtomicU64,
    /// Output tokens or events of the requests of this level that have ended.
    tokens: AtomicU64,
    /// Output tokens that the client has received in the whole run, and before this level.
    received: AtomicU64,
    received_before: AtomicU64,
    /// Requests in flight.
    pub in_flight: AtomicU64,
    planned: AtomicU64,
    level: AtomicU64,
    levels: AtomicU64,
    started_ms: AtomicU64,
    /// When the pause before the next level is over; 0: there is none.
    rests_until_ms: AtomicU64,
    /// Milliseconds of sending planned; 0: not bounded by time.
    duration_ms: AtomicU64,
    /// Which of two runs it is, before every label.
    side: String,
    label: Mutex<String>,
    outlook: Mutex<Outlook>,
    /// The latest metrics of the server, and when they came. Written by the thread that polls them.
    server: Mutex<Option<(Duration, ServerSample)>>,
    /// Notes about levels that have ended, printed after their lines.
    notes: Mutex<Vec<Message>>,
    pub(super) mailbox: Mailbox,
    /// How many agents send; 0 where this process does it itself.
    agents: usize,
    fleet: Mutex<Fleet>,
}

/// What is known of several load generators. Nothing is measured on the thread that writes it.
#[derive(Debug, Default)]
struct Fleet {
    /// As they were last reported in this level.
    seen: Vec<AgentSeen>,
    /// Since the start of the level, when what was reported was counted.
    reported: Duration,
    /// The level's requests, which come when it is over: more at once than the mailbox holds.
    collected: Option<RunningLevel>,
}

/// The values of the counters at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Seen {
    pub(crate) at: Duration,
    /// Requests that were sent and have ended.
    pub(crate) done: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) unconfirmed: u64,
    pub(crate) shed: u64,
    /// Arrivals that were never sent.
    pub(crate) unsent: u64,
    /// Output tokens of this level, those of running streams included where they are known.
    pub(crate) tokens: u64,
    pub(crate) in_flight: u64,
    pub(crate) planned: Option<u64>,
    pub(crate) level: u64,
    /// Levels known so far; 0 before the first begins.
    pub(crate) levels: u64,
    pub(crate) elapsed: Duration,
    /// How long the pause before the next level still lasts, where there is one.
    pub(crate) rests: Option<Duration>,
    pub(crate) duration: Option<Duration>,
    pub(crate) label: String,
    pub(crate) server: Option<ServerSample>,
    /// Several load generators, where this process does not send itself.
    pub(crate) fleet: Option<FleetSeen>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            zero: Instant::now(),
            clock: None,
            language: Language::English,
            done: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            unconfirmed: AtomicU64::new(0),
            shed: AtomicU64::new(0),
            unsent: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            received: AtomicU64::new(UNREPORTED),
            received_before: AtomicU64::new(UNREPORTED),
            in_flight: AtomicU64::new(0),
            planned: AtomicU64::new(0),
            level: AtomicU64::new(0),
            levels: AtomicU64::new(0),
            started_ms: AtomicU64::new(0),
            rests_until_ms: AtomicU64::new(0),
            duration_ms: AtomicU64::new(0),
            side: String::new(),
            label: Mutex::default(),
            outlook: Mutex::default(),
            server: Mutex::default(),
            notes: Mutex::default(),
            mailbox: Mailbox::default(),
            agents: 0,
            fleet: Mutex::default(),
        }
    }
}

impl Live {
    /// For a run of `plan`, shown in `language`. Its records are timed by `clock`, unless they are
    /// predicted.
    pub fn of(plan: &Plan, clock: Clock, language: Language) -> Self {
        let clock = Some(clock).filter(|_| !plan.target.predicted);
        let side = plan.course.versus.as_ref().map(|versus| format!("{} ", versus.side));
        let (side, outlook) = (side.unwrap_or_default(), Mutex::new(Outlook::of(plan, language)));
        let agents = plan.fleet.as_ref().map_or(0, |fleet| fleet.agents as usize);
        let live = Self { clock, language, side, outlook, agents, ..Self::default() };
        live.expect(&plan.levels, plan.course.search.is_some());
        live
    }

    /// The levels that are known now; `more` may follow, chosen by the results of these.
    pub fn expect(&self, levels: &[LevelPlan], more: bool) {
        let mut outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner);
        outlook.levels = levels.iter().map(|level| self.bounds(level)).collect();
        outlook.more = more;
    }

    /// Nothing is sent for so long: a pause between levels.
    pub fn rests(&self, time: Duration) {
        self.rests_until_ms.store(ms(self.zero.elapsed() + time), Relaxed);
    }

    /// Resets the counters for level `index` (from 0) of the `known` ones. `planned` is the
    /// number of requests that bounds it, as far as known, warm-up included.
    pub fn begin_level(&self, index: usize, known: usize, level: &LevelPlan, planned: Option<u64>) {
        let Self { done, completed, failed, unconfirmed, shed, unsent, tokens, in_flight, .. } =
            self;
        let ended = [done, completed, failed, unconfirmed, shed, unsent];
        for counter in ended.into_iter().chain([tokens, in_flight]) {
            counter.store(0, Relaxed);
        }
        self.received_before.store(UNREPORTED, Relaxed);
        let bounds = self.bounds(level);
        let planned = planned.or(bounds.requests);
        let bounds = Bounds { requests: planned, ..bounds };
        self.planned.store(planned.unwrap_or(0), Relaxed);
        self.duration_ms.store(bounds.time.map_or(0, ms), Relaxed);
        let at = self.zero.elapsed();
        self.started_ms.store(ms(at), Relaxed);
        self.rests_until_ms.store(0, Relaxed);
        bounds.label.clone_into(&mut self.label.lock().unwrap_or_else(PoisonError::into_inner));
        let mut outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner);
        outlook.begin(index, bounds);
        let collected = (self.agents > 0 && self.mailbox.is_watched())
            .then(|| RunningLevel::new(outlook.terms(index)));
        drop(outlook);
        *self.fleet() = Fleet { collected, ..Fleet::default() };
        self.level.store(index as u64, Relaxed);
        self.levels.store(known.max(index + 1) as u64, Relaxed);
        self.mailbox.boundary(Boundary::Begun { level: index, at });
    }

    fn bounds(&self, level: &LevelPlan) -> Bounds {
        let bounds = Bounds::of(level, self.clock.is_some());
        let name = level_name(&bounds.label, self.language);
        Bounds { label: format!("{}{name}", self.side), ..bounds }
    }

    /// The client has received `total` output tokens in the whole run. Two relaxed stores at most,
    /// on the thread that measures: it neither waits nor allocates.
    pub fn tokens_received(&self, total: u64) {
        if self.received_before.load(Relaxed) == UNREPORTED {
            self.received_before.store(total, Relaxed);
        }
        self.received.store(total, Relaxed);
    }

    /// What several load generators have done so far in the level.
    pub fn agents(&self, seen: &[AgentSeen]) {
        let now = self.zero.elapsed();
        let mut fleet = self.fleet();
        if fleet.seen.is_empty() {
            // Before that, they were preparing the level.
            self.started_ms.store(ms(now), Relaxed);
        }
        let clock = self.clock.map_or(0, |clock| clock.now());
        let working = seen.iter().filter(|agent| !agent.done && agent.lost.is_none());
        let heard = working.map(|agent| agent.heard).min().unwrap_or(clock);
        let started = Duration::from_millis(self.started_ms.load(Relaxed));
        let age = Duration::from_nanos(clock.saturating_sub(heard));
        fleet.reported = now.saturating_sub(started).saturating_sub(age);
        fleet.seen = seen.to_vec();
    }

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server's metrics have arrived.
    pub fn server_sampled(&self, sample: &ServerSample) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        *server = Some((self.zero.elapsed(), *sample));
    }

    /// A request of the level has ended.
    pub fn ended(&self, record: &RequestRecord) {
        let outcome = match record.outcome {
            Outcome::Completed => Some(&self.completed),
            Outcome::Failed(_) => Some(&self.failed),
            Outcome::Unconfirmed => Some(&self.unconfirmed),
            Outcome::Shed(_) => Some(&self.shed),
            Outcome::Dropped(_) | Outcome::Censored => None,
        };
        let ended = match outcome {
            _ if record.was_never_sent() => Some(&self.unsent),
            // One that was cut off did not end.
            outcome => outcome.map(|_| &self.done),
        };
        for counter in ended.into_iter().chain(outcome) {
            counter.fetch_add(1, Relaxed);
        }
        if let Some(output) = record.output {
            self.tokens.fetch_add(output.tokens, Relaxed);
        }
        if self.agents == 0 {
            self.mailbox.put(record);
        } else if let Some(collected) = &mut self.fleet().collected {
            collected.add(record);
        }
    }

    /// The level is over.
    pub fn end_level(&self, end: &LevelEnd) {
        self.mailbox.boundary(Boundary::Ended {
            level: end.level as usize,
            at: self.zero.elapsed(),
            counted: Counted {
                issued: end.issued,
                failed: self.failed.load(Relaxed),
                unconfirmed: self.unconfirmed.load(Relaxed),
                shed: self.shed.load(Relaxed),
                unsent: self.unsent.load(Relaxed),
            },
            ending: end.ending,
            draining: self.draining(end),
            found: self.fleet().collected.take().map(|collected| Box::new(collected.settled())),
        });
    }

    /// A note about the level that is over, to be printed after its line.
    pub fn note(&self, text: Message) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(super) fn take_notes(&self) -> Vec<Message> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How long the end of a level took on the wall clock; in virtual time it took no time.
    fn draining(&self, end: &LevelEnd) -> Duration {
        match self.clock {
            Some(_) => Duration::from_nanos(end.ended.saturating_sub(end.sending_stopped)),
            None => Duration::ZERO,
        }
    }

    /// The values of the counters now.
    pub(super) fn look(&self) -> Seen {
        let at = self.zero.elapsed();
        let unless_zero = |value: u64| (value != 0).then_some(value);
        let fleet = self.fleet_seen();
        // What was reported, until more of the records have come.
        let reported = |of: fn(&FleetSeen) -> u64| fleet.as_ref().map_or(0, of);
        Seen {
            at,
            done: self.done.load(Relaxed).max(reported(FleetSeen::done)),
            completed: self
                .completed
                .load(Relaxed)
                .max(reported(|fleet| fleet.sum(|beat| beat.completed))),
            // Agents count unconfirmed requests among those that failed, until their records come.
            failed: self.failed.load(Relaxed).max(
                reported(|fleet| fleet.sum(|beat| beat.failed))
                    .saturating_sub(self.unconfirmed.load(Relaxed)),
            ),
            unconfirmed: self.unconfirmed.load(Relaxed),
            shed: self.shed.load(Relaxed).max(reported(|fleet| fleet.sum(|beat| beat.shed))),
            unsent: self.unsent.load(Relaxed),
            tokens: self.received_in_level().unwrap_or_else(|| self.tokens.load(Relaxed)),
            in_flight: self.in_flight.load(Relaxed),
            planned: unless_zero(self.planned.load(Relaxed)),
            level: self.level.load(Relaxed),
            levels: self.levels.load(Relaxed),
            elapsed: at.saturating_sub(Duration::from_millis(self.started_ms.load(Relaxed))),
            rests: unless_zero(self.rests_until_ms.load(Relaxed))
                .map(|until| Duration::from_millis(until).saturating_sub(at)),
            duration: unless_zero(self.duration_ms.load(Relaxed)).map(Duration::from_millis),
            label: self.label.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            server: self.fresh_server_metrics(at),
            fleet,
        }
    }

    fn fleet_seen(&self) -> Option<FleetSeen> {
        let now = self.clock.map_or(0, |clock| clock.now());
        let fleet = self.fleet();
        let (agents, reported) = (fleet.seen.clone(), fleet.reported);
        (self.agents > 0).then_some(FleetSeen { agents, count: self.agents, reported, now })
    }

    /// Output tokens received in this level; absent where only ended requests are counted.
    fn received_in_level(&self) -> Option<u64> {
        let before = Some(self.received_before.load(Relaxed)).filter(|n| *n != UNREPORTED)?;
        Some(self.received.load(Relaxed).saturating_sub(before))
    }

    /// Output tokens received in the whole run; absent where only ended requests are counted.
    pub(super) fn received(&self) -> Option<u64> {
        Some(self.received.load(Relaxed)).filter(|n| *n != UNREPORTED)
    }

    fn fresh_server_metrics(&self, now: Duration) -> Option<ServerSample> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = server.filter(|(at, _)| now.saturating_sub(*at) < STALE)?;
        Some(fresh.1)
    }

    /// Which of two runs it is.
    pub(super) fn side(&self) -> Option<&str> {
        Some(self.side.trim_end()).filter(|side| !side.is_empty())
    }

    /// The language of what is shown.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// What is known of the run as a whole.
    pub(super) fn outlook(&self) -> Outlook {
        self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The current second of the records' clock; absent in virtual time.
    pub(super) fn second(&self) -> Option<u64> {
        self.clock.map(|clock| clock.now() / dyno_model::SEC)
    }
}

fn ms(time: Duration) -> u64 {
    time.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    /// B10: what was never sent is neither a request nor a failure, and counts in no rate.
    #[test]
    fn arrivals_that_were_never_sent_are_not_requests() {
        let live = Live::default();
        let mut watch = crate::watch::LiveWatch::new(&live);
        live.begin_level(0, 1, &samples::level_plan("one"), Some(50));
        (0..24).for_each(|index| live.ended(&samples::record(0, index)));
        for (index, outcome) in (24..).zip([Outcome::Censored, Outcome::Dropped("full".into())]) {
            let dispatched = None;
            live.ended(&RequestRecord { outcome, dispatched, ..samples::record(0, index) });
        }
        let seen = live.look();
        assert_eq!((seen.done, seen.completed, seen.failed, seen.unsent), (24, 24, 0, 2));
        // One that was cut off was sent, but did not end.
        let cut = RequestRecord { outcome: Outcome::Censored, ..samples::record(0, 26) };
        live.ended(&RequestRecord { dispatched: Some(cut.intended), ..cut });
        let seen = live.look();
        assert_eq!((seen.done, seen.completed, seen.unsent), (24, 24, 2));
        live.end_level(&LevelEnd { issued: 27, ..samples::level_end() });
        watch.update(&live);
        let over = watch.levels[0].over.as_ref().unwrap();
        let line = crate::finished::line(0, 1, false, "one", over, None, Language::English);
        assert!(line.contains("24 requests  0 failed  1 unfinished  2 not sent"), "{line}");
    }

    #[test]
    fn tokens_of_running_streams_count_from_the_start_of_the_level() {
        let live = Live::default();
        live.begin_level(0, 2, &samples::level_plan("one"), None);
        // A transport that counts only ended requests.
        live.ended(&samples::record(0, 0));
        assert_eq!((live.look().tokens, live.received()), (10, None));
        // The preflight's tokens are not the level's.
        live.tokens_received(7);
        assert_eq!(live.look().tokens, 0);
        live.tokens_received(39);
        assert_eq!(live.look().tokens, 32);
        live.ended(&samples::record(0, 1));
        assert_eq!(live.look().tokens, 32, "an ended request is not counted twice");
        live.begin_level(1, 2, &samples::level_plan("two"), None);
        live.tokens_received(39);
        live.tokens_received(44);
        assert_eq!((live.look().tokens, live.received()), (5, Some(44)));
    }

    #[test]
    fn server_metrics_are_shown_while_they_are_fresh() {
        let live = Live::default();
        assert_eq!(live.look().server, None);
        let sample = ServerSample { waiting: Some(3), ..ServerSample::default() };
        live.server_sampled(&sample);
        assert_eq!(live.look().server, Some(sample));
        let later = live.zero.elapsed() + STALE;
        assert_eq!(live.fresh_server_metrics(later), None);
    }
}
