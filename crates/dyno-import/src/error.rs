//! Why a file as a whole could not be read.

use dyno_form::file::FileError;
use dyno_model::Localized;
use std::path::PathBuf;

/// Why a file as a whole could not be read.
#[derive(Debug, Localized)]
pub enum ImportError {
    /// It cannot be read, or is too large.
    #[message(transparent)]
    File(#[from] FileError),
    /// It has no contents.
    #[message(
        "{} is empty; was the tool stopped before it wrote its results?",
        "{} 为空；该工具是否在写出结果之前被中止？",
        path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is compressed or an archive.
    #[message(
        "{} is compressed; unpack it, and import what is in it",
        "{} 是压缩文件；请解压后导入其中的文件",
        path.display()
    )]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// It contains no known results.
    #[message("`{name}` contains no results of a known tool", "`{name}` 不含已知工具的结果")]
    Unknown {
        /// The file, without its directory.
        name: String,
    },
}
