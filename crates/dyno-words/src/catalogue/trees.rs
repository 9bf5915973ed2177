//! Findings about trees of sessions.

use crate::wordings;

const OVERFLOWED: [&str; 2] = [
    "{} of {} trees ended early ({}), because a request and its output were longer than the server's context",
    "{1} 棵任务树中有 {0} 棵提前结束（{2}），因为其某个请求加输出超过了服务器的上下文长度",
];

wordings! {
    /// What the trees of a level say about its results.
    pub enum TreeFinding;

    Overflowed: Warning "trees_overflowed",
        OVERFLOWED,
        ["the results are those of shorter tasks: start the server with a longer context (vLLM: --max-model-len, \
          SGLang: --context-length), or replay data whose requests fit",
         "结果只反映较短的任务：请让服务器使用更长的上下文（vLLM：--max-model-len，SGLang：--context-length），\
          或回放请求长度合适的数据"];
    FewOverflowed: Note "trees_overflowed",
        OVERFLOWED,
        ["a longer context of the server would let them end (vLLM: --max-model-len, SGLang: --context-length)",
         "更长的上下文可以让它们运行到底（vLLM：--max-model-len，SGLang：--context-length）"];
    Failed: Note "trees_failed",
        ["{} of {} trees ended with a failed request; {} of their requests were not sent",
         "{1} 棵任务树中有 {0} 棵因请求失败而终止；其中 {2} 个请求未发送"],
        ["later turns cover only the trees that went on; look at the failures",
         "后续轮次只统计未中断的任务树；请查看失败信息"];
    NoneWhole: Note "no_whole_tree",
        ["none of the {} {0|tree|trees} was over when the level ended, so nothing is known of whole tasks",
         "档位结束时 {} 棵任务树都未完成，因此没有完整任务的数据"],
        ["run for longer, or start trees at their beginning and give the level a number of trees instead of a time",
         "请延长测试时间，或让任务树从头开始，并用任务树数量代替时长来限定档位"];
    AboveIdeal: Warning "cached_above_ideal",
        ["{} of the prompt tokens came from the prefix cache; a cache without bounds would hold {} of what these \
          trees repeat of themselves",
         "前缀缓存命中率为 {}；而这些任务树自身重复的部分，即使缓存无限大也只有 {}"],
        ["the server had seen these prompts before the level, or trees share text, such as one system prompt: \
          give each tree a marker of its own, or reset the cache (--reset-cache); if that is intended, compare \
          with runs that share as much",
         "服务器此前见过这些提示词，或各任务树有共同文本（如同一系统提示词）：请为每棵树加上各自的标记，\
          或清空缓存（--reset-cache）；如果有意如此，请与共享程度相同的测试对比"];
}
