//! The confidence in a statement about results: what caused a defect, which tool wrote a file.

use serde::{Deserialize, Serialize};

/// The confidence in a statement, the most confident first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// Nothing else explains what is there.
    Certain,
    /// What is there supports it.
    Likely,
    /// One of several explanations.
    Possible,
}
