//! The list of reference files.

macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../twins/reference/", $name, ".toml"))),)*]
    };
}

/// Name and text of each reference, in order of names.
pub(super) const FILES: &[(&str, &str)] = files![
    "deepseek-coder-6-7b-8x910b4-mindie",
    "qwen-14b-a100-40gb-vllm-matrix",
    "qwen1-5-14b-8x910b4-mindie",
    "qwen1-5-7b-8x910b4-mindie",
    "qwen1-5-7b-8x910b4-mindie-long",
    "qwen1-5-7b-8x910b4-vllm",
    "qwen2-5-72b-8x910b4-vllm",
    "qwen2-72b-4xa100-vllm",
    "qwen2-72b-4xl20-vllm",
    "qwen2-72b-8x910b4-mindie",
    "qwen2-72b-8x910b4-mindie-long",
    "qwen2-72b-8xa100-vllm",
    "qwen2-72b-8xl20-lmdeploy",
    "qwen2-72b-8xl20-sglang",
    "qwen2-72b-8xl20-vllm",
    "qwen2-72b-awq-2xa100-vllm",
    "qwen2-72b-awq-4xa100-vllm",
    "qwen2-72b-gptq-int8-4xl20-vllm",
    "qwen2-7b-4xt4-vllm",
    "qwen2-7b-4xt4-vllm-long",
    "qwen2-7b-4xt4-xinference",
    "qwen2-moe-57b-2xa100-vllm",
    "qwen2-moe-57b-4xa100-vllm",
    "qwen2-moe-57b-4xl20-vllm",
    "unnamed-vllm-long-prompts",
    "unnamed-vllm-short-bursts",
];
