//! Where something is, in front of another wording.

use crate::wordings;

wordings! {
    /// A prefix that says which part of the input a wording is about.
    pub enum Place;

    Named: Note "", ["{}: {}", "{}：{}"], ["{2}", "{2}"];
    Line: Note "", ["line {}: {}", "第 {} 行：{}"], ["{2}", "{2}"];
}
