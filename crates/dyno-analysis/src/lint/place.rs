//! Where results were read, so that a finding names the file of its rows: a run may be read from several.

use dyno_model::diagnostic::CatalogueRow;
use dyno_model::summary::Summary;
use std::path::{Path, PathBuf};

/// Results, and where they were read.
#[derive(Debug, Clone)]
pub struct Read<'a> {
    /// The results.
    pub summary: &'a Summary,
    /// Where they were read.
    pub place: StatedPlace,
}

/// Where results were read. Results name their files without this.
#[derive(Debug, Clone)]
pub enum StatedPlace {
    /// Not known: files are named as in the results.
    Unknown,
    /// From this file.
    File(PathBuf),
    /// From files below this folder.
    Folder(PathBuf),
    /// From what was saved here of files that are elsewhere.
    Saved(PathBuf),
}

impl StatedPlace {
    /// The place of results that name a file and were found at a path.
    pub fn of(path: &Path, file: &str) -> Self {
        let path = path.to_owned();
        let is_below = !file.is_empty() && path.join(file).exists();
        let is_it = Path::new(file).file_name() == path.file_name();
        match () {
            () if path.is_dir() && is_below => Self::Folder(path),
            () if path.is_file() && is_it => Self::File(path),
            () => Self::Saved(path),
        }
    }

    /// The path of a file that results name.
    fn path(&self, file: &str) -> String {
        match self {
            Self::Unknown => file.to_owned(),
            Self::Folder(folder) => {
                let path = folder.join(file);
                path.strip_prefix(".").unwrap_or(&path).display().to_string()
            }
            Self::File(path) | Self::Saved(path) => path.display().to_string(),
        }
    }
}

impl Read<'_> {
    /// The file in which it starts; nothing for Dyno's own runs.
    pub(super) fn file(&self) -> Option<String> {
        let origin = self.summary.run.origin.as_ref()?;
        Some(self.place.path(&origin.file))
    }

    /// The file of rows, and the rows. If they are in several files, it is that of the first, and each
    /// row names its own; so do rows whose files are elsewhere.
    pub(super) fn located(&self, rows: &[CatalogueRow]) -> (Option<String>, Vec<CatalogueRow>) {
        let Some(origin) = &self.summary.run.origin else { return (None, rows.to_vec()) };
        let named = |row: &CatalogueRow| row.file.clone().unwrap_or_else(|| origin.file.clone());
        let files: Vec<String> = rows.iter().map(named).collect();
        let first = files.first().unwrap_or(&origin.file);
        let is_saved = matches!(self.place, StatedPlace::Saved(_));
        let each = is_saved || files.iter().any(|file| file != first);
        let row = |(row, file): (&CatalogueRow, &String)| {
            let file = if is_saved { file.clone() } else { self.place.path(file) };
            CatalogueRow { file: each.then_some(file), ..row.clone() }
        };
        let rows = rows.iter().zip(&files).map(row).collect();
        (Some(self.place.path(first)), rows)
    }
}
