//! Why a file as a whole could not be read.

use crate::LARGEST_FILE;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file as a whole could not be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// It is larger than any result should be.
    #[error(
        "{} is larger than {} MiB; pass a file of results, or split it",
        path.display(),
        LARGEST_FILE >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
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
