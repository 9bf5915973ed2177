//! The burst: sends everything at once, then waits for the last response. A warm-up is a separate
//! burst that ends before the measured one begins.

use crate::running::RunningLevel;
use crate::transport::{Transport, TransportError};
use dyno_model::Nanos;
use dyno_model::frame::Ending;

pub(crate) fn run<T: Transport + ?Sized>(
    level: &mut RunningLevel<'_, '_, T>,
    requests: u64,
) -> Result<(), TransportError>
where
    T::Body: Clone,
{
    let requests = level.own_requests(requests);
    let warmup = level.own_warmup();
    level.start(requests as usize, Some(requests))?;
    for _ in 0..warmup {
        if level.is_stopped() {
            break;
        }
        level.dispatch(0, level.started.into())?;
    }
    while !level.is_quiet() && !level.is_stopped() {
        level.wait(Nanos::MAX)?;
    }
    let start = if warmup > 0 { level.now() } else { level.started };
    for _ in 0..requests {
        if level.is_stopped() {
            break;
        }
        level.dispatch(0, start.into())?;
    }
    level.stop_sending(Ending::Requests, level.now());
    level.drain()
}
