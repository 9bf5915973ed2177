//! guidellm: reports of all versions, and the tables that it prints.

mod columns;
mod console;
mod first;
mod grouped;
mod lengths;
mod page;
mod report;
mod requests;
mod sheet;
mod table;

use super::{Document, Printed, Sheet, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "guidellm",
    kinds: &[
        ["guidellm reports (JSON, YAML, CSV)", "guidellm 报告（JSON、YAML、CSV）"],
        ["tables that guidellm prints", "guidellm 打印的表格"],
    ],
    documents: &[
        Document { recognise: report::recognise, read: report::read },
        Document { recognise: first::recognise, read: first::read },
    ],
    sheets: &[Sheet { recognise: sheet::recognise, read: sheet::read }],
    printed: &[Printed::Block(console::read), Printed::Table(table::read)],
    refused: &[page::refuse],
    signs: &["\"benchmarks\""],
};
