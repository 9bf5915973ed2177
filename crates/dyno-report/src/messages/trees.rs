//! The texts about trees of sessions.

use dyno_words::messages;

messages! {
    /// A text about the trees of a level.
    pub(crate) enum TreeText;

    Trees: "trees", "任务树";
    Started: "{} started", "共启动 {} 棵";
    Completed: "{} completed", "完成 {}";
    Failed: "{} failed", "失败 {}";
    Overflowed: "{} too long for the context", "超出上下文长度 {}";
    Cut: "{} cut by the end of the level", "因档位结束而中断 {}";
    Sessions: "{} {0|session|sessions}, {} of them sub-agents", "会话 {} 个，其中子智能体 {} 个";
    SessionsFailed: "{} {0|session|sessions} with a failed request", "有请求失败的会话 {} 个";
    TurnsMean: "{} requests per tree", "平均每棵 {} 个请求";
    Cancelled:
        "{} {0|request|requests} not sent because {0|its tree|their trees} had ended",
        "因任务树提前结束而未发送的请求 {} 个";
    TreeTokens: "{} input and {} output tokens per completed tree", "每棵完成的任务树输入 {}、输出 {} token";
    Live: "live trees", "活跃任务树";
    MeanPeak: "{} mean, {} peak", "平均 {}，峰值 {}";
    Parallel: "{} requests of one tree in flight while it has any, {} peak",
        "单棵任务树工作时平均并发 {}，峰值 {}";
    Interactivity: "interactivity", "交互速度";
    Decoding: "after the first token {}", "首 token 之后{}";
    WholeRequest: "prompt included {}", "含提示词处理时{}";
    Half: "{} tok/s for half of the requests", "半数请求达 {} tok/s";
    HalfAndMost:
        "{} tok/s for half of the requests, at least {} for 90 %",
        "半数请求达 {} tok/s，90 % 的请求不低于 {}";
    Overall: "{} over all output and latency", "总输出除以总时延为 {}";
    Fidelity: "fidelity", "还原度";
    Late: "requests sent {} ms (p50), {} ms (p99) after their gap ended",
        "间隔结束后 {} ms（p50）、{} ms（p99）发出";
    Skipped: "{} s of gaps skipped", "跳过的间隔共 {} s";
    IdleSkipped: "the level {} s shorter, since nothing was in flight", "因没有请求在途，档位缩短 {} s";
    Trimmed: "{} {0|prompt|prompts} with a trimmed response", "{} 个提示词截短了上一响应";
    Rewritten: "{} {0|prompt|prompts} with a cut history", "{} 个提示词改写了历史";
    OutputKept: "{} of the requested output", "输出长度达到要求的 {}";
    Ideal: "ideal cache", "理想缓存";
    IdealShares: "{} of the prompt tokens, {} with responses; measured {}",
        "提示词 token 的 {}，计入响应为 {}；实测 {}";
    IdealUnmeasured: "{} of the prompt tokens, {} with responses; the server reports no cached tokens",
        "提示词 token 的 {}，计入响应为 {}；服务器未报告缓存的 token 数";
    WholeTrees: "{} completed {0|tree|trees}, s", "{} 棵完成的任务树（s）";
    WholeAbout: "completed trees, s; stretch is the duration divided by the recorded one",
        "完成的任务树（s）；伸缩比为实际时长除以录制时长";
    Duration: "duration", "时长";
    Active: "with a request in flight", "有请求进行";
    Idle: "in gaps", "间隔中";
    JoinWait: "joins: first to last end", "汇合：首个到最后结束";
    Stretch: "stretch (ratio)", "伸缩比";
    Requests: "completed requests by turn, context length, session and cached share, ms",
        "成功请求：按轮次、上下文长度、会话与缓存占比（ms）";
    Group: "group", "分组";
    Count: "requests", "请求数";
    TokensIn: "tokens in", "输入 token";
    Tree: "tree", "任务树";
    Turn: "turn {}", "第 {} 轮";
    Turns: "turns {}–{}", "第 {}–{} 轮";
    TurnsFrom: "turns from {}", "第 {} 轮起";
    InputBelow: "input below {}", "输入少于 {}";
    InputBetween: "input {}–{}", "输入 {}–{}";
    InputFrom: "input from {}", "输入不少于 {}";
    Root: "root sessions", "主会话";
    SubAgents: "sub-agents", "子智能体";
    NothingCached: "cached: none", "缓存：无";
    CachedBelow: "cached below {} %", "缓存低于 {} %";
    CachedBetween: "cached {}–{} %", "缓存 {}–{} %";
    CachedFrom: "cached from {} %", "缓存不低于 {} %";
    UnitAgents: "agents", "个智能体";
    UnitTreeRate: "trees/s", "棵任务树/秒";
}
