//! Where figures come from that another tool has measured.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tool and the file that a run was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `guidellm`, `evalscope`, `vllm`, `sglang`, `aiperf`, `lmdeploy`.
    pub tool: String,
    /// Its layout or file format: `table`, `block`, `pivot`, `matrix`, `json`, ...
    pub form: String,
    /// Its version, as far as the file tells.
    pub version: Option<String>,
    /// The file, without its folder.
    pub file: String,
    /// The line at which it begins, from 1, in files of lines.
    pub line: Option<u64>,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
}

impl Origin {
    /// The tool, its version as far as it is known, the form, and where it stood:
    /// `guidellm table, results.md:12`.
    pub fn described(&self) -> String {
        let version = self.version.as_ref().map(|version| format!(" {version}"));
        let line = self.line.map(|line| format!(":{line}"));
        let (tool, form, file) = (&self.tool, &self.form, &self.file);
        let [version, line] = [version, line].map(Option::unwrap_or_default);
        format!("{tool}{version} {form}, {file}{line}")
    }
}

/// What the tool said of a level, beside what Dyno made of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reported {
    /// The line at which it stands, from 1, in files of lines.
    pub line: Option<u64>,
    /// Every figure, by the name and in the unit that the tool gives it.
    pub figures: BTreeMap<String, f64>,
}
