//! What every arrival model shares: one record per arrival; counting, failing, stopping and draining.
//! A level is over only when nothing of it is in flight.

use crate::gate::Opening;
use crate::level::{LevelOutcome, LevelSetup, Observer};
use crate::numbering::Numbering;
use crate::open;
use crate::refusal::{Pauses, Refusal};
use crate::retries::Retries;
use crate::sessions::{Sessions, Thinking};
use crate::share::Share;
use crate::slots::Slots;
use crate::stop::Stop;
use crate::transport::{Ended, Job, Payload, Transport, TransportError};
use crate::vitals::Vitals;
use crate::work::{Supply, Work};
use dyno_model::Nanos;
use dyno_model::frame::{ClientHealth, Ending};
use dyno_model::outcome::Outcome;
use dyno_model::plan::{Load, Warmup};
use dyno_model::record::{Phase, RequestRecord, Turn};

/// While many requests are started at once, sockets are read after every this many.
const DISPATCHES_BETWEEN_READS: u64 = 32;

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
pub(crate) struct Level<'s, 'a, T: Transport + ?Sized> {
    pub(crate) setup: LevelSetup<'s>,
    pub(crate) share: Share,
    numbering: Numbering,
    transport: &'a mut T,
    supply: &'a mut dyn Supply<T::Body>,
    sessions: Sessions<T::Body>,
    /// Of an open loop that may have only so many in flight.
    slots: Option<Slots>,
    /// When the next conversation of an open loop is due.
    pub(crate) next_arrival: Option<Nanos>,
    ended: Vec<Ended>,
    pub(crate) started: Nanos,
    /// When the measured part began.
    measured_from: Option<Nanos>,
    pub(crate) issued: u64,
    pub(crate) warmup: u64,
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
    /// The target has gone silent and was given up.
    silent: bool,
}

