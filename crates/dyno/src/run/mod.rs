//! The glue between the crates: opens the target, runs the levels of a plan on it, and hands
//! every frame to whoever keeps them.

pub(crate) mod course;
pub(crate) mod embedded;
pub(crate) mod enough;
pub(crate) mod estimate;
pub(crate) mod journey;
pub(crate) mod levels;
pub(crate) mod metrics;
pub(crate) mod navigate;
pub(crate) mod past;
pub(crate) mod predicted;
mod pulse;
mod recording;
pub(crate) mod signals;
pub(crate) mod target;
pub(crate) mod tokenize;
pub(crate) mod turns;
pub(crate) mod watch;
pub(crate) mod workload;
