//! The engine's server over real sockets, and the engine behind drivers in virtual time.
#![allow(clippy::unwrap_used)]

mod apis;
mod conversations;
mod core;
mod failures;
mod http;
mod load;
mod outages;
mod prompts;
mod quirks;
mod references;
mod replay;
mod schedule;
mod support;
mod twin;
mod twin_faults;
mod twin_metrics;
