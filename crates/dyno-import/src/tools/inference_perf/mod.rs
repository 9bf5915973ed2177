//! inference-perf: a report for each stage of a run, a summary of all stages, and the single requests.

mod config;
mod lifecycle;
mod requests;
mod run;

use super::{Document, Tool};
pub(crate) use run::Runs;

const NAME: &str = "inference-perf";

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    kinds: &[[
        "inference-perf reports (JSON, YAML, or the folder of a run)",
        "inference-perf 报告（JSON、YAML 或测试目录）",
    ]],
    documents: &[
        Document { recognise: lifecycle::recognise, read: lifecycle::read },
        Document { recognise: requests::recognise, read: requests::read },
        Document { recognise: config::recognise, read: config::read },
        Document { recognise: lifecycle::recognise_server, read: lifecycle::read_server },
    ],
    signs: &["\"load_summary\""],
    ..super::NOTHING
};
