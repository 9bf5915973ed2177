//! llama.cpp's `llama-bench`: the speed of prompt processing (`pp512`), of generation (`tg128`) and of
//! one after the other (`pp512+tg128`), of one sequence, without a server. Each test is a level. No
//! request is offered to anything, so the load is unknown and there are no requests and no latencies.

mod result;
mod sql;
mod table;
mod test;

use super::{Document, Printed, Sheet, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "llama-bench",
    kinds: &[[
        "results of llama.cpp's `llama-bench` (Markdown table, JSON, JSON lines, CSV, SQL)",
        "llama.cpp `llama-bench` 的结果（Markdown 表格、JSON、JSON lines、CSV、SQL）",
    ]],
    documents: &[Document { recognise: result::recognise, read: result::read }],
    sheets: &[Sheet { recognise: result::recognise_rows, read: result::read_rows }],
    printed: &[Printed::Table(table::read), Printed::Block(sql::read)],
    signs: &["\"avg_ts\""],
    ..super::NOTHING
};
