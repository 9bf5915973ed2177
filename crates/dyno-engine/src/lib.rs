//! The embedded inference engine and its server.
//!
//! A [`Brain`] decides when tokens are due: a [`Script`], or continuous batching as in the twin of a
//! real system. A [`Fault`] makes a response wrong or unusual. The [`Server`] speaks the APIs
//! of real servers over HTTP, writes each token at its absolute due time and reports how late it was.
//!
//! `core` is continuous batching without a clock: [`virtual_time`] jumps to its next event, `live` runs it on the
//! real one, so both are the same engine. `script` and `slow_down` follow an exact schedule instead, and
//! `brain` hides which of the two a server uses. `server` has the sockets. `twin` reads twin files and the published tables
//! that twins were fitted to; both are TOML files in `twins/`, compiled in by the list in `twin/files.rs`. [`predicted`]
//! puts a twin in virtual time behind the drivers of a real run, in the place of a client. The client itself, and the
//! names of APIs, are not known here.

mod brain;
pub mod core;
mod live;
pub mod predicted;
mod script;
mod server;
mod slip;
mod slow_down;
pub mod twin;
pub mod virtual_time;

pub use brain::{Brain, TwinBrain};
pub use dyno_respond::api::direct::Transcript;
pub use dyno_respond::api::prompt::{Prompt, PromptError, prompt_of};
pub use dyno_respond::fault::{Fault, FaultInfo, Rate, When};
pub use live::{LiveEvent, LiveLog};
pub use script::Script;
pub use server::{EngineError, Running, Server, ServerOptions, StopHandle};
pub use slip::SlipReport;
pub use slow_down::SlowDown;
