//! What can be wrong with a reference file.

use super::SCHEMA;
use thiserror::Error;

/// Why a reference could not be read.
#[derive(Debug, Error)]
pub enum ReferenceError {
    /// Not TOML, or not the fields of a reference.
    #[error("reference `{file}`: {source}")]
    Form {
        /// The file.
        file: String,
        /// What is wrong with it, and where.
        source: toml::de::Error,
    },
    /// An unknown schema.
    #[error("reference `{file}` has the schema `{schema}`; this version reads {SCHEMA}")]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        schema: String,
    },
    /// Its name is not that of its file.
    #[error("reference `{file}` is named `{name}`; give it the name of its file")]
    Name {
        /// The file.
        file: String,
        /// Its name.
        name: String,
    },
    /// A row contradicts itself.
    #[error("reference `{file}`, row {row}: {problem}")]
    Row {
        /// The file.
        file: String,
        /// The row, counted from 1.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
}
