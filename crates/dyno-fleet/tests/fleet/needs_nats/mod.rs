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

use dyno_fleet::nats::{BusOptions, Given};
use dyno_testing::nats::Nats;

/// How to get into a server where nothing is needed.
fn open(server: &Nats) -> BusOptions {
    options(&Given { bus: server.url(), ..Given::default() })
}

/// Options without an environment.
fn options(given: &Given) -> BusOptions {
    BusOptions::new(given, |_| None).unwrap()
}
