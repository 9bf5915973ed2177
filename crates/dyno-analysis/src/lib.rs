//! Computes results: [`summarise`] turns the frames of a run into a [`Summary`](dyno_model::Summary)
//! with a verdict on every level; [`lint`] checks summaries, [`compare`] compares them.
//! Everything is pure: the same run gives the same result. Presentation belongs in `dyno-report`.

mod aggregate;
pub mod compare;
pub mod counts;
pub mod decide;
pub mod detail;
mod extras;
pub mod lint;
mod run_dir;
pub mod search;
pub mod slo;
mod source;

pub use aggregate::{
    OutsideServer, for_each_record, glimpse, level_plans, memory_growth, outside_server,
    request_times, summarise,
};
pub use detail::Detail;
pub use extras::extras;
pub use run_dir::DirSource;
pub use source::{FrameSource, VecSource};
