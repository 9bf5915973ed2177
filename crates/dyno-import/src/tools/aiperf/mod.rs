//! AIPerf and GenAI-Perf, its predecessor: exports, their CSV, and single requests.

mod console;
mod export;
mod records;
mod table;

use super::{Document, Printed, Sheet, Tool};
pub(crate) use records::Records;

pub(super) const TOOL: Tool = Tool {
    name: "aiperf",
    kinds: &[
        [
            "AIPerf and GenAI-Perf exports (JSON, JSON lines, CSV)",
            "AIPerf 和 GenAI-Perf 的导出文件（JSON、JSON lines、CSV）",
        ],
        ["tables that AIPerf and GenAI-Perf print", "AIPerf 和 GenAI-Perf 打印的表格"],
    ],
    documents: &[
        Document { recognise: records::recognise, read: records::read },
        Document { recognise: export::recognise, read: export::read },
    ],
    sheets: &[Sheet { recognise: table::recognise, read: table::read }],
    printed: &[Printed::Block(console::read)],
    signs: &["time_to_first_token"],
    ..super::NOTHING
};
