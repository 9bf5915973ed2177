//! The client against sockets that do what a test says, byte by byte: what it makes of responses that
//! are split and merged, of connections that break, and of those that it would like to use again.
//!
//! The test is the server, too, and both take turns on one thread: what has been written when the
//! client looks is known, and nothing depends on how busy the machine is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod broken;
mod desk;
mod reuse;
mod side;
mod splits;
mod tls;
