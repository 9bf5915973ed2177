//! Twins of real systems, and the published measurements that they are fitted to.

mod files;
pub mod profile;
pub mod reference;

pub use profile::Twin;
