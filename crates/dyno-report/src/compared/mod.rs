//! A comparison as people read it: a table for a terminal or a document, rows for a spreadsheet,
//! and what is said beside them.

mod names;
mod rows;
mod text;
mod words;

pub(crate) use names::elided;
pub use rows::rows;
pub(crate) use text::{cells, remarks, title};
pub use text::{markdown, table};
pub use words::{answer, check_line};
