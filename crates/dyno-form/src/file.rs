//! A file as bytes, up to a size that no results should exceed.

use dyno_model::Localized;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST_FILE: u64 = 512 << 20;

/// Why a file could not be read.
#[derive(Debug, Localized)]
pub enum FileError {
    /// It cannot be opened or read.
    #[message("cannot read {}: {source}", "无法读取 {}：{source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// It is larger than any result should be.
    #[message(
        "{} is larger than {} MiB; pass a file of results, or split it",
        "{} 超过 {} MiB；请传入结果文件，或将其拆分",
        path.display(),
        LARGEST_FILE >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

impl FileError {
    /// The file at `path` cannot be opened or read.
    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Unreadable { path: path.to_owned(), source }
    }
}

/// The bytes of a file, unless it is larger than any result should be.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let file = std::fs::File::open(path).map_err(FileError::unreadable(path))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(FileError::unreadable(path))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}
