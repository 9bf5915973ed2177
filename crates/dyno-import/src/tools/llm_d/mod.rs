//! llm-d's Benchmark Report, versions 0.1 and 0.2: one level each, converted from the result of the tool
//! that produced the load, in YAML or JSON. Every value has its unit.

mod load;
mod report;

use super::{Document, Tool};

pub(crate) const NAME: &str = "llm-d";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    kinds: &[[
        "llm-d Benchmark Reports 0.1 and 0.2 (YAML, JSON)",
        "llm-d Benchmark Report 0.1 和 0.2（YAML、JSON）",
    ]],
    documents: &[Document { recognise: report::recognise, read: report::read }],
    ..super::NOTHING
};
