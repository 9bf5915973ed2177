//! The embedded inference engine and its server.
//!
//! A [`Brain`] decides when tokens are due: a [`Script`], or continuous batching as in the twin of a
//! real system. A [`Fault`] makes a response wrong or unusual. The [`Server`] speaks the APIs
//! of real servers over HTTP, writes each token at its absolute due time and reports how late it was.

mod brain;
pub mod core;
mod live;
mod script;
mod server;
mod slip;
mod slow_down;
pub mod twin;
pub mod virtual_time;

pub use brain::{Brain, TwinBrain};
pub use dyno_respond::api::direct::Transcript;
pub use dyno_respond::api::prompt::{Prompt, PromptError, prompt_of};
pub use dyno_respond::fault::{Fault, FaultError, FaultInfo, Rate, When};
pub use live::{LiveEvent, LiveLog};
pub use script::{Script, ScriptError};
pub use server::{EngineError, Running, Server, ServerOptions, StopHandle};
pub use slip::SlipReport;
pub use slow_down::{SlowDown, SlowDownError};
