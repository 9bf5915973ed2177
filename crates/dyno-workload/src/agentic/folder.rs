//! The files that a path names: itself, or all files of a folder in the order of their names.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use dyno_model::{Message, message};

use crate::data::DataError;

/// How many files a folder may hold.
const MOST_FILES: usize = 1_000_000;
/// How deep folders are looked into.
const DEEPEST: usize = 16;

/// The files at a path. Hidden ones and links to folders are passed over.
pub fn files_at(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    let mut folders = VecDeque::from([(path.to_path_buf(), 0_usize)]);
    while let Some((folder, depth)) = folders.pop_front() {
        let failed = |source| DataError::Read { path: Message::quoted(folder.display()), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            match entry.path() {
                below if kind.is_dir() && depth < DEEPEST => folders.push_back((below, depth + 1)),
                file if file.is_file() => found.push(file),
                _ => {}
            }
            if found.len() > MOST_FILES {
                return Err(DataError::Table {
                    path: Message::quoted(path.display()),
                    what: message!(
                        "it has more than {MOST_FILES} files",
                        "其中的文件超过 {MOST_FILES} 个"
                    ),
                    fix: message!("name a folder in it", "请指定其中的一个文件夹"),
                });
            }
        }
    }
    found.sort();
    Ok(found)
}
