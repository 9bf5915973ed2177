//! Findings about the output of responses: its length, its text, and how its tokens are counted.

use crate::wordings;

wordings! {
    /// What is odd about the output of a level's responses.
    pub enum OutputFinding;

    Capped: Note "output_capped",
        ["{} of {} responses ended at a length limit below the requested one: {} tokens on average, {} \
          requested",
         "{1} 个响应中有 {0} 个在低于要求的长度上限处结束：平均 {2} 个 token，要求 {3} 个"],
        ["the server limits the output, or its context was full; raise its limit (such as \
          --max-model-len or maxIterTimes), or request fewer output tokens",
         "服务器限制了输出长度，或上下文已满；请提高其上限（例如 --max-model-len 或 maxIterTimes），或减少要求的输出 token 数"];
    UsageIgnored: Note "usage_contradicts",
        ["the usage of {} of {} responses contradicts them and was not used: no output tokens although \
          there is text, fewer at the end than before, more than were requested, or a prompt counted in \
          characters",
         "{1} 个响应中有 {0} 个的 usage 与内容矛盾，未予采用：有文本却没有输出 token，结尾的计数少于之前，超过要求的长度，或把提示词的字符数当作 token 数"],
        ["their output tokens are counted by token ids, or else as events: an estimate unless every event \
          carries one token",
         "它们的输出 token 按 token id 计数，没有时按事件计数：除非每个事件恰好一个 token，否则只是估计"];
    NoText: Note "no_text",
        ["{} of {} streams have output tokens by the server's usage, but no text",
         "{1} 个流中有 {0} 个按服务器的 usage 有输出 token，但没有文本"],
        ["they have no TTFT, TPOT and ITL; special tokens only, as of a model with random weights, or \
          hidden reasoning that took all of the length",
         "它们没有首 token 时延（TTFT）、单 token 时延（TPOT）和 token 间时延（ITL）；可能只有特殊 token（例如随机权重的模型），或隐藏的推理用完了全部长度"];
    Unstreamed: Note "reasoning_hidden",
        ["the reasoning tokens of {} of {} streams were counted by the server, but not sent",
         "{1} 个流中有 {0} 个的推理 token 由服务器计数，但没有发送"],
        ["TTFT includes the time of the reasoning; TPOT and ITL are those of the tokens that were sent; \
          throughput counts all of them",
         "首 token 时延（TTFT）包含推理时间；单 token 时延（TPOT）和 token 间时延（ITL）只统计已发送的 token；吞吐量统计全部 token"];
    Reasoning: Note "reasoning",
        ["{} of the output tokens were reasoning, by the server's count",
         "按服务器的计数，输出 token 中有 {} 是推理 token"],
        ["TTFT is that of the first token of any kind where reasoning is streamed: the answer itself \
          starts later",
         "如果推理内容也以流式返回，首 token 时延（TTFT）以任意类型的第一个 token 为准：正式回答开始得更晚"];
}
