//! The core of the engine: cases computed by hand, a simple reference implementation, and properties.
#![allow(clippy::unwrap_used)]

mod by_hand;
mod plain_blocks;
mod properties;
mod reference;
mod scenario;