impl<'s, 'a, T: Transport + ?Sized> Level<'s, 'a, T>
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
            sessions: Sessions::default(),
            slots: at_most.map(|most| Slots::new(share.of_slots(u64::from(most)))),
            next_arrival: None,
            ended: Vec::new(),
            started: 0,
            measured_from: None,
            issued: 0,
            warmup: 0,
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
        self.vitals = Vitals::new(self.started);
        self.setup.observer.started(self.started);
        if opening == Opening::Never {
            self.stop_sending(Ending::Interrupted, self.started);
        }
        Ok(())
    }

    /// Works on connections until `until`, or for a while.
    pub(crate) fn idle_until(&mut self, until: Nanos) -> Result<(), TransportError> {
        let until = until.min(self.now().saturating_add(self.transport.patience()));
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
        self.is_quiet() && self.sessions.nobody_thinks() && self.pauses.is_empty()
    }

    /// All requested measured requests were sent.
    pub(crate) fn is_complete(&self) -> bool {
        self.planned.is_some_and(|planned| self.issued >= planned)
            && self.warmup >= self.planned_warmup
    }

    /// Sending is over; only the first reason counts.
    pub(crate) fn stop_sending(&mut self, ending: Ending, at: Nanos) {
        if self.stopped.is_none() {
            self.stopped = Some((ending, at));
            // Turns that were due and waited for a slot. Others are cut off while their user thinks.
            while self.keeps_waiting()
                && let Some(thinking) = at.checked_sub(1).and_then(|until| self.sessions.due(until))
            {
                let (turn, due) = (thinking.next_turn(), thinking.due);
                self.leave_waiting(thinking.slot, due, Some(turn));
            }
        }
        self.sessions.break_off();
    }

    /// Whether arrivals that are due and still wait for a slot get a record, now that nothing is
    /// sent any more.
    fn keeps_waiting(&self) -> bool {
        let ending = self.stopped.map(|(ending, _)| ending);
        self.slots.is_some() && !self.is_complete() && ending != Some(Ending::Aborted)
    }

    /// Records the arrivals that were due and waited for a slot when sending stopped.
    pub(crate) fn leave_all_waiting(&mut self, dues: impl Iterator<Item = Nanos>) {
        let stopped = self.stopped.map_or(0, |(_, at)| at);
        for due in dues.take_while(|due| *due < stopped) {
            if !self.keeps_waiting() {
                break;
            }
            self.leave_waiting(0, due, None);
        }
    }

    /// Records an arrival that was never sent.
    fn leave_waiting(&mut self, slot: u32, due: Nanos, turn: Option<Turn>) {
        let index = self.next_index();
        let phase = self.count(due);
        let mut record = RequestRecord::new(self.setup.level, index, slot, phase, due);
        record.turn = turn;
        record.end = self.stopped.map_or(due, |(_, at)| at.max(due));
        finish(Box::new(record), self.stopped, &self.numbering, self.setup.observer);
    }

    /// The index of the next arrival.
    fn next_index(&mut self) -> u64 {
        self.numbering.request(self.issued + self.warmup)
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

    /// Sends the next arrival. Sending stops when the supply is exhausted.
    pub(crate) fn dispatch(&mut self, slot: u32, intended: Due) -> Result<(), TransportError> {
        let before = self.now();
        let taken = self.supply.take();
        self.awaited_prompts += self.now().saturating_sub(before);
        let Some(Work { first, then }) = taken else {
            // The data ended early, which is not the server's fault.
            let now = self.now();
            self.stop_sending(Ending::Aborted, now);
            return Ok(());
        };
        let item = self.numbering.take();
        let index = self.next_index();
        let turn = then.map(|dialogue| self.sessions.begin(index, item, dialogue));
        self.send(slot, intended, turn, first)
    }

    fn send(
        &mut self,
        slot: u32,
        due: Due,
        turn: Option<Turn>,
        payload: Payload<T::Body>,
    ) -> Result<(), TransportError> {
        let Due { at: intended, slack } = due;
        let index = self.next_index();
        let phase = self.count(intended);
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
        }
        Ok(())
    }

    /// Waits until a request has ended or `until`; passes the records on and returns the slots that
    /// became free, with their times, in `freed`.
    pub(crate) fn wait(
        &mut self,
        until: Nanos,
        freed: &mut Vec<Freed>,
    ) -> Result<(), TransportError> {
        self.since_read = 0;
        if self.ended.is_empty() {
            let patience = self.transport.patience();
            let until = until.min(self.transport.now().saturating_add(patience));
            let turn = self.sessions.next_due().filter(|_| self.has_room());
            let until = until.min(turn.unwrap_or(Nanos::MAX));
            let until = until.min(self.retries.next_due().unwrap_or(Nanos::MAX));
            self.transport.wait(until, &mut self.ended)?;
        }
        let now = self.transport.now();
        if let Some(up) = self.time_limit()
            && now >= up
            && !self.setup.plan.load.is_open()
        {
            self.stop_sending(Ending::Duration, up);
        }
        let before = self.transport.now();
        for ended in self.ended.drain(..) {
            self.vitals.ended(&ended.record);
            let Some(ended) = self.retries.ended(ended) else { continue };
            let goes_on = self.sessions.ended(&ended);
            let record = ended.record;
            if let Some(slots) = &mut self.slots {
                slots.free(record.end);
            }
            if !goes_on {
                let dropped = matches!(record.outcome, Outcome::Dropped(_));
                let slack = record.widths.map_or(0, |widths| widths.end);
                let refusal = Refusal::of(&record);
                freed.push(Freed { slot: record.slot, at: record.end, slack, dropped, refusal });
            }
            finish(record, self.stopped, &self.numbering, self.setup.observer);
        }
        self.awaited_records += self.transport.now().saturating_sub(before);
        if self.vitals.lost.is_some() {
            self.stop_sending(Ending::TargetLost, now);
        }
        if self.setup.on_failure.at_most.is_some_and(|most| self.vitals.failed >= most) {
            self.stop_sending(Ending::MaxFailures, now);
        }
        if self.setup.stop.get() >= Stop::Sending {
            self.stop_sending(Ending::Interrupted, now);
        }
        self.setup.observer.in_flight(self.transport.in_flight());
        self.report_tokens();
        self.listen(now);
        if self.setup.observer.must_stop() {
            self.stop_sending(Ending::Aborted, now);
        }
        if !self.is_stopped() && self.setup.observer.has_converged(now) {
            self.stop_sending(Ending::Stable, now);
        }
        if self.stopped.is_some_and(|(ending, _)| !ending.carried_out()) {
            self.retries.give_up(&mut self.ended);
        }
        while let Some(job) = self.retries.due(now) {
            self.hand_over(job)?;
        }
        self.go_on(now)
    }

    fn report_tokens(&mut self) {
        if let Some(total) = self.transport.tokens_received() {
            self.setup.observer.tokens_received(total);
        }
    }

    /// Asks the observer whether a silent target is still there; if not, stops waiting for it.
    fn listen(&mut self, now: Nanos) {
        let heard = self.transport.heard().filter(|_| self.transport.in_flight() > 0);
        let silence = heard.map(|heard| now.saturating_sub(heard.max(self.woken)));
        if !self.silent && silence.is_some_and(|time| self.setup.observer.silent(time)) {
            self.silent = true;
            let at = self.stopped.map_or(now, |(_, at)| at);
            self.stopped = Some((Ending::TargetLost, at));
            self.sessions.break_off();
        }
    }

    /// The next turn that is due before the level's time is up.
    fn due_turn(&mut self, now: Nanos) -> Option<Thinking<T::Body>> {
        if self.slots.is_some() {
            // Where slots are scarce, a conversation that was due before goes first.
            let first = self.next_arrival.filter(|arrival| *arrival <= now);
            let waits = first.is_some_and(|arrival| Some(arrival) < self.sessions.next_due());
            if waits || !self.has_room() {
                return None;
            }
        }
        let up = self.time_limit().unwrap_or(Nanos::MAX);
        self.sessions.due(now.min(up.saturating_sub(1)))
    }

    /// Sends the turns that are due, until sending stops.
    fn go_on(&mut self, now: Nanos) -> Result<(), TransportError> {
        while !self.is_stopped()
            && let Some(thinking) = self.due_turn(now)
        {
            let (slot, due) = (thinking.slot, Due { at: thinking.due, slack: thinking.slack });
            if self.is_complete() {
                self.starve(due.at);
                self.stop_sending(Ending::Requests, due.at);
            } else {
                let index = self.next_index();
                let (turn, payload) = self.sessions.go_on(index, thinking);
                self.send(slot, due, Some(turn), payload)?;
            }
        }
        Ok(())
    }

    /// Waits for what is in flight: until all have ended when the level was bounded by requests,
    /// else for the drain time, after which the rest is censored.
    pub(crate) fn drain(&mut self) -> Result<(), TransportError> {
        let mut freed = Vec::new();
        while !self.is_quiet() {
            let (ending, at) = self.stopped.unwrap_or((Ending::Requests, self.started));
            let mut deadline = match ending {
                Ending::Requests => Nanos::MAX,
                _ => at.saturating_add(self.setup.plan.drain_ns),
            };
            if self.setup.stop.get() >= Stop::Sending {
                deadline = deadline.min(self.now().saturating_add(self.setup.plan.drain_ns));
                if ending == Ending::Requests {
                    // Everything was sent; the signal only limits the waiting.
                    self.stopped = Some((Ending::Interrupted, self.now()));
                }
            }
            let at_once = self.silent || self.setup.stop.get() == Stop::Now;
            if self.now() >= deadline || at_once {
                self.transport.censor(&mut self.ended);
                self.retries.give_up(&mut self.ended);
            }
            self.wait(deadline, &mut freed)?;
            for slot in freed.drain(..) {
                self.starve(slot.at);
            }
        }
        Ok(())
    }

    pub(crate) fn into_outcome(self) -> LevelOutcome {
        let now = self.transport.now();
        let client = ClientHealth {
            awaited_prompts_ns: self.awaited_prompts,
            awaited_records_ns: self.awaited_records,
            paused_ns: self.pauses.total,
            pauses: self.pauses.count,
            ..self.transport.take_health()
        };
        let (ending, sending_stopped) = self.stopped.unwrap_or((Ending::Requests, now));
        LevelOutcome {
            started: self.started,
            ended: now,
            sending_stopped,
            ending,
            starved: self.starved,
            planned: self.planned,
            issued: self.issued,
            warmup: self.warmup,
            taken: self.numbering.position(),
            client,
            agents: Vec::new(),
            failed: self.vitals.failed,
            lost: self.vitals.lost.filter(|_| ending == Ending::TargetLost),
            lost_to_agent: None,
        }
    }
}

/// Labels an ended request and passes it on.
fn finish(
    mut record: Box<RequestRecord>,
    stopped: Option<(Ending, Nanos)>,
    numbering: &Numbering,
    observer: &mut dyn Observer,
) {
    record.slot = numbering.slot(record.slot);
    if record.phase == Phase::Measured
        && let Some((ending, at)) = stopped
        && ending != Ending::Requests
        && record.end > at
    {
        record.phase = Phase::Drain;
    }
    observer.ended(record);
}
