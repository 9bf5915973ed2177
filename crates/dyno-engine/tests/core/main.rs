//! The core of the engine: worked out by hand, against a plain reference, and as properties.
#![allow(clippy::unwrap_used)]

mod by_hand;
mod plain_blocks;
mod properties;
mod reference;
mod scenario;
