//! AIPerf and GenAI-Perf, its predecessor: exports, their CSV, and single requests.

mod export;
mod records;
mod table;

use super::{Document, Sheet, Tool};
pub(crate) use records::Records;

pub(super) const TOOL: Tool = Tool {
    name: "aiperf",
    kinds: &["AIPerf and GenAI-Perf exports (JSON, JSON lines, CSV)"],
    documents: &[
        Document { recognise: records::recognise, read: records::read },
        Document { recognise: export::recognise, read: export::read },
    ],
    sheets: &[Sheet { recognise: table::recognise, read: table::read }],
    signs: &["time_to_first_token"],
    ..super::NOTHING
};
