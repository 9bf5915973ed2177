//! Twins for people: measured runs become the material of a fit or a check, and what is found is told in
//! English and Chinese. Everything returns texts or messages; flags, files and printing are the caller's, the search
//! itself is in `dyno-fit`.

mod check;
mod fit;
mod imported;
mod levels;
mod measured;
mod read;
mod server;
mod shown;
mod trials;
mod usable;

pub use check::{CheckedTwin, check};
pub use fit::{AboutTwin, FitJob, FitRefused, FitWanted, FittedTwin, Source, prepare};
pub use measured::MeasuredRun;
pub use shown::{list, show, verified};
pub use trials::{Recorded, recorded};
