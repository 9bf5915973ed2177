//! guidellm: reports of all versions, and the tables that it prints.

mod columns;
mod console;
mod first;
mod grouped;
mod report;
mod requests;
mod table;

use super::{Document, Printed, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    kinds: &["guidellm reports (JSON)", "tables that guidellm prints"],
    documents: &[
        Document { recognise: report::recognise, read: report::read },
        Document { recognise: first::recognise, read: first::read },
    ],
    printed: &[Printed::Block(console::read), Printed::Table(table::read)],
    signs: &["\"benchmarks\""],
    ..super::NOTHING
};
