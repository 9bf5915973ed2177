//! Holds a prepared level back until it may start, where several load generators start together.

use crate::running::RunningLevel;
use crate::stop::Stop;
use crate::transport::{Transport, TransportError};
use dyno_model::Nanos;

/// Decides when a level starts.
pub trait StartGate {
    /// Everything is prepared: prompts are encoded and connections are open. Returns when the level
    /// starts, on the transport's clock; `None`: it does not. May block; nothing is in flight.
    fn ready(&mut self) -> Option<Nanos>;
}

/// What the gate said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// There is none: the level starts at once.
    Free,
    /// The level starts at this time, which has come.
    At(Nanos),
    /// The level does not start.
    Never,
}

impl<T: Transport + ?Sized> RunningLevel<'_, '_, T>
where
    T::Body: Clone,
{
    /// Waits at the gate.
    pub(crate) fn pass_gate(&mut self) -> Result<Opening, TransportError> {
        let Some(gate) = self.setup.gate.take() else { return Ok(Opening::Free) };
        let Some(at) = gate.ready() else { return Ok(Opening::Never) };
        while self.now() < at {
            if self.setup.stop.get() >= Stop::Sending {
                return Ok(Opening::Never);
            }
            self.idle_until(at)?;
        }
        Ok(Opening::At(at))
    }
}
