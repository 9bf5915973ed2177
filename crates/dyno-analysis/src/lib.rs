//! Computes results: [`summarise`] turns the frames of a run into a [`Summary`](dyno_model::Summary)
//! with a verdict on every level; [`lint`] checks summaries, [`compare`] compares them.
//! Everything is pure: the same run gives the same result. Presentation belongs in `dyno-report`.
//!
//! | folder or file | what | takes |
//! | --- | --- | --- |
//! | `source`, `run_dir` | frames, from a run directory or from memory | – |
//! | `aggregate` | metrics, findings (`judge`, and next to the metrics) and verdicts | frames |
//! | `detail`, `extras` | what charts of individual requests and some formats need beyond a summary | frames |
//! | `search`, `slo`, `decide` | the input of a search from measured levels; whether a level meets an SLO; whether a value is within its bound | summaries |
//! | `lint` | consistency checks that hold for any server, one file for each kind | summaries |
//! | `compare` | runs side by side: which levels, which metrics, the tests, the gate | summaries |

mod aggregate;
pub mod compare;
pub mod counts;
pub mod decide;
pub mod detail;
mod extras;
pub mod lint;
mod results;
mod run_dir;
pub mod search;
pub mod slo;
mod source;

pub use aggregate::{
    OutsideServer, for_each_record, level_plans, memory_growth, outside_server, request_times,
    running_level, summarise,
};
pub use detail::Detail;
pub use extras::extras;
pub use results::RunResults;
pub use run_dir::DirSource;
pub use source::{FrameSource, VecSource};
