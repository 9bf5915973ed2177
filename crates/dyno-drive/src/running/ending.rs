//! How a level ends: sending stops, arrivals that still wait get their records, what is in flight drains,
//! and the outcome.

use super::{Freed, RunningLevel};
use crate::level::{LevelOutcome, LevelSetup};
use crate::numbering::Numbering;
use crate::stop::Stop;
use crate::transport::{Payload, Transport, TransportError};
use crate::turns::{DueTurn, PlaceOfTurn};
use dyno_model::frame::{ClientHealth, Ending, LevelEnd};
use dyno_model::outcome::Outcome;
use dyno_model::plan::Load;
use dyno_model::record::{Phase, RequestRecord};
use dyno_model::{Nanos, SEC};

/// How long an interrupted level may take to record what still waits.
const LEAVING: Nanos = SEC;

impl<T: Transport + ?Sized> RunningLevel<'_, '_, T>
where
    T::Body: Clone,
{
    /// Sending is over; only the first reason counts.
    pub(crate) fn stop_sending(&mut self, ending: Ending, at: Nanos) {
        if self.stopped.is_none() {
            self.stopped = Some((ending, at));
            // Turns that were due and waited for a slot. Others are cut off while their user thinks.
            while self.keeps_waiting()
                && let Some(due) = at.checked_sub(1).and_then(|until| self.turns.due(until))
            {
                self.leave_waiting(due.slot, due.at, self.turns.place(&due, None));
            }
        }
        self.turns.break_off();
    }

    /// Whether arrivals that are due and still wait for a slot get a record, now that nothing is
    /// sent any more.
    fn keeps_waiting(&self) -> bool {
        let ending = self.stopped.map(|(ending, _)| ending);
        // Those of a client that is too late are only counted: they are part of the plan.
        let kept = !matches!(ending, Some(Ending::Aborted | Ending::BehindSchedule));
        self.slots.is_some() && !self.is_complete() && kept
    }

    /// Records the arrivals that were due and waited for a slot when sending stopped.
    pub(crate) fn leave_all_waiting(&mut self, dues: impl Iterator<Item = Nanos>) {
        let stopped = self.stopped.map_or(0, |(_, at)| at);
        for due in dues.take_while(|due| *due < stopped) {
            // There may be millions of them, and the user who interrupts the run does not wait for that.
            let hurried = self.setup.stop.get() >= Stop::Sending
                && self.now().saturating_sub(stopped) > LEAVING;
            if !self.keeps_waiting() || hurried {
                break;
            }
            self.leave_waiting(0, due, None);
        }
    }

    /// Records an arrival that was never sent.
    fn leave_waiting(&mut self, slot: u32, due: Nanos, place: Option<PlaceOfTurn>) {
        let mut record = self.unsent(slot, due, place);
        record.end = self.stopped.map_or(due, |(_, at)| at.max(due));
        finish(record, self.stopped, &self.numbering, &mut self.setup);
    }

    /// Records a turn that is longer than the context of the server, which ends its tree.
    pub(super) fn leave_overflow(
        &mut self,
        due: &DueTurn,
        place: PlaceOfTurn,
        payload: &Payload<T::Body>,
    ) {
        let mut record = self.unsent(due.slot, due.at, Some(place));
        record.requested_input = payload.lengths.input;
        record.requested_output = payload.lengths.output;
        record.outcome = Outcome::Dropped(Outcome::OVERFLOW.to_owned());
        record.end = self.now().max(due.at);
        if !self.turns.end_tree(due) && matches!(self.setup.plan.load, Load::Concurrency { .. }) {
            let (slot, at) = (due.slot, record.end);
            self.freed.push(Freed { slot, at, slack: 0, dropped: false, refusal: None });
        }
        finish(record, self.stopped, &self.numbering, &mut self.setup);
    }

    /// The record of an arrival that was not sent.
    fn unsent(&mut self, slot: u32, due: Nanos, place: Option<PlaceOfTurn>) -> Box<RequestRecord> {
        let index = self.next_index();
        let phase = self.count(due);
        let mut record = RequestRecord::new(self.setup.level, index, slot, phase, due);
        if let Some(place) = place {
            (record.turn, record.tree) = (Some(place.turn), place.tree);
        }
        Box::new(record)
    }

    /// Waits for what is in flight: until all have ended when the level was bounded by requests,
    /// else for the drain time, after which the rest is censored.
    pub(crate) fn drain(&mut self) -> Result<(), TransportError> {
        self.freed.clear();
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
            self.wait(deadline)?;
            if let Some(first) = self.freed.first().map(|slot| slot.at) {
                self.starve(first);
            }
            self.freed.clear();
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
            behind_ns: self.behind,
            skipped_idle_ns: self.skipped_idle,
            ..self.transport.take_health()
        };
        let (ending, sending_stopped) = self.stopped.unwrap_or((Ending::Requests, now));
        LevelOutcome {
            started: self.started,
            end: LevelEnd {
                sending_stopped,
                starved: self.starved,
                planned: self.planned,
                issued: self.issued,
                warmup: self.warmup + self.warmed,
                client,
                ..LevelEnd::at(self.setup.level, ending, now)
            },
            taken: self.numbering.position(),
            failed: self.vitals.failed,
            lost: self.vitals.lost.filter(|_| ending == Ending::TargetLost),
            lost_to_agent: None,
        }
    }
}

/// Labels an ended request and passes it on.
pub(super) fn finish(
    mut record: Box<RequestRecord>,
    stopped: Option<(Ending, Nanos)>,
    numbering: &Numbering,
    setup: &mut LevelSetup<'_>,
) {
    record.slot = numbering.slot(record.slot);
    if record.phase == Phase::Measured
        && let Some((ending, at)) = stopped
        && ending != Ending::Requests
        && record.end > at
    {
        record.phase = Phase::Drain;
    }
    setup.observer.ended(&record);
    setup.recorder.record(record);
}
