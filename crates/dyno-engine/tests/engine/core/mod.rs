//! The core of the engine: cases computed by hand, a simple reference implementation, and properties.
#![allow(clippy::unwrap_used)]

mod ahead_by_hand;
mod by_hand;
mod plain_blocks;
mod plain_front;
mod properties;
mod reference;
mod scenario;
