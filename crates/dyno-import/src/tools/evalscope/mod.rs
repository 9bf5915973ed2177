//! EvalScope perf: summaries, percentiles, databases, folders of runs, printed blocks and tables.

mod block;
mod database;
pub(crate) mod folder;
mod pivot;
mod summary;

use super::{Document, Printed, Tool};

pub(super) use database::import as import_database;

pub(super) const TOOL: Tool = Tool {
    name: "evalscope",
    kinds: &[
        "EvalScope perf results (JSON, SQLite, or the folder of a run)",
        "summary blocks and pivot tables of EvalScope perf",
    ],
    documents: &[
        Document { recognise: summary::recognise, read: summary::read },
        Document { recognise: summary::recognise_percentiles, read: summary::read },
    ],
    printed: &[Printed::Block(|lines, _| block::read(lines)), Printed::Table(pivot::read)],
    signs: &["\"Percentiles\"", "Concurrency\"", "\"Number of concurrency\""],
    ..super::NOTHING
};
