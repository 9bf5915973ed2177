//! What every arrival model shares: one record per arrival; starting, counting and sending. `waiting` is
//! what happens while requests are in flight, `ending` how a level stops and drains: it is over only when
//! nothing of it is in flight.

mod ending;
mod waiting;

use crate::gate::Opening;
use crate::level::LevelSetup;
use crate::numbering::Numbering;
use crate::open;
use crate::refusal::{Pauses, Refusal};
use crate::retries::Retries;
use crate::share::Share;
use crate::slots::Slots;
use crate::stop::Stop;
use crate::transport::{Ended, Job, Payload, Transport, TransportError};
use crate::turns::{DueTurn, OpenTurns, PlaceOfTurn};
use crate::vitals::Vitals;
use crate::work::{Supply, Work};
use dyno_model::frame::Ending;
use dyno_model::plan::{Load, Warmup};
use dyno_model::record::Phase;
use dyno_model::{Nanos, SEC};

/// While many requests are started at once, sockets are read after every this many, records are passed on,
/// and the reasons to stop are looked at: a client that is slower than its schedule is never idle.
const DISPATCHES_BETWEEN_READS: u64 = 32;
/// A client that is so far behind its schedule does not catch up.
const FAR_BEHIND: Nanos = 5 * SEC;

/// A slot whose request has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Freed {
    pub(crate) slot: u32,
    pub(crate) at: Nanos,
    /// How much earlier that may have been.
    pub(crate) slack: Nanos,
    /// The request could not be sent, and the next one could not be either.
    pub(crate) dropped: bool,
    /// The server refused it.
    pub(crate) refusal: Option<Refusal>,
}

/// When a request is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) at: Nanos,
    /// How much earlier that may have been.
    pub(crate) slack: Nanos,
}

impl From<Nanos> for Due {
    /// From a schedule, which is exact.
    fn from(at: Nanos) -> Self {
        Self { at, slack: 0 }
    }
}

impl Freed {
    /// When its next request is due.
    pub(crate) fn due(&self) -> Due {
        Due { at: self.at, slack: self.slack }
    }
}

/// The state of a running level.
pub(crate) struct RunningLevel<'s, 'a, T: Transport + ?Sized> {
    pub(crate) setup: LevelSetup<'s>,
    pub(crate) share: Share,
    numbering: Numbering,
    transport: &'a mut T,
    supply: &'a mut dyn Supply<T::Body>,
    turns: OpenTurns<T::Body>,
    /// Of an open loop that may have only so many in flight.
    slots: Option<Slots>,
    /// When the next conversation of an open loop is due.
    pub(crate) next_arrival: Option<Nanos>,
    ended: Vec<Ended>,
    /// Slots whose requests have ended, until the closed loop takes them; other loads have no use for them.
    pub(crate) freed: Vec<Freed>,
    /// When an arrival last found no free slot.
    pub(crate) crowded: Nanos,
    /// How late the client was when it gave up its schedule.
    behind: Nanos,
    pub(crate) started: Nanos,
    /// When the measured part began.
    measured_from: Option<Nanos>,
    pub(crate) issued: u64,
    pub(crate) warmup: u64,
    /// Sent to warm the server's cache, besides those.
    warmed: u64,
    /// Of its own, where the warm-up is a number of requests.
    planned_warmup: u64,
    /// Why and when sending stopped, once it has.
    stopped: Option<(Ending, Nanos)>,
    starved: Option<Nanos>,
    planned: Option<u64>,
    vitals: Vitals,
    retries: Retries<T::Body>,
    /// Of the slots of a closed loop.
    pub(crate) pauses: Pauses,
    since_read: u64,
    /// Time spent waiting for prompts and for records to be written.
    awaited_prompts: Nanos,
    awaited_records: Nanos,
    /// The last time a request was sent while nothing was in flight.
    woken: Nanos,
    /// The last time a request ended.
    quiet_since: Nanos,
    /// Time in which nothing was in flight that was skipped.
    skipped_idle: Nanos,
    /// Everything that there is to send has begun.
    pub(crate) exhausted: bool,
    /// The target has gone silent and was given up.
    silent: bool,
}

