//! The texts of the terminal's summary.

use dyno_words::messages;

messages! {
    /// A text of the terminal's summary.
    pub(crate) enum Say;

    Run: "run", "测试";
    Label: "label", "标签";
    Note: "note", "备注";
    Source: "source", "来源";
    Stated: "as reported by the tool", "工具自报";
    Target: "target", "目标";
    Model: "model", "模型";
    Started: "started", "开始";
    Tokens: "tokens", "token 计数";
    PredictionOf: "prediction of {}", "{} 的预测";
    EngineNamed: "embedded engine ({})", "内置引擎（{}）";
    InputUnknown: "input unknown", "输入来源未知";
    OutputUnknown: "output unknown", "输出来源未知";
    Seed: "seed {}", "种子 {}";
    Plan: "plan {}", "计划 {}";

    Level: "level", "负载";
    WholeLevel: "whole level", "整档";
    OkFailed: "ok/failed", "成功/失败";
    OkFailedShed: "ok/failed/shed", "成功/失败/拒绝";
    RequestRate: "req/s", "请求/秒";
    OutputRate: "out tok/s", "输出 tok/s";
    TtftMs: "TTFT ms", "TTFT ms";
    Verdict: "verdict", "判定";
    Steady:
        "over the steady window; the whole level is above",
        "稳态窗口内的数值；整档数值见上文";
    SteadyBrief:
        "over the steady window; --details shows the whole level",
        "稳态窗口内的数值；整档数值见 --details";
    WholeLevels:
        "req/s and tok/s are over whole levels with their filling and draining, since not every level has a steady \
         window: they are too low where levels are short",
        "并非每个档位都有稳态窗口，因此 req/s 和 tok/s 为整档数值，含启动和排空阶段，短档位的数值偏低";
    ColumnsHidden:
        "{} {0|column|columns} hidden; widen the terminal",
        "隐藏了 {} 列；请加宽终端";
    ColumnsHiddenHere:
        "{} {0|column|columns} hidden; widen the terminal or use --columns",
        "隐藏了 {} 列；请加宽终端，或使用 --columns";
    ColumnsHiddenInFile:
        "{} {0|column|columns} hidden; choose columns with --columns",
        "隐藏了 {} 列；可用 --columns 选择列";

    AllLevels: "all levels", "所有档位";
    MoreLevels: "{} more", "另有 {} 个";
    OthersLess: " ({} needs that; the others need less)", "（{} 需要这么多，其他档位可以更少）";
    Milder: "; milder in {}", "；程度较轻的还有：{}";
    MoreNotes: "{} more notes; --details shows all", "另有 {} 条说明；--details 显示全部";
    Failed: "failed: {} \u{d7} {}", "失败 {} 次：{}";
    Shed: "shed: {} of the requests ({})", "过载拒绝：{} 的请求（{}）";
    ShedAskedRange: "Retry-After {} to {} s", "Retry-After {} 至 {} s";
    RefusedFirst:
        "first refusal of those that were sent again: {}",
        "重新发送的请求首次被拒的原因：{}";
    RetriedTimes:
        "sent again: first refusal after {} ms (p50), {} ms (p99); final latency {} ms (p50), {} ms (p99)",
        "重新发送的请求：首次被拒于 {} ms（p50）、{} ms（p99）；最终时延 {} ms（p50）、{} ms（p99）";
    RetriedTimesFew:
        "sent again: first refusal after {} ms (p50), at most {} ms; final latency {} ms (p50), at most {} ms",
        "重新发送的请求：首次被拒于 {} ms（p50），最长 {} ms；最终时延 {} ms（p50），最长 {} ms";
    WithFailures:
        "counting failures as never answered ({} of {}): {}",
        "将失败请求的时延视为无穷大（{1} 个中有 {0} 个）：{2}";
    WithShed:
        "counting shed requests as never answered ({} of {}): {}",
        "将被拒绝的请求的时延视为无穷大（{1} 个中有 {0} 个）：{2}";
    WithFailedAndShed:
        "counting failed and shed requests as never answered ({} of {}): {}",
        "将失败和被拒绝的请求的时延视为无穷大（{1} 个中有 {0} 个）：{2}";
    CountPlanned: "{} planned", "计划 {}";
    CountCompleted: "{} completed", "成功 {}";
    CountFailed: "{} failed", "失败 {}";
    CountUnconfirmed: "{} unconfirmed", "未确认 {}";
    CountShed: "{} shed", "过载拒绝 {}";
    CountDropped: "{} dropped", "未发出 {}";
    CountOverflowed: "{} longer than the context", "超出上下文长度 {}";
    CountCensored: "{} unfinished when the level ended (censored)", "档位结束时未完成（截断）{}";
    WholeRun:
        "whole level: {} req/s, {} out tok/s, {} total tok/s over {} s",
        "整档：{} 请求/秒，输出 {} tok/s，合计 {} tok/s，历时 {} s";
    WholeRunInputs:
        "whole level: {} req/s, {} inputs/s, {} input tok/s, {} MB/s of response bodies over {} s",
        "整档：{} 请求/秒，{} 条/秒，输入 {} tok/s，响应体 {} MB/s，历时 {} s";
    Inputs: "{} {0|input|inputs} per request", "每请求 {} 条输入";
    InputsAndTokens:
        "{} {0|input|inputs} and {} input tokens per request",
        "每请求 {} 条输入、{} 个输入 token";
    ToHeaders:
        "headers after {} ms, the whole response after {} ms ({3}); tools that stop at the headers \
         report {2} ms less",
        "响应头 {} ms，完整响应 {} ms（{3}）；到响应头就停表的工具会少报 {2} ms";
    SteadyWindow: "steady window {} s", "稳态窗口 {} s";
    InFlight: "in flight {} mean, {} peak", "并发数平均 {}，峰值 {}";
    TokensOut: "{} output tokens per request", "每请求输出 {} token";
    TokensOutAndIn:
        "{} output and {} input tokens per request",
        "每请求输出 {} token、输入 {} token";
    OutputLengths: "output lengths", "输出长度";
    LengthsSideBySide:
        "{} tokens requested, {} received on average; {} % of the responses reached the requested length",
        "平均要求 {} 个 token，实际 {} 个；{} % 的响应达到要求的长度";
    FromSchedule: "from the scheduled time, ms: {}", "自计划时刻起（ms）：{}";
    TtftP50P99: "TTFT {} p50, {} p99", "TTFT p50 {}，p99 {}";
    LatencyP50P99: "latency {} p50, {} p99", "端到端时延 p50 {}，p99 {}";
    InstrumentRanges: "instrument ranges", "测量误差范围";
    Intervals: "95 % confidence intervals, ms", "95 % 置信区间（ms）";
    Mean: "mean", "平均";
    Latency: "latency", "端到端时延";

    Cost: "cost", "成本";
    Server: "server", "服务器";
    Client: "client", "客户端";
    SendLag: "send delay p99 {}, max {} ms", "发送延迟 p99 {}、最大 {} ms";
    ReplayLag: "replay delay p50 {}, p99 {}, max {} ms", "回放延迟 p50 {}、p99 {}、最大 {} ms";
    Connect: "connect p99 {}, max {} ms", "建连 p99 {}、最大 {} ms";
    ReadLag: "poll-to-read delay p99 {}, max {} ms", "轮询到读取延迟 p99 {}、最大 {} ms";
    ReadDelay: "read delay p99 {}, max {} ms", "读取延迟 p99 {}、最大 {} ms";
    Stalls: "stalled for {} s in total, {} ms at most", "停顿共 {} s，最长 {} ms";
    KernelStamps: "kernel timestamps", "内核时间戳";
    ClientStamps:
        "client timestamps (the kernel provided none)",
        "客户端时间戳（内核未提供）";
    MixedStamps: "kernel and client timestamps", "部分为内核时间戳";
    TimerLag: "timer delay p99 {}, max {} ms", "定时器延迟 p99 {}、最大 {} ms";
    EngineSlip: "engine delay p99 {}, max {} ms", "引擎延迟 p99 {}、最大 {} ms";
    Cpu: "CPU {} %", "CPU {} %";
    Agents: "{} {0|agent|agents} on {} {1|machine|machines}", "{} 个压测端，分布在 {} 台机器上";
    StartsWithin: "starts within {} ms", "开始时间误差不超过 {} ms";
    ClocksWithin: "clocks within ± {} ms", "时钟误差不超过 ± {} ms";
    WorstAgents: "the worst {}; the others: {}", "仅列出最差的 {} 个；其余：{}";
    Sent: "sent", "已发送";
    SharePercent: "share %", "份额 %";
    SendDelay: "send delay", "发送延迟";
    ReadDelayColumn: "read delay", "读取延迟";
    MsP99: "ms p99", "ms p99";
    Stall: "stall", "停顿";
    MsMax: "ms max", "最大 ms";
    CpuPercent: "CPU %", "CPU %";
    Start: "start", "开始";
    MsLate: "ms late", "晚 ms";
    Clock: "clock", "时钟";
    Running: "running {} mean, {} max", "运行中平均 {}、最大 {}";
    Waiting: "waiting {} mean, {} max", "排队中平均 {}、最大 {}";
    KvMost: "KV cache {} max", "KV 缓存最大 {}";
    KvFull:
        "KV cache {} max, over 95 % for {} of the time",
        "KV 缓存最大 {}，{} 的时间超过 95 %";
    Preemptions: "{} {0|preemption|preemptions}", "抢占 {} 次";
    Cache: "prefix cache", "前缀缓存";
    CachedByUsage: "{} of the prompt tokens cached (from usage)", "命中率 {}（按 usage）";
    CachedByCounters:
        "{} of the prompt tokens cached (from server counters)",
        "命中率 {}（按服务器计数器）";
    BeyondShared:
        "{} without the {} tokens that every prompt shares",
        "除去每个提示词共有的 {1} 个 token 后为 {0}";
    TtftOfHits:
        "TTFT p50 {1} ms for {0} {0|hit|hits}",
        "{} 个命中请求的 TTFT p50 {} ms";
    TtftOfMisses: "{1} ms for {0} {0|miss|misses}", "{} 个未命中请求 {} ms";
    ServerTimes: "server's own times", "服务器自报时间";
    ServerTimesOf:
        "in {} of {} {1|response|responses}, ms (mean / p50 / p99): {}",
        "{1} 个响应中有 {0} 个（ms，平均 / p50 / p99）：{2}";
    ServerQueue: "queue {}", "排队 {}";
    ServerPrefill: "prefill {}", "预填充 {}";
    ServerDecode: "decode {}", "解码 {}";
    ServerLoad: "model load {}", "加载模型 {}";
    ServerTotal: "total {}", "总计 {}";
    OutsideServer: "rest of TTFT, network and front end {}", "TTFT 的其余部分（网络与前端）{}";
    OutsideAndQueue:
        "rest of TTFT, queue, network and front end {}",
        "TTFT 的其余部分（排队、网络与前端）{}";
    PrefixHits: "prefix cache hits {}", "前缀缓存命中率 {}";
    Memory: "memory {} to {} GiB", "内存 {} 到 {} GiB";
    PerMillionOut: "{} per million output tokens", "每百万输出 token {}";
    PerMillion: "{} per million tokens, input and output", "每百万 token（输入加输出）{}";
    OutPerGpu: "{} out tok/s per GPU", "每 GPU 输出 {} tok/s";
    TotalPerGpu: "{} total tok/s per GPU", "每 GPU 合计 {} tok/s";

    Conversations:
        "{} {0|conversation|conversations}, {} turns on average; TTFT by turn, ms",
        "{} 个会话，平均 {} 轮；各轮 TTFT（ms）";
    FirstTurn: "first turn", "首轮";
    LaterTurns: "later turns", "后续轮次";
    Requests: "requests", "请求数";
    TokensIn: "tokens in", "输入 token";

    OverTime:
        "over time; latencies are of the requests sent in each slice",
        "随时间的变化；时延属于该时段发出的请求";
    From: "from", "起始";
    Done: "done", "完成";
    Offered: "offered", "到达";
    Completed: "completed", "完成";
    FailedColumn: "failed", "失败";
    ShedColumn: "shed", "拒绝";
    InFlightColumn: "in flight", "并发数";
    AtEnd: "at end", "期末";
    PerSecond: "/s", "每秒";
    MsP50: "ms p50", "ms p50";

    InputRate: "inputs/s", "条/秒";
    Expected: "Expected: ", "预计：";
    ExpectedAbout:
        "95 % of measurements lie within these intervals, judging by the twin's errors on loads that \
         it was not fitted to",
        "按孪生模型在未参与拟合的负载上的误差估计，95 % 的实测值落在这些区间内";
    Repeats: "Repeats: ", "重复：";
    RepeatsAbout:
        "mean of the rounds ± standard deviation between rounds",
        "各轮平均值 ± 轮间标准差";
    Rounds: "rounds", "轮数";
    TtftP50: "TTFT p50 ms", "TTFT p50 ms";
    TtftMean: "TTFT mean ms", "TTFT 平均 ms";
    ItlP50: "ITL p50 ms", "ITL p50 ms";

    Met: "met", "达标";
    Missed: "MISSED", "未达标";
    Inconclusive: "inconclusive", "无法判定";
    Goodput: "goodput {} req/s, {} % of the requests", "有效吞吐 {} 请求/秒，达标率 {} %";

    CapacityBetween:
        "CAPACITY: about {0} {1} ({2}–{3}{4}) for {5}{6}{7}.",
        "容量：约 {0} {1}（{2}–{3}{4}），条件为 {5}{6}{7}。";
    CapacityAtLeast:
        "CAPACITY: at least {0} {1} for {2}, {3}{4}.",
        "容量：至少 {0} {1}，条件为 {2}，{3}{4}。";
    HighestRate: "the highest rate offered", "这是所施加的最高速率";
    HighestRateJudged: "the highest rate that could be judged", "这是能够判定的最高速率";
    HighestConcurrency: "the highest concurrency tried", "这是测试的最高并发数";
    HighestConcurrencyJudged:
        "the highest concurrency that could be judged",
        "这是能够判定的最高并发数";
    FullMissed:
        "; {} requests in flight missed it ({} req/s completed)",
        "；并发 {} 时不达标（每秒完成 {} 个请求）";
    HighestMet: "; the highest level that met it: {}", "；达标的最高档位：{}";
    MissedAt: "; it was missed at {}", "；未达标的档位：{}";
    CapacityNone:
        "CAPACITY: none. Fails {2} even at {0} {1}{3}.",
        "容量：无。即使在 {0} {1} 也不满足 {2}{3}。";
    CapacityUnknown: "CAPACITY: inconclusive for {}{}.", "容量：无法判定，条件为 {}{}。";
    CapacityOpen:
        "CAPACITY: inconclusive for {2}: fails at {0} {1}, and lower loads could not be judged{3}.",
        "容量：无法判定，条件为 {2}：在 {0} {1} 不满足，更低的负载无法判定{3}。";
    Sure: ", {} % confidence", "，置信度 {} %";
    WithCare: "; caution: {}", "；注意：{}";
    UnitRate: "req/s", "请求/秒";
    UnitInFlight: "in flight", "并发";
    Knee:
        "KNEE: {} in flight reach {} req/s; more concurrency gives no more than {} req/s.",
        "拐点：并发数 {} 时达到 {} 请求/秒；继续增加并发数，最高也只有 {} 请求/秒。";
    TtftP99: "TTFT p99 ms", "TTFT p99 ms";
    LatencyP50: "latency p50 ms", "端到端时延 p50 ms";
    By: "{} by {}", "{}（横轴：{}）";
    AxisConcurrency: "concurrency", "并发数";
    AxisRate: "req/s offered", "请求速率";
    AxisBurst: "burst size", "突发请求数";
    Hollow: "invalid", "无效";
}
