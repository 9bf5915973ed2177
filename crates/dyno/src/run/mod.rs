//! The glue between the crates: opens the target, runs the levels of a plan on it, and hands
//! every frame to whoever keeps them.

pub(crate) mod embedded;
pub(crate) mod levels;
pub(crate) mod metrics;
pub(crate) mod predicted;
pub(crate) mod signals;
pub(crate) mod target;
pub(crate) mod tokenize;
pub(crate) mod watch;
pub(crate) mod workload;
