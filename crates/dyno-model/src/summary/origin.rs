//! The origin of imported results.

use crate::Sure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tool and the file that a run was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `guidellm`, `evalscope`, `vllm`, `sglang`, `aiperf`, `lmdeploy`.
    pub tool: String,
    /// Its layout or file format: `table`, `block`, `pivot`, `matrix`, `json`, ...
    pub form: String,
    /// Its version, if the file states it.
    pub version: Option<String>,
    /// The file name, without its directory; of a folder that was imported, the path below it.
    pub file: String,
    /// The line at which it starts, from 1, in text files.
    pub line: Option<u64>,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// How it was recognised; absent in results that were imported by 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recognised: Option<Recognised>,
}

/// How the tool and the form of a file were recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognised {
    /// How sure it is.
    pub sure: Sure,
    /// The names of fields, columns or titles by which it was recognised, as they are in the file.
    pub by: Vec<String>,
}

impl Recognised {
    /// No other tool is known to write these names.
    pub fn certain<'a>(by: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(Sure::Certain, by)
    }

    /// The names are this tool's, but others write them, too.
    pub fn likely<'a>(by: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(Sure::Likely, by)
    }

    /// It has the shape of this tool's results, and may be something else.
    pub fn possible<'a>(by: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(Sure::Possible, by)
    }

    fn of<'a>(sure: Sure, by: impl IntoIterator<Item = &'a str>) -> Self {
        Self { sure, by: by.into_iter().map(str::to_owned).collect() }
    }
}

impl Origin {
    /// The tool, its version if known, the format, and the position:
    /// `guidellm table, results.md:12`.
    pub fn described(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}"));
        let line = self.line.map(|line| format!(":{line}"));
        let (tool, form, file) = (&self.tool, &self.form, &self.file);
        let [version, line] = [version, line].map(Option::unwrap_or_default);
        format!("{tool}{version} {form}, {file}{line}")
    }
}

/// What the tool reported of a level, in addition to what Dyno derived from it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reported {
    /// Its file, if that is not the one of the run's origin: a run may be read from several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1, in text files.
    pub line: Option<u64>,
    /// Every value, with the tool's name and unit.
    pub figures: BTreeMap<String, f64>,
}
