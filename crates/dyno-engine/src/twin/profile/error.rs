//! What can be wrong with a twin or its name.

use super::SCHEMA;
use thiserror::Error;

/// Why there is no such twin.
#[derive(Debug, Error)]
pub enum TwinError {
    /// Neither the name of a twin nor the path of a file.
    #[error(
        "no twin is called `{name}`{}; `dyno twins` lists them, and a file of your own is given \
         by its path, such as ./{name}.toml",
        did_you_mean(near)
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names that look like it.
        near: Vec<&'static str>,
    },
    /// A file that cannot be read.
    #[error("cannot read the twin {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Not TOML, or not the fields of a twin.
    #[error("twin {file}, line {line}: {problem}")]
    Form {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// Of a form that is not known.
    #[error("twin {file} is of the form `{schema}`; this version of Dyno reads {SCHEMA}")]
    Schema {
        /// The file.
        file: String,
        /// The form that it says it has.
        schema: String,
    },
}

fn did_you_mean(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => format!(" (did you mean {}?)", names.join(" or ")),
    }
}
