//! Agents and coordinators on a real NATS server (Debian's package `nats-server`).
//!
//! The agents are simulated: they follow the protocol, and "send" by counting. What they do in a level is
//! tested elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agents;
mod entry;
mod hostile;
mod killed;
mod lobby;
mod many;
mod outages;
mod run;
mod server;
