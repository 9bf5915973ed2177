//! The engine's server over real sockets.
#![allow(clippy::unwrap_used)]

mod apis;
mod core;
mod failures;
mod http;
mod load;
mod outages;
mod quirks;
mod references;
mod replay;
mod schedule;
mod support;
mod twin;
mod twin_faults;
mod twin_metrics;
