//! The seeds of the fuzz targets, which tests read, cut and change, too.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// Where those of a target are.
pub(crate) fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target)
}

/// Those of a target by name.
pub(crate) fn of(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(target)).unwrap().map(Result::unwrap);
    let seed = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    let mut seeds: Vec<_> = entries.map(seed).collect();
    seeds.sort();
    seeds
}
