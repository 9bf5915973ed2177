//! Why a file as a whole could not be read.

use dyno_form::file::FileError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file as a whole could not be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It cannot be read, or is too large.
    #[error(transparent)]
    File(#[from] FileError),
    /// It has no contents.
    #[error("{} is empty; was the tool stopped before it wrote its results?", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is compressed or an archive.
    #[error("{} is compressed; unpack it, and import what is in it", path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// It contains no known results.
    #[error("`{name}` contains no results of a known tool")]
    Unknown {
        /// The file, without its directory.
        name: String,
    },
}
