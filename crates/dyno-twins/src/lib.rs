//! Twins for people: measured runs become the material of a fit, and what is found is told in English
//! and Chinese. Everything returns texts; flags, files and printing are the caller's, the search itself
//! is in `dyno-fit`.

mod fit;
mod imported;
mod measured;
mod shown;

pub use fit::{About, FittedTwin, Job, Wanted, prepare};
pub use measured::Measured;
pub use shown::{list, show, verified};
