//! Twins of real systems: what is published of them, and what is fitted to it.

pub mod profile;
pub mod reference;

pub use profile::{Twin, TwinError};
