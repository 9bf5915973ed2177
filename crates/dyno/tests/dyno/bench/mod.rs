//! `dyno bench` and its friends as people run them: the real binary, real sockets, engines that
//! are told to misbehave, and servers written here where an engine is too well-behaved.
//!
//! The machine may be busy while these run, so nothing here asserts how fast something was. What the
//! verdict has to be follows from the ranges of the metrics (`verdict.rs`); where it is the point, runs are
//! slow enough for any machine, or disturbed on purpose (`verdicts.rs`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod agentic;
mod cache;
mod capped;
mod connect;
mod course;
mod data;
mod data_fields;
mod dialects;
mod dialects_agents;
mod discovery;
mod doctor;
mod endings;
pub(crate) mod engines;
mod faults;
mod fleet;
mod fleet_faults;
mod fleet_kinds;
mod fleet_pooled;
mod framing;
mod interrupts;
mod labels;
mod languages;
mod lengths;
mod live;
mod lookalikes;
mod metrics;
mod needs_nats;
mod needs_python;
mod nothing_lost;
mod overload;
pub(crate) mod place;
mod pooling;
mod predict;
mod preflight;
mod process;
mod ramps;
mod reports;
mod requests;
mod results;
mod resume;
mod same_bytes;
mod secrets;
mod sessions;
mod slo;
mod sources;
mod stamps;
mod summary;
mod tls;
mod traces;
mod trees;
mod twins;
mod verdict;
mod verdicts;
mod versus;
pub(crate) mod web;
mod workflows;
