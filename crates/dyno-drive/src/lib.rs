//! When requests are sent: seeded [`arrivals`], one file per arrival model (`closed`, `open`,
//! `burst`), and the `level` that they share. Requests go through a [`Transport`], which may
//! be a network client or a simulated engine: nothing here knows HTTP, JSON or a real clock.

pub mod arrivals;
mod burst;
mod closed;
mod level;
mod lookahead;
mod open;
mod stop;
mod transport;

pub use level::{LevelOutcome, LevelSetup, Observer, run_level};
pub use lookahead::Lookahead;
pub use stop::{Stop, StopSignal};
pub use transport::{Job, Payload, Transport, TransportError};
