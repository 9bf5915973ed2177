//! Runs as a library makes them.

mod addresses;
mod apis;
mod in_process;
mod needs_nats;
mod orders;
