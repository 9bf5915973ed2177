//! A comparison as a table for a terminal or a document and as rows for a spreadsheet, with its
//! remarks.

mod rows;
mod text;
mod words;

pub use rows::rows;
pub(crate) use text::{cells, remarks, title};
pub use text::{markdown, table};
pub use words::{answer, caveats, check_line, missing_line};
