//! The data model of a run: its [`plan`], the [`record`] of each arrival, the [`frame`]s of a record
//! file, the [`summary`], the registry of metrics, and units. Nothing here does I/O or reads a clock.
//!
//! What will be done is in `plan`, `load`, `arrival`, `course`, `ramp`, `prompt`, `recorded` and `limits`; what happened in
//! `record`, `outcome`, `frame`, `chunks`, `lag` and `server`; the results in `summary` and `verdict`. `metric` is
//! the registry of metrics, `diagnostic` the one type of message about results, `slo` the grammar of SLOs.

// For the macros that are used here, too.
extern crate self as dyno_model;

pub mod arrival;
pub mod budget;
pub mod chunks;
pub mod decision;
pub mod diagnostic;
pub mod environment;
pub mod finish;
pub mod fleet;
pub mod frame;
pub mod instrument;
pub mod lag;
mod language;
pub mod level_schedule;
pub mod limits;
pub mod load;
pub mod message;
pub mod metric;
pub mod nearest;
pub mod outcome;
pub mod plan;
pub mod prompt;
pub mod ramp;
pub mod record;
pub mod recorded;
pub mod run_entry;
pub mod server;
pub mod slo;
pub mod summary;
mod sure;
mod text_form;
pub mod tree;
pub mod units;
pub mod verdict;
pub mod versus;
pub mod when;

pub use decision::Decision;
pub use diagnostic::{Diagnostic, DiagnosticValue, Severity, Subject};
pub use language::Language;
pub use message::{Localized, Message, message};
pub use summary::{LevelSummary, Summary};
pub use sure::Sure;
pub use verdict::Verdict;

/// Monotonic nanoseconds since the start of the run.
pub type Nanos = u64;

/// One millisecond in [`Nanos`].
pub const MS: Nanos = 1_000_000;
/// One second in [`Nanos`].
pub const SEC: Nanos = 1_000_000_000;
