//! guidellm: reports of all versions, and the tables that it prints.

mod first;
mod report;
mod requests;
mod table;

use super::{Document, Printed, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    kinds: &["guidellm reports (JSON)", "tables of guidellm 0.1"],
    documents: &[
        Document { recognise: report::recognise, read: report::read },
        Document { recognise: first::recognise, read: first::read },
    ],
    printed: &[Printed::Table(table::read)],
    signs: &["\"benchmarks\""],
    ..super::NOTHING
};
