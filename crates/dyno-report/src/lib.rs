//! From the records of a run to what people read: [`summarise`] turns frames into a
//! [`Summary`] with a verdict on every level, and [`render_text`] prints it. Both are pure: the
//! same run gives the same bytes.

mod aggregate;
pub mod chart;
pub mod compare;
pub mod counts;
pub mod detail;
pub mod escape;
pub mod findings;
pub mod layout;
pub mod lint;
pub mod messages;
pub mod page;
pub mod run_dir;
pub mod search;
pub mod slo;
pub mod source;
pub mod summary;
pub mod text;
pub mod verdict;

pub use aggregate::{glimpse, level_plans, memory_growth, summarise};
pub use detail::Detail;
pub use findings::{Finding, Reason};
pub use run_dir::DirSource;
pub use source::{FrameSource, VecSource};
pub use summary::{LevelSummary, Summary};
pub use text::{TextOptions, render_brief, render_text};
pub use verdict::Verdict;
