//! Errors in twin files and twin names.

use super::SCHEMA;
use thiserror::Error;

/// Why a twin could not be loaded.
#[derive(Debug, Error)]
pub enum TwinError {
    /// Neither the name of a twin nor the path of a file.
    #[error(
        "there is no twin named `{name}`{}; `dyno twins` lists them, and your own file is given \
         by its path, such as ./{name}.toml",
        did_you_mean(near)
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names.
        near: Vec<&'static str>,
    },
    /// A file that cannot be read.
    #[error("cannot read the twin file {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Not TOML, or not the fields of a twin.
    #[error("twin file {file}, line {line}: {problem}")]
    Form {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// An unknown schema.
    #[error("twin {file} has the schema `{schema}`; this version of Dyno reads {SCHEMA}")]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        schema: String,
    },
}

fn did_you_mean(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => format!(" (did you mean {}?)", names.join(" or ")),
    }
}
