//! Waiting: what a level does while requests are in flight. Records are passed on, turns that are due are
//! sent, and the reasons to stop are looked at.

use super::ending::finish;
use super::{Freed, RunningLevel};
use crate::refusal::Refusal;
use crate::stop::Stop;
use crate::transport::{Transport, TransportError};
use crate::turns::DueTurn;
use dyno_model::Nanos;
use dyno_model::frame::Ending;
use dyno_model::outcome::Outcome;
use dyno_model::plan::Load;

impl<T: Transport + ?Sized> RunningLevel<'_, '_, T>
where
    T::Body: Clone,
{
    /// Waits until a request has ended or `until`; passes the records on, notes the slots that became free,
    /// and sends what is due besides arrivals.
    pub(crate) fn wait(&mut self, until: Nanos) -> Result<(), TransportError> {
        self.since_read = 0;
        if self.ended.is_empty() && self.freed.is_empty() {
            let patience = self.transport.max_wait();
            let until = until.min(self.transport.now().saturating_add(patience));
            self.skip_idle_time();
            let turn = self.turns.next_due().filter(|_| self.has_room());
            let until = until.min(turn.unwrap_or(Nanos::MAX));
            let until = until.min(self.retries.next_due().unwrap_or(Nanos::MAX));
            self.transport.wait(until, &mut self.ended)?;
        }
        let now = self.pass_on();
        self.send_waiting(now)
    }

    /// Passes the records of ended requests on and looks at the reasons to stop. Sends nothing, so that it
    /// can be done between any two requests; returns when it was done.
    pub(super) fn pass_on(&mut self) -> Nanos {
        let now = self.transport.now();
        if let Some(up) = self.time_limit()
            && now >= up
            && !self.setup.plan.load.is_open()
        {
            self.stop_sending(Ending::Duration, up);
        }
        let before = self.transport.now();
        self.vitals.received(self.transport.tokens_received().unwrap_or(0), now);
        let closed = matches!(self.setup.plan.load, Load::Concurrency { .. });
        for ended in self.ended.drain(..) {
            self.vitals.ended(&ended.record);
            let Some(ended) = self.retries.ended(ended) else { continue };
            let goes_on = self.turns.ended(&ended);
            let record = ended.record;
            self.quiet_since = self.quiet_since.max(record.end);
            if let Some(slots) = &mut self.slots {
                slots.free(record.end);
            }
            if !goes_on && closed {
                let dropped = matches!(record.outcome, Outcome::Dropped(_));
                let slack = record.widths.map_or(0, |widths| widths.end);
                let refusal = Refusal::of(&record);
                let slot = record.slot;
                self.freed.push(Freed { slot, at: record.end, slack, dropped, refusal });
            }
            finish(record, self.stopped, &self.numbering, &mut self.setup);
        }
        self.awaited_records += self.transport.now().saturating_sub(before);
        let alone = !self.setup.on_failure.seen_by_others;
        if self.vitals.lost.as_ref().is_some_and(|lost| lost.unreachable || alone) {
            self.stop_sending(Ending::TargetLost, now);
        }
        if self.setup.on_failure.at_most.is_some_and(|most| self.vitals.failed >= most) {
            self.stop_sending(Ending::MaxFailures, now);
        }
        let interrupted = self.setup.stop.get() >= Stop::Sending;
        if interrupted {
            self.stop_sending(Ending::Interrupted, now);
        }
        self.setup.observer.in_flight(self.transport.in_flight());
        self.report_tokens();
        self.listen(now);
        if self.setup.recorder.must_stop() {
            self.stop_sending(Ending::Aborted, now);
        }
        if !self.is_stopped() && self.setup.recorder.has_converged(now) {
            self.stop_sending(Ending::Stable, now);
        }
        // Also where everything was sent before the signal came.
        if interrupted || self.stopped.is_some_and(|(ending, _)| !ending.carried_out()) {
            self.retries.give_up(&mut self.ended);
        }
        now
    }

    /// Sends again what is due to be, and the turns that are due.
    pub(super) fn send_waiting(&mut self, now: Nanos) -> Result<(), TransportError> {
        while let Some(job) = self.retries.due(now) {
            self.hand_over(job)?;
        }
        self.go_on(now)
    }

    pub(super) fn report_tokens(&mut self) {
        if let Some(total) = self.transport.tokens_received() {
            self.setup.observer.tokens_received(total);
        }
    }

    /// Asks the recorder whether a silent target is still there; if not, stops waiting for it.
    fn listen(&mut self, now: Nanos) {
        let heard = self.transport.last_received().filter(|_| self.transport.in_flight() > 0);
        let silence = heard.map(|heard| now.saturating_sub(heard.max(self.woken)));
        if !self.silent && silence.is_some_and(|time| self.setup.recorder.silent(time)) {
            self.silent = true;
            let at = self.stopped.map_or(now, |(_, at)| at);
            self.stopped = Some((Ending::TargetLost, at));
            self.turns.break_off();
        }
    }

    /// Brings what is due nearer where nothing has been in flight for too long, and nothing else comes before.
    fn skip_idle_time(&mut self) {
        let Some(most) = self.setup.max_idle.filter(|_| self.is_quiet() && self.pauses.is_empty())
        else {
            return;
        };
        let until = self.quiet_since.max(self.started).saturating_add(most).max(self.now());
        if self.next_arrival.is_none_or(|arrival| arrival > until) {
            self.skipped_idle += self.turns.hasten(until);
        }
    }

    /// The next turn that is due before the level's time is up.
    fn due_turn(&mut self, now: Nanos) -> Option<DueTurn> {
        if self.slots.is_some() {
            // Where slots are scarce, a conversation that was due before goes first.
            let first = self.next_arrival.filter(|arrival| *arrival <= now);
            let waits = first.is_some_and(|arrival| Some(arrival) < self.turns.next_due());
            if waits || !self.has_room() {
                return None;
            }
        }
        let up = self.time_limit().unwrap_or(Nanos::MAX);
        self.turns.due(now.min(up.saturating_sub(1)))
    }

    /// Sends the turns that are due, until sending stops.
    pub(super) fn go_on(&mut self, now: Nanos) -> Result<(), TransportError> {
        while !self.is_stopped()
            && let Some(due) = self.due_turn(now)
        {
            if self.is_complete() {
                self.starve(due.at);
                self.stop_sending(Ending::Requests, due.at);
            } else {
                self.send_turn(&due)?;
            }
        }
        Ok(())
    }
}
