//! The files that tools would have written of a run: their own fields, definitions and digits.

mod json;
mod text;

use super::simulated::Load;
use super::stated::Stated;

/// How the levels of a file are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One level.
    One,
    /// A few levels of one kind.
    Several,
    /// A closed loop at rising concurrency.
    Closed,
    /// guidellm's sweep: one at a time, rates in even steps, all at once.
    Sweep,
}

/// A kind of file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) extension: &'static str,
    pub(super) shape: Shape,
    /// Measures in a window, and counts what it cuts off as incomplete.
    pub(super) window: bool,
    /// Says how many requests failed.
    pub(super) states_failures: bool,
    pub(super) write: fn(&[Stated]) -> String,
}

const fn form(
    name: &'static str,
    extension: &'static str,
    shape: Shape,
    write: fn(&[Stated]) -> String,
) -> Form {
    Form { name, extension, shape, window: false, states_failures: true, write }
}

/// Every form.
pub(super) const FORMS: [Form; 13] = [
    form("vllm-json", "json", Shape::One, json::vllm),
    Form { states_failures: false, ..form("vllm-old-json", "json", Shape::One, json::vllm_old) },
    form("vllm-block", "txt", Shape::One, text::vllm),
    Form { states_failures: false, ..form("sglang-jsonl", "jsonl", Shape::Several, json::sglang) },
    Form { states_failures: false, ..form("sglang-block", "txt", Shape::One, text::sglang) },
    Form { window: true, ..form("guidellm-report", "json", Shape::One, json::guidellm) },
    Form { states_failures: false, ..form("guidellm-table", "md", Shape::Sweep, text::guidellm) },
    form("evalscope-json", "json", Shape::One, json::evalscope),
    form("evalscope-blocks", "md", Shape::Closed, text::evalscope),
    form("aiperf-json", "json", Shape::One, json::aiperf),
    form("aiperf-csv", "csv", Shape::One, text::aiperf),
    Form {
        states_failures: false,
        ..form("genai-perf-json", "json", Shape::One, json::genai_perf)
    },
    form("inference-perf-json", "json", Shape::One, json::inference_perf),
];

/// The rate and the limit of a load, as options of a command.
fn options(load: Load) -> (Option<f64>, Option<u32>) {
    match load {
        Load::Rate(rate) => (Some(rate), None),
        Load::Concurrency(slots) => (None, Some(slots)),
        Load::Burst => (None, None),
    }
}
