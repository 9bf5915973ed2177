//! When requests are sent: seeded [`arrivals`], as many as their rate says ([`paced`]), one file per arrival model (`closed`, `open`,
//! `burst`), the conversations among them (`sessions`), and the `level` that they share. Requests
//! go through a [`Transport`], which may be a network client or a simulated engine, in a form that
//! it has made ahead of time ([`Prepare`], [`Lookahead`]): nothing here knows HTTP, JSON or a real
//! clock.

pub mod arrivals;
mod burst;
mod closed;
mod level;
mod lookahead;
mod open;
pub mod paced;
pub mod ramp;
mod running;
mod sessions;
mod slots;
mod stop;
mod transport;
mod work;

pub use level::{LevelOutcome, LevelSetup, Observer, run_level};
pub use lookahead::Lookahead;
pub use stop::{Stop, StopSignal};
pub use transport::{Body, Ended, Job, Lengths, Payload, Transport, TransportError};
pub use work::{Dialogue, NextTurn, Prepare, Sending, Supply, Work};
