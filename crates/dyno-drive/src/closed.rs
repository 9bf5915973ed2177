//! The closed loop: a fixed number of slots, each of which sends when its last answer is over.

use crate::arrivals::share;
use crate::level::Level;
use crate::transport::TransportError;
use dyno_core::Nanos;
use dyno_core::frame::Ending;

pub(crate) fn run(level: &mut Level<'_>, concurrency: u32) -> Result<(), TransportError> {
    let shard = level.setup.shard;
    let slots = share(u64::from(concurrency), shard) as u32;
    let planned = level.setup.plan.requests.map(|n| share(n, shard));
    level.start(slots as usize, planned)?;
    let mut freed: Vec<(u32, Nanos)> = (0..slots).map(|slot| (slot, level.started)).collect();
    while !level.is_stopped() {
        for (slot, intended) in freed.drain(..) {
            if level.is_stopped() {
                level.starve(intended);
            } else if planned.is_some_and(|n| level.issued >= n) {
                level.starve(intended);
                level.stop_sending(Ending::Requests, intended);
            } else if let Some(up) = level.time_limit().filter(|up| intended >= *up) {
                level.starve(up);
                level.stop_sending(Ending::Duration, up);
            } else {
                level.dispatch(slot, intended)?;
            }
        }
        if !level.is_stopped() {
            level.wait(level.time_limit().unwrap_or(Nanos::MAX), &mut freed)?;
        }
    }
    level.drain()
}
