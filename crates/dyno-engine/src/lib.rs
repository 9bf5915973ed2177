//! The embedded inference engine and its server.
//!
//! A [`Script`] says when tokens are due, a [`Fault`] says how an answer shall be wrong or odd,
//! and the [`Server`] speaks the OpenAI API over real HTTP, writes each token at its absolute due
//! time and tells how late it was.

mod fault;
mod openai;
mod script;
mod server;
mod slip;

pub use fault::{Fault, FaultError, FaultInfo};
pub use script::{Script, ScriptError};
pub use server::{EngineError, Running, Server, ServerOptions, StopHandle};
