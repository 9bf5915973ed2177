//! Decides when requests are sent: seeded [`arrivals`] with exact counts ([`paced`]), one file per
//! arrival model (`closed`, `open`, `burst`), turns that wait for each
//! other (`turns`, made ahead by `trees`), a cap on what is in flight
//! (`slots`), the part of one of several load generators (`share`, `numbering`) and their common
//! start (`gate`), what follows a refusal (`refusal`, `retries`, `vitals`), and the `level` that they
//! share. Requests go through a [`Transport`], which is a network client or a simulated engine, in a
//! form that was prepared ahead of time ([`Prepare`], [`Lookahead`]). Nothing here knows HTTP, JSON or
//! a real clock.

pub mod arrivals;
mod burst;
mod closed;
mod gate;
mod level;
mod lookahead;
mod numbering;
mod open;
mod own;
pub mod paced;
pub mod ramp;
mod refusal;
mod retries;
mod running;

mod share;
mod slots;
mod stop;
mod transport;
mod trees;
mod turns;
mod vitals;
mod work;

pub use gate::StartGate;
pub use level::{LevelOutcome, LevelRecorder, LevelSetup, Observer, OnFailure, run_level};
pub use lookahead::Lookahead;
pub use retries::Retry;
pub use share::Share;
pub use stop::{Stop, StopSignal};
pub use transport::{Body, Ended, Job, Payload, RequestedLengths, Transport, TransportError};
pub use vitals::LostTarget;
pub use work::{
    Prepare, Sending, Supply, TreePrompt, TreePrompts, TurnRequest, TurnRequests, Turns, Work,
};
