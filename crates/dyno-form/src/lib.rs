//! The forms that files of results come in, whatever tool wrote them: JSON, YAML, comma-separated values,
//! SQLite, and printed text with its tables. What cannot be read is a
//! [`Diagnostic`](dyno_model::Diagnostic) with its place; everything has a limit. What the values mean is not
//! known here.

pub mod csv;
pub mod entries;
pub mod file;
pub mod json;
pub mod lines;
mod prefix;
pub mod sqlite;
pub mod table;
pub mod yaml;
