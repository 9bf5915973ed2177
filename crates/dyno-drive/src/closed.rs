//! The closed loop: a fixed number of slots, each of which sends when its previous response has ended.

use crate::arrivals::share;
use crate::running::{Freed, Level};
use crate::transport::{Transport, TransportError};
use dyno_model::Nanos;
use dyno_model::frame::Ending;

pub(crate) fn run<T: Transport + ?Sized>(
    level: &mut Level<'_, '_, T>,
    concurrency: u32,
) -> Result<(), TransportError> {
    let shard = level.setup.shard;
    let slots = share(u64::from(concurrency), shard) as u32;
    let planned = level.setup.plan.requests.map(|n| share(n, shard));
    level.start(slots as usize, planned)?;
    let first = |slot| Freed { slot, at: level.started, slack: 0, dropped: false };
    let mut freed: Vec<Freed> = (0..slots).map(first).collect();
    while !level.is_stopped() {
        for free in freed.drain(..) {
            let Freed { slot, at, dropped, .. } = free;
            if dropped {
                // Out of file descriptors or ports: retrying at once would only drop the rest, too.
                continue;
            }
            if level.is_stopped() {
                level.starve(at);
            } else if level.is_complete() {
                level.starve(at);
                level.stop_sending(Ending::Requests, at);
            } else if let Some(up) = level.time_limit().filter(|up| at >= *up) {
                level.starve(up);
                level.stop_sending(Ending::Duration, up);
            } else {
                level.dispatch(slot, free.due())?;
            }
        }
        if level.is_idle() && !level.is_stopped() {
            level.stop_sending(Ending::Aborted, level.now());
        }
        if !level.is_stopped() {
            level.wait(level.time_limit().unwrap_or(Nanos::MAX), &mut freed)?;
        }
    }
    level.drain()
}
