//! What shows: summaries as text, layouts and a page; comparisons as tables. Charts are drawn in
//! `dyno-draw`. All of it is
//! pure: the same summary gives the same bytes. What computes belongs in `dyno-analysis`.
//!
//! `text` is the terminal's report. `layout` has every other format, a file and a row of its table each;
//! `selection` the columns and percentiles that tables of levels show; `compared` comparisons, `gate` the checks of one, `imported` what was read of other tools, `plan` plans, `page` the
//! HTML report (its script is in `assets/page/`), `messages` the texts that are not diagnostics, in English and Chinese.

mod alike;
pub mod compared;
pub mod gate;
pub mod imported;
pub mod layout;
pub mod lint;
mod marks;
mod messages;
pub mod page;
pub mod plan;
pub mod runs;
mod selection;
pub mod text;
mod trees;

pub use selection::{
    LevelColumn, ReportSelection, column_name, column_names, parse_column, parse_statistic,
};
pub use text::{TextOptions, render_brief, render_text};
