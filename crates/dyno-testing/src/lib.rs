//! What tests of several crates share. Only tests and `xtask` use it; what a single crate's tests share stays
//! there. Everything here panics where a test cannot go on.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

#[cfg(feature = "runs")]
pub mod agents;
#[cfg(feature = "runs")]
pub mod forest;
pub mod given;
pub mod line_of_text;
pub mod nats;
pub mod process;
#[cfg(feature = "runs")]
pub mod runs;
#[cfg(feature = "runs")]
pub mod soak;
#[cfg(feature = "tokenizers")]
pub mod tokenizers;
