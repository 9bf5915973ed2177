//! The engine's server over real sockets.
#![allow(clippy::unwrap_used)]

mod failures;
mod http;
mod load;
mod quirks;
mod schedule;
mod support;
