//! The client against scripted sockets, byte by byte: responses that are split and merged, connections
//! that break, and connections that are reused.
//!
//! The test is also the server, and both alternate on one thread. So it is known what has been written
//! when the client polls, and nothing depends on how busy the machine is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod addresses;
mod broken;
mod desk;
mod early;
mod odd;
mod reuse;
mod side;
mod sources;
mod splits;
mod tls;
