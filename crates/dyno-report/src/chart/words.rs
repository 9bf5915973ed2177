//! What stands in charts, in English and Chinese.

pub use dyno_model::Language;
use dyno_words::messages;

impl Word {
    pub(super) fn in_language(self, language: Language) -> &'static str {
        self.text(language)
    }
}

messages! {
    /// A message.
    pub(crate) enum Word;

    Concurrency: "By requests in flight", "随并行数的变化";
    Rates: "By offered rate", "随请求到达率的变化";
    Bursts: "Bursts", "突发请求";
    Matrix: "By input and output length", "随输入与输出长度的变化";
    Frontier: "Throughput and speed for each user", "吞吐量与单用户速度";
    OverTime: "Over time", "随时间的变化";
    Distributions: "How times are spread", "延迟分布";
    ThroughputOverTime: "Throughput over time", "吞吐量随时间的变化";
    Timeline: "Single requests", "单个请求时间线";
    InFlight: "in flight", "并行数";
    Offered: "offered, requests/s", "到达率（请求/秒）";
    Burst: "requests at once", "同时请求数";
    InputTokens: "input tokens", "输入 token 数";
    OutputTokens: "output tokens", "输出 token 数";
    Time: "time", "时间";
    TimeOfRun: "time of the run", "运行时间";
    TimeOfLevel: "time of the level", "该档运行时间";
    PerUser: "output tokens/s for each user", "单用户输出速度（token/秒）";
    TotalTime: "Total time", "用时";
    RequestsPerSecond: "Requests/s", "每秒请求数 QPS";
    MeanLatency: "Mean latency", "平均延迟";
    OutputPerSecond: "Output tokens/s", "吞吐量，输出 token/秒";
    OutputPerGpu: "Output tokens/s for each GPU", "每 GPU 吞吐量，输出 token/秒";
    LatencyP50: "Latency p50", "延迟 p50";
    LatencyP90: "Latency p90", "延迟 p90";
    Latency: "Latency", "延迟";
    LatencyPerToken: "Latency per output token", "每输出 token 延迟";
    Completed: "completed", "已完成";
    OfferedName: "offered", "到达";
    CompletedPerSecond: "Completed requests/s", "每秒完成请求数";
    AllCompleted: "all that is offered", "全部完成";
    Ttft: "TTFT", "首 token 延迟 TTFT";
    Itl: "ITL p50", "token 间延迟 ITL p50";
    ItlName: "ITL", "token 间延迟 ITL";
    ShareOfSamples: "% that took no longer", "累计占比 %";
    Tpot: "TPOT p50", "单 token 时间 TPOT p50";
    Failed: "failed", "失败";
    FailedRequests: "Failed requests", "失败请求";
    Percent: "%", "占比 %";
    TokenTime: "Time per output token", "每 token 用时";
    Compared: "Side by side", "对比";
    Dropped: "could not be sent", "未能发出";
    Censored: "still running at the end", "结束时仍在进行";
    SentAt: "sent", "发出";
    FirstAt: "first token", "首 token";
    EndedAt: "ended", "结束";
    UntilSent: "due, not sent", "等待发出";
    UntilFirst: "until the first token", "首 token 之前";
    UntilEnd: "output", "输出";
    NotStreamed: "without a first token", "无首 token 时间";
    NotWhole: "did not complete", "未完成";
    AllRequests: "{} requests", "{} 个请求";
    PartOfTime: "a part of the time", "部分时段";
    SomeOfRequests: "{} of {} requests", "{} / {} 个请求";
    Requests: "Requests", "请求数";
    Largest: "max", "最大";
    Knee: "knee", "拐点";
    Capacity: "capacity", "容量";
    Milliseconds: "ms", "毫秒";
    Seconds: "s", "秒";
    LogScale: "log", "对数";
    WholeRun: "whole run", "整个过程";
    SteadyWindow: "steady window", "稳态窗口";
    NoFigures: "no figures", "无数据";
    NothingToDraw: "There is nothing to draw in this run.", "此次运行没有可绘制的数据。";
    MoreNotDrawn: "more not drawn", "项未绘出";
    Invalid: "hollow: the level is invalid, its figures describe the client",
        "空心：该档无效，数据反映的是客户端";
    Suspect: "pale: the level is suspect, or samples are few", "浅色：该档存疑，或样本过少";
    Bands: "shaded: 95 % interval", "阴影：95 % 置信区间";
    Gaps: "gaps: there is no such figure", "断点：没有该数据";
    Simulated: "SIMULATED: a twin answered in virtual time; nothing was measured.",
        "模拟：由孪生在虚拟时间中应答，并非实测。";
    Embedded: "These are the figures of the embedded engine, not of a real model.",
        "以下为内置引擎的数据，并非真实模型。";
    Partial: "PARTIAL: the records end before the run did.", "不完整：记录在运行结束前中断。";
}
