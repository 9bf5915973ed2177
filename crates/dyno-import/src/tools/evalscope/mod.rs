//! EvalScope perf: summaries, percentiles, databases, folders of runs, printed blocks and tables.

mod block;
mod database;
pub(crate) mod folder;
mod percentiles;
mod pivot;
mod report;
mod rows;
mod summary;

use super::{Document, Printed, Tool};

pub(super) use database::import as import_database;

pub(super) const TOOL: Tool = Tool {
    name: "evalscope",
    kinds: &[
        [
            "EvalScope perf results (JSON, SQLite, or the folder of a run)",
            "EvalScope perf 的结果（JSON、SQLite 或测试目录）",
        ],
        [
            "summaries, reports and pivot tables that EvalScope perf prints",
            "EvalScope perf 打印的汇总、报告和透视表",
        ],
    ],
    documents: &[
        Document { recognise: summary::recognise, read: summary::read },
        Document { recognise: summary::recognise_percentiles, read: summary::read },
    ],
    printed: &[
        Printed::Block(block::read),
        Printed::Block(report::read),
        Printed::Table(percentiles::read),
        Printed::Table(pivot::read),
    ],
    signs: &["\"Percentiles\"", "Concurrency\"", "\"Number of concurrency\""],
    ..super::NOTHING
};
