//! The texts in charts, in English and Chinese.

use dyno_model::Language;
use dyno_words::messages;

impl Word {
    pub(super) fn in_language(self, language: Language) -> &'static str {
        self.text(language)
    }

    /// What `--charts` calls a panel with this title.
    pub(super) fn panel_name(self) -> &'static str {
        match self {
            Self::TotalTime => "duration",
            Self::RequestsPerSecond | Self::CompletedPerSecond => "requests",
            Self::OutputPerSecond | Self::OutputPerGpu => "output-tokens",
            Self::InputsPerSecond => "inputs",
            Self::MeanLatency | Self::Latency => "latency",
            Self::LatencyP50 => "latency-p50",
            Self::LatencyP90 => "latency-p90",
            Self::LatencyPerToken => "latency-per-token",
            Self::Ttft | Self::MeanTtft => "ttft",
            Self::Itl | Self::ItlName | Self::MeanItl => "itl",
            Self::Tpot | Self::MeanTpot => "tpot",
            Self::MeanGap => "chunk-gap",
            Self::FailedRequests | Self::FailedOrShed => "failures",
            Self::Requests => "in-flight",
            _ => "",
        }
    }
}

messages! {
    /// A text in a chart.
    pub(crate) enum Word;

    Concurrency: "By concurrency", "随并发数的变化";
    Rates: "By offered request rate", "随请求速率的变化";
    Bursts: "Bursts", "突发请求";
    InputMatrix:
        "By length of a text and inputs per request",
        "随文本长度与每请求输入条数的变化";
    Matrix: "By input and output length", "随输入与输出长度的变化";
    Frontier: "Throughput vs per-user speed (tok/s/user)", "吞吐量与单用户速度 (tok/s/user)";
    OverTime: "Over time", "随时间的变化";
    Distributions: "Latency distribution (CDF)", "时延分布 (CDF)";
    ThroughputOverTime: "Throughput over time", "吞吐量随时间的变化";
    Timeline: "Requests", "请求时间线";
    Trees: "Trees of sessions", "任务树";
    TreeNamed: "tree {}", "任务树 {}";
    SomeTrees: "{} {0|tree|trees}", "{} 棵任务树";
    FirstTrees: "the first {} of {} trees", "前 {} 棵，共 {} 棵任务树";
    HiddenSessions: "{} {0|sub-agent|sub-agents} not shown", "另有 {} 个子智能体未显示";
    FirstRequests: "their first requests", "仅其最早的请求";
    TreeFailed: "failed", "失败";
    TreeCut: "cut", "被截断";
    TreeTooLong: "too long", "超长";
    GapLine: "gap", "间隔";
    Join: "waits for several sessions", "等待多个会话";
    CutOff: "cut by the end of the level", "因档位结束而中断";
    TooLong: "longer than the context", "超出上下文长度";
    NoFirst: "no first token", "无首 token";
    Warms: "warms the cache", "预热缓存";
    RootTurn: "root, turn {}", "主会话第 {} 轮";
    SubAgentTurn: "sub-agent {}, turn {}", "子智能体 {} 第 {} 轮";
    Agents: "agents (live trees)", "智能体数（活跃任务树）";
    InFlight: "concurrency", "并发数";
    InFlightNow: "in flight", "并发数";
    Offered: "offered requests/s", "请求速率（请求/秒）";
    Burst: "burst size", "突发请求数";
    InputTokens: "input tokens", "输入 token 数";
    OutputTokens: "output tokens", "输出 token 数";
    TextTokens: "tokens per input", "每条输入的 token 数";
    InputsPerRequest: "inputs per request", "每请求输入条数";
    Time: "time", "时间";
    TimeOfRun: "time since the start of the run", "测试开始后的时间";
    TimeOfLevel: "time since the start of the level", "该档开始后的时间";
    PerUser: "output tokens/s per user", "单用户输出速度（token/秒）";
    TotalTime: "Total time", "总用时";
    RequestsPerSecond: "Requests/s", "请求/秒";
    MeanLatency: "Mean latency", "端到端时延平均值";
    OutputPerSecond: "Output tokens/s", "输出 token/秒";
    InputsPerSecond: "Inputs/s", "输入条数/秒";
    OutputPerGpu: "Output tokens/s per GPU", "每 GPU 输出 token/秒";
    LatencyP50: "Latency p50", "端到端时延 p50";
    LatencyP90: "Latency p90", "端到端时延 p90";
    Latency: "Latency", "端到端时延";
    LatencyPerToken: "Latency per output token", "每输出 token 的端到端时延";
    Completed: "completed", "完成";
    OfferedName: "offered", "请求速率";
    CompletedPerSecond: "Completed requests/s", "完成的请求/秒";
    AllCompleted: "completed = offered", "完成速率 = 请求速率";
    Ttft: "TTFT", "首 token 时延（TTFT）";
    Itl: "ITL p50", "token 间时延（ITL）p50";
    ItlName: "ITL", "token 间时延（ITL）";
    ShareOfSamples: "% of samples", "样本占比 %";
    Tpot: "TPOT p50", "单 token 时延（TPOT）p50";
    MeanTtft: "Mean TTFT", "首 token 时延（TTFT）平均值";
    MeanItl: "Mean ITL", "token 间时延（ITL）平均值";
    MeanTpot: "Mean TPOT", "单 token 时延（TPOT）平均值";
    MeanGap: "Mean chunk gap", "数据块间隔平均值";
    Failed: "failed", "失败";
    Shed: "shed", "过载拒绝";
    FailedRequests: "Failed requests", "失败请求";
    FailedOrShed: "Failed or shed requests", "失败或被拒绝的请求";
    Percent: "%", "占比 %";
    Dropped: "not sent", "未发出";
    Censored: "still running at the end", "结束时仍在进行";
    SentAt: "sent", "发出";
    FirstAt: "first token", "首 token";
    EndedAt: "ended", "结束";
    UntilSent: "due, not yet sent", "等待发出";
    UntilFirst: "waiting for the first token", "等待首 token";
    SentAgain: "refused, then sent again", "被拒绝后重新发送";
    UntilEnd: "output", "输出";
    NotStreamed: "not streamed", "非流式";
    NotWhole: "did not complete", "未完成";
    AllRequests: "{} {0|request|requests}", "{} 个请求";
    PartOfTime: "part of the level", "部分时段";
    SomeOfRequests: "sample of {} of {} requests", "抽样 {} / {} 个请求";
    Requests: "Requests", "请求数";
    Largest: "max", "最大值";
    Mean: "mean", "平均值";
    Knee: "knee", "拐点";
    Capacity: "capacity", "容量";
    Above: "{}: {} (above the chart)", "{}：{}（超出图框）";
    Milliseconds: "ms", "ms";
    Seconds: "s", "s";
    LogScale: "log", "对数";
    WholeRun: "whole level", "整档";
    SteadyWindow: "steady window", "稳态窗口";
    NoFigures: "no data", "无数据";
    NothingToDraw: "This run has no data to draw.", "本次测试没有可绘制的数据。";
    MoreNotDrawn: "{} more not shown", "另有 {} 项未显示";
    LevelsInOrder: "{} levels in order; their looks repeat", "{} 档依次排列，线型重复使用";
    Invalid: "hollow: the level is invalid and describes the client", "空心：该档无效，数据反映的是客户端";
    Suspect:
        "pale: the level is suspect, or the value uncertain (few samples, or ~)",
        "浅色：该档存疑，或数值不确定（样本过少，或带 ~）";
    Bands: "shaded: 95 % confidence interval", "阴影：95 % 置信区间";
    Gaps: "gap: not available", "断点：没有该数据";
}
