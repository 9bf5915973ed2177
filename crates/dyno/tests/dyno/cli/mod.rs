//! The real binary: help pages, usage errors, runs, and the engine as a process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod chinese;
mod common;
mod engine;
mod first_minutes;
mod help;
mod import;
mod runs;
mod wrong_usage;
