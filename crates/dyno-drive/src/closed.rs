//! The closed loop: a fixed number of slots, each of which sends when its previous response has ended,
//! or a while later if it was refused.

use crate::refusal::Pauses;
use crate::running::{Due, Freed, RunningLevel};
use crate::transport::{Transport, TransportError};
use dyno_model::Nanos;
use dyno_model::frame::Ending;

pub(crate) fn run<T: Transport + ?Sized>(
    level: &mut RunningLevel<'_, '_, T>,
    concurrency: u32,
) -> Result<(), TransportError>
where
    T::Body: Clone,
{
    let slots = level.share.of_slots(u64::from(concurrency)) as u32;
    let planned = level.setup.plan.requests.map(|n| level.own_requests(n));
    level.start(slots as usize, planned)?;
    if slots == 0 {
        level.stop_sending(Ending::Requests, level.started);
    }
    level.pauses = Pauses::new(slots);
    let first = |slot| Freed { slot, at: level.started, slack: 0, dropped: false, refusal: None };
    let mut freed: Vec<Freed> = (0..slots).map(first).collect();
    while !level.is_stopped() {
        for free in freed.drain(..) {
            // Out of file descriptors or ports: retrying at once would only drop the rest, too.
            if !free.dropped && !level.pauses.holds(&free) {
                send_next(level, free.slot, free.due())?;
            }
        }
        while let Some((slot, due)) = level.pauses.over(level.now()) {
            send_next(level, slot, due)?;
        }
        if level.is_idle() && level.freed.is_empty() && !level.is_stopped() {
            let ending = if level.exhausted { Ending::Requests } else { Ending::Aborted };
            level.stop_sending(ending, level.now());
        }
        if level.is_complete() && !level.pauses.is_empty() {
            // A slot that waits would find nothing left to send.
            level.starve(level.now());
            level.stop_sending(Ending::Requests, level.now());
        }
        if !level.is_stopped() {
            let over = level.pauses.next_over().unwrap_or(Nanos::MAX);
            level.wait(level.time_limit().unwrap_or(Nanos::MAX).min(over))?;
        }
        std::mem::swap(&mut freed, &mut level.freed);
    }
    level.pauses.end(level.now());
    level.drain()
}

/// A slot sends its next request, unless there is none.
fn send_next<T: Transport + ?Sized>(
    level: &mut RunningLevel<'_, '_, T>,
    slot: u32,
    due: Due,
) -> Result<(), TransportError>
where
    T::Body: Clone,
{
    if level.is_stopped() {
        level.starve(due.at);
    } else if level.is_complete() {
        level.starve(due.at);
        level.stop_sending(Ending::Requests, due.at);
    } else if let Some(up) = level.time_limit().filter(|up| due.at >= *up) {
        level.starve(up);
        level.stop_sending(Ending::Duration, up);
    } else {
        level.dispatch(slot, due)?;
    }
    Ok(())
}