impl<'s, 'a, T: Transport + ?Sized> RunningLevel<'s, 'a, T>
where
    T::Body: Clone,
{
    pub(crate) fn new(
        setup: LevelSetup<'s>,
        transport: &'a mut T,
        supply: &'a mut dyn Supply<T::Body>,
    ) -> Self {
        let LevelSetup { level, seed, at_most, shard, plan, sessions, on_failure, .. } = setup;
        let at_most = at_most.filter(|_| plan.load.is_open());
        let share = Share::new(plan.load, at_most, (seed, level), shard);
        let mut level = Self {
            setup,
            share,
            numbering: Numbering::new(
                share,
                sessions,
                matches!(plan.load, Load::Concurrency { .. }),
            ),
            transport,
            supply,
            turns: OpenTurns::default(),
            slots: at_most.map(|most| Slots::new(share.of_slots(u64::from(most)))),
            next_arrival: None,
            ended: Vec::new(),
            freed: Vec::new(),
            crowded: 0,
            behind: 0,
            started: 0,
            measured_from: None,
            issued: 0,
            warmup: 0,
            warmed: 0,
            planned_warmup: 0,
            stopped: None,
            starved: None,
            planned: None,
            vitals: Vitals::default(),
            retries: Retries::new(on_failure.retry),
            pauses: Pauses::default(),
            since_read: 0,
            awaited_prompts: 0,
            awaited_records: 0,
            woken: 0,
            quiet_since: 0,
            skipped_idle: 0,
            exhausted: false,
            silent: false,
        };
        level.planned_warmup = level.own_warmup();
        level
    }

    /// Opens connections and waits for the first work; then starts the clock.
    pub(crate) fn start(
        &mut self,
        connections: usize,
        planned: Option<u64>,
    ) -> Result<(), TransportError> {
        self.supply.fill(connections.max(64));
        self.transport.prepare(connections)?;
        self.planned = planned;
        let opening = self.pass_gate()?;
        self.transport.take_health();
        self.report_tokens();
        self.started = match opening {
            Opening::At(at) => at,
            Opening::Free | Opening::Never => self.transport.now(),
        };
        self.vitals = Vitals::new(self.started, self.transport.tokens_received().unwrap_or(0));
        self.setup.recorder.started(self.started);
        if opening == Opening::Never || self.setup.stop.get() >= Stop::Sending {
            self.stop_sending(Ending::Interrupted, self.started);
        }
        Ok(())
    }

    /// Works on connections until `until`, or for a while.
    pub(crate) fn idle_until(&mut self, until: Nanos) -> Result<(), TransportError> {
        let until = until.min(self.now().saturating_add(self.transport.max_wait()));
        self.transport.wait(until, &mut self.ended)
    }

    pub(crate) fn now(&self) -> Nanos {
        self.transport.now()
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.transport.in_flight()
    }

    /// Whether an open loop may send more.
    pub(crate) fn has_room(&self) -> bool {
        self.slots.as_ref().is_none_or(Slots::has_room)
    }

    /// Nothing is in flight or waits to be sent again, and every ended request has been processed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.in_flight() == 0 && self.ended.is_empty() && self.retries.nobody_waits()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Nothing is in flight, and nothing will be until a slot sends again.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_quiet() && self.turns.nobody_waits() && self.pauses.is_empty()
    }

    /// All requested measured requests were sent.
    pub(crate) fn is_complete(&self) -> bool {
        self.planned.is_some_and(|planned| self.issued >= planned)
            && self.warmup >= self.planned_warmup
    }

    /// The index of the next arrival.
    fn next_index(&mut self) -> u64 {
        self.numbering.request(self.issued + self.warmup + self.warmed)
    }

    /// Counts an arrival; which part of the level it belongs to.
    fn count(&mut self, intended: Nanos) -> Phase {
        if self.in_warmup(intended) {
            self.warmup += 1;
            Phase::Warmup
        } else {
            self.issued += 1;
            Phase::Measured
        }
    }

    /// A slot found nothing left to send.
    pub(crate) fn starve(&mut self, at: Nanos) {
        self.starved.get_or_insert(at);
    }

    /// Whether the next arrival, intended for `at`, belongs to the warm-up.
    pub(crate) fn in_warmup(&self, at: Nanos) -> bool {
        match self.setup.plan.warmup {
            None => false,
            Some(Warmup::Requests(_)) => self.warmup < self.planned_warmup,
            Some(Warmup::Duration(d)) => at < self.started.saturating_add(d),
        }
    }

    /// When the time of a closed loop or of conversations is up, once their measured part has
    /// begun. (A schedule bounds itself.)
    pub(crate) fn time_limit(&self) -> Option<Nanos> {
        let plan = self.setup.plan;
        let from = match plan.load {
            Load::Concurrency { .. } => self.measured_from?,
            Load::Rate { .. } | Load::Ramp { .. } | Load::Trace { .. } if self.setup.sessions => {
                open::time_from(plan.warmup, self.started, self.measured_from)?
            }
            _ => return None,
        };
        let lasts = plan.duration_ns.or_else(|| plan.load.ramp().map(|ramp| ramp.over_ns));
        Some(from.saturating_add(lasts?))
    }

    /// Sends the next arrival. Sending stops when the supply has ended, unless that is the end of the level.
    pub(crate) fn dispatch(&mut self, slot: u32, intended: Due) -> Result<(), TransportError> {
        let before = self.now();
        let taken = self.supply.take();
        self.awaited_prompts += self.now().saturating_sub(before);
        let Some(work) = taken else {
            if self.setup.once {
                self.exhausted = true;
                self.starve(intended.at);
            } else {
                self.data_ended();
            }
            return Ok(());
        };
        let arrival = self.numbering.take();
        match work {
            Work::Single(payload) => self.send(slot, intended, None, payload),
            Work::Turns(turns) => {
                let start = (intended.at, intended.slack);
                self.turns.begin(arrival, slot, start, turns);
                self.go_on(self.now())
            }
        }
    }

    /// The data ended early, which is not the server's fault.
    fn data_ended(&mut self) {
        let now = self.now();
        self.stop_sending(Ending::Aborted, now);
    }

    /// Sends a turn that is due, unless it is too long for the server.
    fn send_turn(&mut self, due: &DueTurn) -> Result<(), TransportError> {
        let before = self.now();
        let request = self.turns.take(due);
        self.awaited_prompts += self.now().saturating_sub(before);
        let place = self.turns.place(due, request.as_ref());
        let (Some(request), Some(place)) = (request, place) else {
            self.data_ended();
            return Ok(());
        };
        let intended = Due { at: due.at, slack: due.slack };
        if request.overflows {
            self.leave_overflow(due, place, &request.payload);
            return Ok(());
        }
        let index = self.next_index();
        self.turns.sent(index, due);
        self.send(due.slot, intended, Some(place), request.payload)
    }

    fn send(
        &mut self,
        slot: u32,
        due: Due,
        place: Option<PlaceOfTurn>,
        payload: Payload<T::Body>,
    ) -> Result<(), TransportError> {
        let Due { at: intended, slack } = due;
        let index = self.next_index();
        let (turn, tree) = place.map_or((None, None), |place| (Some(place.turn), place.tree));
        let phase = match &tree {
            Some(tree) if tree.warms => {
                self.warmed += 1;
                Phase::Warmup
            }
            _ => self.count(intended),
        };
        if phase == Phase::Measured {
            self.measured_from.get_or_insert(intended);
        }
        let freed = self.slots.as_mut().and_then(Slots::take);
        let admitted = freed.filter(|freed| *freed > intended);
        self.retries.sent(index, &payload);
        self.hand_over(Job {
            level: self.setup.level,
            index,
            slot,
            turn,
            tree,
            phase,
            intended,
            slack,
            admitted,
            dispatched: self.transport.now(),
            payload,
        })
    }

    fn hand_over(&mut self, job: Job<T::Body>) -> Result<(), TransportError> {
        if self.transport.in_flight() == 0 {
            self.woken = job.dispatched;
        }
        self.transport.dispatch(job);
        self.since_read += 1;
        if self.since_read >= DISPATCHES_BETWEEN_READS {
            self.since_read = 0;
            let now = self.transport.now();
            self.transport.wait(now, &mut self.ended)?;
            self.pass_on();
        }
        Ok(())
    }

    /// Sends an arrival of a schedule whose time has come. A client that is too far behind sends nothing
    /// more: the load would be another one, and the rest would never end.
    pub(crate) fn dispatch_due(&mut self, due: Nanos) -> Result<(), TransportError> {
        let now = self.now();
        // What waited for a slot could not be sent before one was free.
        let late = now.saturating_sub(due.max(self.crowded));
        if late > FAR_BEHIND {
            self.behind = late;
            self.stop_sending(Ending::BehindSchedule, now);
            return Ok(());
        }
        self.dispatch(0, due.into())?;
        if self.since_read == 0 {
            // Turns and requests that are sent again must not wait until the client has caught up.
            self.send_waiting(self.now())?;
        }
        Ok(())
    }
}
