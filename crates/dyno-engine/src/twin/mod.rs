//! Twins of real systems: what is published of them, and what is fitted to it.

mod files;
pub mod profile;
pub mod reference;

pub use profile::{Twin, TwinError};
