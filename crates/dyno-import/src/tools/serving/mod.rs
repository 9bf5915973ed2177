//! The serving benchmarks of vLLM and SGLang, which share their field names and their printed blocks,
//! LMDeploy's copy of the latter, and what the two tools measure without a server.

mod block;
mod offered;
mod offline;
mod result;
mod samples;
pub(crate) mod sweep;

use super::{Document, Printed, Sheet, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "vllm or sglang",
    kinds: &[
        [
            "results of vLLM's `bench serve`, `bench sweep` and `bench throughput` (JSON, CSV)",
            "vLLM 的 `bench serve`、`bench sweep` 和 `bench throughput` 结果（JSON、CSV）",
        ],
        [
            "results of SGLang's `bench_serving`, `bench_offline_throughput` and `bench_one_batch` (JSON lines)",
            "SGLang 的 `bench_serving`、`bench_offline_throughput` 和 `bench_one_batch` 结果（JSON lines）",
        ],
        [
            "results of LMDeploy's `profile_restful_api` (JSON lines)",
            "LMDeploy 的 `profile_restful_api` 结果（JSON lines）",
        ],
        ["serving benchmark blocks of vLLM and SGLang", "vLLM 和 SGLang 的服务压测结果块"],
    ],
    documents: &[
        Document { recognise: result::recognise, read: result::read },
        Document { recognise: sweep::is_failure, read: sweep::read_failure },
        Document { recognise: offline::is_throughput, read: offline::read_throughput },
        Document { recognise: offline::is_latency, read: offline::refuse_latency },
        Document { recognise: offline::is_engine, read: offline::read_engine },
        Document { recognise: offline::is_batch, read: offline::read_batch },
    ],
    sheets: &[Sheet { recognise: sweep::is_table, read: sweep::read_table }],
    printed: &[Printed::Block(block::read)],
    signs: &["_ttft_ms\"", "\"ttfts\""],
    ..super::NOTHING
};

/// The API that a backend stands for, by the names of either tool.
fn api(backend: &str) -> Option<&'static str> {
    match backend {
        "openai" | "vllm" | "lmdeploy" | "sglang-oai" | "sglang-oai-completions" => {
            Some("openai-completions")
        }
        "openai-chat" | "vllm-chat" | "lmdeploy-chat" | "sglang-oai-chat" => Some("openai-chat"),
        _ => None,
    }
}
