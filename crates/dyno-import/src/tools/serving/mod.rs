//! The serving benchmarks of vLLM and SGLang, which share their field names and their printed blocks.

mod block;
mod result;

use super::{Document, Printed, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "vllm or sglang",
    kinds: &[
        "results of vLLM's `bench serve` (JSON)",
        "results of SGLang's `bench_serving` (JSON lines)",
        "serving benchmark blocks of vLLM and SGLang",
    ],
    documents: &[Document { recognise: result::recognise, read: result::read }],
    printed: &[Printed::Block(block::read)],
    signs: &["_ttft_ms\"", "\"ttfts\""],
    ..super::NOTHING
};
