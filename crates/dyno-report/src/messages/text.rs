//! The words of the terminal's summary.

use dyno_words::messages;

messages! {
    /// Something that the terminal's summary says.
    pub(crate) enum Say;

    Run: "run", "测试";
    Label: "label", "标签";
    Note: "note", "备注";
    Source: "source", "来源";
    Stated: "as the tool states it", "工具自报";
    Target: "target", "目标";
    Model: "model", "模型";
    Started: "started", "开始";
    Tokens: "tokens", "计数";
    PredictionOf: "prediction of {}", "{} 的预测";
    EngineNamed: "embedded engine ({})", "内置引擎（{}）";
    InputUnknown: "input unknown", "输入来源未知";
    OutputUnknown: "output unknown", "输出来源未知";
    Seed: "seed {}", "种子 {}";
    Plan: "plan {}", "计划 {}";
    EmbeddedEngine:
        "These are the figures of the embedded engine, not of a real model.",
        "这些是内置引擎的数值，并非真实模型。";

    Level: "level", "负载";
    OkFailed: "ok/failed", "成功/失败";
    RequestRate: "req/s", "请求/秒";
    OutputRate: "out tok/s", "输出 tok/s";
    TtftMs: "TTFT ms", "TTFT ms";
    Verdict: "verdict", "判定";
    Steady:
        "over the steady window; the whole run stands below",
        "稳定窗口内的数值；全程数值见下文";
    SteadyBrief:
        "over the steady window; `dyno report` has the whole run",
        "稳定窗口内的数值；全程数值见 `dyno report`";

    Failed: "failed {} \u{d7} {}", "失败 {} 次：{}";
    CountPlanned: "{} planned", "计划 {}";
    CountCompleted: "{} completed", "成功 {}";
    CountFailed: "{} failed", "失败 {}";
    CountDropped: "{} dropped", "未发出 {}";
    CountCensored: "{} censored", "截断 {}";
    WholeRun:
        "whole run: {} req/s, {} out tok/s, {} total tok/s over {} s",
        "全程：{} 请求/秒，输出 {} tok/s，合计 {} tok/s，历时 {} s";
    SteadyWindow: "steady window {} s", "稳定窗口 {} s";
    InFlight: "in flight {} mean, {} peak", "在途平均 {}，峰值 {}";
    TokensOut: "{} tokens out a request", "每请求输出 {} token";
    TokensOutAndIn: "{} tokens out and {} in a request", "每请求输出 {} token、输入 {} token";
    FromSchedule: "from the schedule, ms: {}", "自计划时刻起（ms）：{}";
    TtftP50P99: "TTFT {} p50, {} p99", "首 token 延迟 p50 {}，p99 {}";
    LatencyP50P99: "latency {} p50, {} p99", "延迟 p50 {}，p99 {}";
    InstrumentRanges: "instrument ranges", "测量范围";
    Intervals: "95 % intervals, ms", "95 % 置信区间（ms）";
    Mean: "mean", "平均";
    Latency: "latency", "延迟";

    Cost: "cost", "成本";
    Server: "server", "服务器";
    Client: "client", "客户端";
    SendLag: "send lag p99 {}, max {} ms", "发送滞后 p99 {}、最大 {} ms";
    ReplayLag: "replay lag p50 {}, p99 {}, max {} ms", "回放滞后 p50 {}、p99 {}、最大 {} ms";
    Connect: "connect p99 {}, max {} ms", "建连 p99 {}、最大 {} ms";
    ReadLag: "read lag p99 {}, max {} ms", "读取滞后 p99 {}、最大 {} ms";
    ReadDelay: "read delay p99 {}, max {} ms", "读取延迟 p99 {}、最大 {} ms";
    Stalls: "stood still for {} s, {} ms at the longest", "停顿共 {} s，最长 {} ms";
    KernelStamps: "times by the kernel", "时间取自内核";
    ClientStamps: "times by this program: the kernel gave none", "时间取自本程序：内核未提供";
    MixedStamps: "times partly by the kernel", "时间部分取自内核";
    TimerLag: "timer lag p99 {}, max {} ms", "定时器滞后 p99 {}、最大 {} ms";
    EngineSlip: "engine slip p99 {}, max {} ms", "引擎滞后 p99 {}、最大 {} ms";
    Cpu: "CPU {} %", "CPU {} %";
    Running: "running {} mean, {} max", "运行中平均 {}、最大 {}";
    Waiting: "waiting {} mean, {} max", "等待中平均 {}、最大 {}";
    KvMost: "KV cache {} max", "KV 缓存最大 {}";
    KvFull:
        "KV cache {} max, over 95 % for {} of the time",
        "KV 缓存最大 {}，{} 的时间超过 95 %";
    Preemptions: "{} {0|preemption|preemptions}", "抢占 {} 次";
    Cache: "prefix cache", "前缀缓存";
    CachedByUsage: "{} of the prompt tokens, by usage", "提示词 token 的 {}（按 usage）";
    CachedByCounters:
        "{} of the prompt tokens, by the server's counters",
        "提示词 token 的 {}（按服务器计数器）";
    BeyondShared:
        "{} without the {} tokens that every prompt shares",
        "除去每个提示词共有的 {1} 个 token 后为 {0}";
    TtftOfHits: "TTFT p50 of {} {0|hit|hits} {} ms", "{} 个命中请求的 TTFT p50 {} ms";
    TtftOfMisses: "of {} {0|miss|misses} {} ms", "{} 个未命中请求 {} ms";
    PrefixHits: "prefix cache hits {}", "前缀缓存命中 {}";
    Memory: "memory {} to {} GiB", "内存 {} 到 {} GiB";
    PerMillionOut: "{} per million output tokens", "每百万输出 token {}";
    PerMillion: "{} per million tokens in all", "每百万 token（输入加输出）{}";
    OutPerGpu: "{} out tok/s a GPU", "每 GPU 输出 {} tok/s";
    TotalPerGpu: "{} total tok/s a GPU", "每 GPU 合计 {} tok/s";

    Conversations:
        "{} {0|conversation|conversations} of {} turns on average; TTFT by turn, ms",
        "{} 个会话，平均 {} 轮；各轮 TTFT（ms）";
    FirstTurn: "first turn", "首轮";
    LaterTurns: "later turns", "后续轮次";
    Requests: "requests", "请求数";
    TokensIn: "tokens in", "输入 token";

    OverTime:
        "over time, with the latencies of what was sent then",
        "随时间的变化；延迟属于当时发出的请求";
    From: "from", "起始";
    Done: "done", "完成";
    Offered: "offered", "到达";
    Completed: "completed", "完成";
    FailedColumn: "failed", "失败";
    InFlightColumn: "in flight", "在途";
    AtEnd: "at end", "期末";
    PerSecond: "/s", "每秒";
    MsP50: "ms p50", "ms p50";

    Repeats: "Repeats: ", "重复：";
    RepeatsAbout:
        "mean of the rounds, and the standard deviation between them in percent",
        "各轮平均值，以及轮间标准差（百分比）";
    Rounds: "rounds", "轮数";
    TtftP50: "TTFT p50 ms", "TTFT p50 ms";
    ItlP50: "ITL p50 ms", "ITL p50 ms";

    Met: "met", "满足";
    Missed: "MISSED", "未满足";
    Inconclusive: "inconclusive", "无法判定";
    Goodput: "goodput {} req/s, {} % of the requests", "有效吞吐 {} 请求/秒，占请求的 {} %";

    CapacityBetween:
        "CAPACITY: holds {} {}, does not hold {}, at {}{}{}.",
        "容量：可承载 {} {}，不可承载 {}，条件为 {}{}{}。";
    CapacityAtLeast:
        "CAPACITY: holds {} {}, the most that was tried, at {}{}.",
        "容量：可承载 {} {}（已是尝试的最高负载），条件为 {}{}。";
    CapacityNone:
        "CAPACITY: none. {2} is not kept even at {0} {1}{3}.",
        "容量：无。即使在 {0} {1} 也不满足 {2}{3}。";
    CapacityUnknown: "CAPACITY: inconclusive at {}{}.", "容量：无法判定，条件为 {}{}。";
    CapacityOpen:
        "CAPACITY: inconclusive at {2}: not kept at {0} {1}, and less could not be judged{3}.",
        "容量：无法判定，条件为 {2}：在 {0} {1} 不满足，更低的负载无法判定{3}。";
    Sure: " ({} % sure)", "（把握 {} %）";
    WithCare: "; with care: {}", "；请谨慎看待：{}";
    UnitRate: "req/s", "请求/秒";
    UnitInFlight: "in flight", "并发";
    Knee:
        "KNEE: {} in flight give {} req/s; more in flight give no more than {}.",
        "拐点：并发 {} 时为 {} 请求/秒；继续增加并发也不超过 {}。";
    TtftP99: "TTFT p99 ms", "TTFT p99 ms";
    LatencyP50: "latency p50 ms", "延迟 p50 ms";
    By: "{} by {}", "{}（横轴：{}）";
    AxisConcurrency: "concurrency", "并发";
    AxisRate: "req/s offered", "到达率";
    AxisBurst: "requests at once", "同时请求数";
    Hollow: "invalid", "无效";
}
