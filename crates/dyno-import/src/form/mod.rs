//! The forms that files come in, whatever tool wrote them: JSON, YAML, comma-separated values, SQLite.
//! Printed text is in `text`.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod sqlite;
pub(crate) mod yaml;
