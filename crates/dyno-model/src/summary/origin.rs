//! The origin of imported results.

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
    /// The file name, without its directory.
    pub file: String,
    /// The line at which it starts, from 1, in text files.
    pub line: Option<u64>,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
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
    /// Its line, from 1, in text files.
    pub line: Option<u64>,
    /// Every value, with the tool's name and unit.
    pub figures: BTreeMap<String, f64>,
}
