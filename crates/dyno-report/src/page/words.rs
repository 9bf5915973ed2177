//! The words of the page, in English and Chinese: one table, so that no language lacks any.

use dyno_model::Language;
use dyno_words::messages;
use serde_json::{Map, Value};

messages! {
    /// Something that the page says.
    pub(super) enum Word;
    // The frame of the page.
    Kind: "Benchmark report", "性能测试报告";
    Contents: "Contents", "目录";
    Skip: "Skip to the summary", "跳到摘要";
    Dark: "Dark", "深色";
    Light: "Light", "浅色";
    Summary: "Summary", "摘要";
    Charts: "Charts", "图表";
    Levels: "Levels", "负载档位";
    Failures: "Failures", "失败";
    Further: "More figures", "更多数据";
    Setup: "Plan and environment", "测试方案与环境";
    Definitions: "What the figures mean", "指标定义";
    Made: "Made by dyno {} from the records of run {} alone. This page holds everything it shows \
           and asks nobody for anything.",
        "由 dyno {} 仅根据测试 {} 的记录生成。页面包含所显示的全部内容，不访问网络。";
    Model: "Model", "模型";
    Target: "Target", "目标";
    Api: "API", "接口 API";
    Started: "Started", "开始时间";
    RunId: "Run", "测试编号";
    Client: "Client", "客户端";
    TokenCounts: "Token counts", "token 计数";
    CountedBy: "input by {}, output by {}", "输入来自 {}，输出来自 {}";
    Note: "Note", "备注";
    SomeInvalid: "INVALID: {} of {} levels. Their figures describe the load generator, not the \
                  server; they are struck out and left out of the headlines.",
        "无效：{} 档（共 {} 档）。其数据反映的是压测客户端而非服务器，已划去，不计入要点。";
    SomeSuspect: "SUSPECT: {} of {} levels. Read them with the caveats below.",
        "存疑：{} 档（共 {} 档）。请结合下文的说明阅读。";
    ReadFrom: "IMPORTED: these are results of {}. Dyno did not measure them and cannot judge them.",
        "导入：以下是 {} 的结果，并非由 Dyno 测得，无法判定其可信度。";
    // Headlines.
    MostTokens: "Most output tokens/s", "最高输出吞吐量";
    MostRequests: "Most requests/s", "最高 QPS";
    LeastTtft: "Lowest TTFT p50", "最低首 token 延迟 p50";
    LeastItl: "Lowest ITL p50", "最低 token 间延迟 p50";
    LeastTpot: "Lowest TPOT p50", "最低每 token 用时 p50";
    RequestsCompleted: "Requests completed", "成功请求数";
    NoneFailed: "none failed", "无失败";
    SoManyFailed: "{} failed", "失败 {} 个";
    LevelsRun: "Levels run", "已测档位数";
    At: "at {}", "{} 时";
    // Answers.
    Capacity: "Capacity", "容量";
    Knee: "Knee", "拐点";
    PerSecond: "requests/s", "请求/秒";
    InFlightUnit: "requests in flight", "并发请求";
    HoldsBetween: "Holds {} {}, does not hold {}, at {}.", "可承载 {} {}，不能承载 {}（要求 {}）。";
    HoldsAll: "Holds {} {}, the most that was tried, at {}.",
        "可承载 {} {}，即所试的最高负载（要求 {}）。";
    HoldsNone: "None: even at {} {}, {} is not kept.", "无：即使在 {} {} 时也达不到 {}。";
    HoldsUnknown: "Inconclusive at {}.", "在 {} 的要求下无法判定。";
    HoldsOpen: "Inconclusive: at {} {}, {} is not kept, and less could not be judged.",
        "无法判定：在 {} {} 时达不到 {}，更低的负载无法判定。";
    Sure: " This is {} % sure.", "置信度 {} %。";
    KneeAt: "{} in flight give {} requests/s; more in flight give no more than {}.",
        "并发 {} 时达到 {} 请求/秒；再增加并发，最高也只有 {}。";
    WithCare: "With care: {}", "注意：{}";
    Slo: "SLO", "服务目标 SLO";
    SloNone: "No level meets it.", "没有任何档位达标。";
    SloOpen: "Inconclusive: no level is known to meet it; what would decide it stands below.",
        "无法判定：没有确定达标的档位；下方说明需要什么才能判定。";
    SloSome: "{} of {} levels meet it.", "{} 档达标（共 {} 档）。";
    SloKept: "Outcome", "是否达标";
    Pass: "met", "达标";
    Fail: "missed", "未达标";
    Inconclusive: "inconclusive", "无法判定";
    GoodputUnit: "Goodput (req/s)", "有效吞吐量（请求/秒）";
    MetShare: "Requests that met it", "达标请求占比";
    // Findings.
    Findings: "Findings", "发现";
    NothingFound: "Nothing stands against the figures: every level is valid.",
        "没有发现影响可信度的问题：所有档位均有效。";
    Notes: "Notes ({})", "附注（{}）";
    NotePill: "note", "附注";
    AllLevels: "All levels", "所有档位";
    MoreLevels: "{} more", "另有 {} 条";
    ToDo: "What to do:", "建议：";
    // Charts.
    Help: "Point at a chart or move with the arrow keys to read values. Drag to zoom in; the keys \
           + and − zoom, 0 shows everything.",
        "将指针移到图上或用方向键移动即可读数。拖动可放大；按 + 和 − 缩放，按 0 还原。";
    NoScript: "The interactive charts need JavaScript; all figures are in the tables below.",
        "交互图表需要 JavaScript；所有数据见下方表格。";
    StillAlt: "Charts of the figures in the table below", "下表数据的图表";
    FiguresTitle: "Figures over load", "各项指标随负载的变化";
    FiguresAbout: "Shaded: 95 % interval. Hollow: the level is invalid. Pale: suspect, or few \
                   samples. Gaps: there is no such figure.",
        "阴影：95 % 置信区间。空心：该档无效。浅色：存疑或样本过少。断点：没有该数据。";
    HeatTitle: "By input and output length", "随输入与输出长度的变化";
    HeatAbout: "One cell for each pair of lengths. Struck cells are invalid.",
        "每格对应一组输入、输出长度。划去的格子无效。";
    SpreadTitle: "Distributions", "分布";
    SpreadAbout: "The share of samples that took no longer, by level.", "用时不超过横轴数值的样本占比，按档位。";
    CourseTitle: "Over time", "随时间的变化";
    CourseAbout: "Work done in each moment of a level, from its start.", "各档位从开始起每一时刻完成的工作量。";
    RequestsTitle: "Requests", "请求时间线";
    RequestsAbout: "One bar a request: waiting for the first token, then the answer.",
        "每条代表一个请求：先等待首 token，再输出回答。";
    // Groups and names of figures.
    Work: "Work", "吞吐";
    Times: "Times", "时间";
    Requests: "Requests", "请求";
    Cache: "Prefix cache", "前缀缓存";
    CacheAbout: "How many of the prompt tokens the server had in its prefix cache. What every prompt \
        shares, such as a chat template, does not count against a run.",
        "服务器前缀缓存命中的提示词 token。每个提示词共有的部分（如对话模板）不影响判定。";
    CachedShare: "Cached", "命中率";
    CachedBeyond: "Without what all share", "除去共有部分";
    CacheSource: "By", "来源";
    CacheByUsage: "usage", "应答的 usage";
    CacheByCounters: "counters", "计数器";
    SharedTokens: "Tokens that all share", "共有 token";
    TtftHits: "TTFT p50 of hits, ms (requests)", "命中请求 TTFT p50（ms，请求数）";
    TtftMisses: "TTFT p50 of misses, ms (requests)", "未命中请求 TTFT p50（ms，请求数）";
    Server: "The server's own figures", "服务器自身的指标";
    Cost: "Cost", "成本";
    RequestRate: "Requests/s", "QPS（请求/秒）";
    OutputRate: "Output tokens/s", "输出 token/秒";
    OverSteady: ", steady window", "（稳定窗口）";
    OverWhole: ", whole level", "（整档）";
    Ttft: "TTFT", "首 token 延迟 TTFT";
    Itl: "ITL", "token 间延迟 ITL";
    Tpot: "TPOT", "每 token 用时 TPOT";
    Latency: "Latency", "请求延迟";
    InFlight: "In flight, mean", "平均并发";
    Completed: "Completed", "成功";
    Failed: "Failed", "失败";
    KvCache: "KV cache, most", "KV cache 最高占用";
    PerMillionOutput: "Price per million output tokens", "每百万输出 token 价格";
    PerMillionTotal: "Price per million tokens", "每百万 token 价格";
    // Loads.
    InFlightLoad: "requests in flight", "并发数";
    OfferedLoad: "offered requests/s", "到达率（请求/秒）";
    BurstLoad: "requests at once", "同时请求数";
    SpeedLoad: "speed of the trace", "回放倍速";
    RampLoad: "highest requests/s", "最高到达率（请求/秒）";
    OrderLoad: "levels in order", "档位次序";
    // Tables.
    Level: "Level", "负载";
    Verdict: "Verdict", "判定";
    TtftP50: "TTFT p50 (ms)", "首 token 延迟 p50 (ms)";
    TtftP90: "TTFT p90 (ms)", "首 token 延迟 p90 (ms)";
    TtftP99: "TTFT p99 (ms)", "首 token 延迟 p99 (ms)";
    ItlP50: "ITL p50 (ms)", "token 间延迟 p50 (ms)";
    LatencyP50: "Latency p50 (ms)", "请求延迟 p50 (ms)";
    Times_: "{} times", "{} 次";
    Repeats: "Repeats", "重复测试";
    RepeatsAbout: "Mean of the rounds, and the standard deviation between them.",
        "各轮的平均值，以及轮与轮之间的标准差。";
    Rounds: "Rounds", "轮数";
    Sessions: "Conversations", "多轮会话";
    Conversations: "{}: {} conversations of {} turns on average; {} were broken off by a failure.",
        "{}：{} 个会话，平均 {} 轮；{} 个因失败中断。";
    Turns: "Turns", "轮次";
    FirstTurn: "first", "首轮";
    LaterTurns: "later", "后续";
    InputTokens: "Input tokens", "输入 token";
    OutputTokens: "Output tokens", "输出 token";
    ServerAbout: "What the server said of itself, once a second while measured requests were in \
                  flight.",
        "测量期间每秒一次取自服务器的指标。";
    Samples: "Samples", "采样数";
    RunningMeanMax: "Running, mean / most", "运行数（平均 / 最多）";
    WaitingMeanMax: "Waiting, mean / most", "排队数（平均 / 最多）";
    WaitingShare: "Time with a queue", "有排队的时间占比";
    Preemptions: "Preemptions", "抢占次数";
    PrefixHits: "Prefix cache hits", "前缀缓存命中率";
    Memory: "Memory (GiB)", "内存 (GiB)";
    OutputPerGpu: "Output tokens/s a GPU", "每 GPU 输出 token/秒";
    TotalPerGpu: "Total tokens/s a GPU", "每 GPU 总 token/秒";
    // Plan and environment.
    Plan: "Plan", "测试方案";
    Environment: "Environment", "环境";
    Raw: "{} as it is", "{} 原文";
    Streamed: "Streamed", "流式";
    Temperature: "Temperature", "温度 temperature";
    Data: "Prompts", "提示词";
    RandomPrompts: "random, by the seed", "按种子随机生成";
    Tokenizer: "Tokenizer", "分词器";
    UniquePrefix: "Every prompt misses the prefix cache", "每个提示词均不命中前缀缓存";
    AllowFailures: "Failures allowed", "允许的失败占比";
    TotalTimeout: "Time-out of a request", "单个请求超时";
    Gpus: "GPUs", "GPU 数";
    Seed: "Seed", "随机种子";
    PlanHash: "SHA-256 of the plan", "方案的 SHA-256";
    PlannedLevels: "Planned levels", "计划的档位";
    PlannedCount: "Planned levels ({})", "计划的档位（{}）";
    LevelRequests: "Requests", "请求数";
    Time: "Time", "时长";
    Warmup: "Warm-up", "预热";
    System: "System", "操作系统";
    Cpu: "CPU", "CPU 型号";
    Cores: "Cores", "可用核数";
    OpenFiles: "Limit of open files", "打开文件数上限";
    Version: "Version of Dyno", "Dyno 版本";
    ServerSoftware: "The server calls itself", "服务器自称";
    LengthField: "Output length fixed by", "固定输出长度的字段";
    Refused: "Fields the server refused", "服务器拒绝的字段";
    Yes: "yes", "是";
    No: "no", "否";
    // Definitions.
    SteadyWindow: "Steady window", "稳定窗口";
    Percentiles: "Percentiles", "百分位";
    InstrumentRange: "instrument range {} – {} ms", "测量范围 {} – {} ms";
    Interval: "95 % intervals", "95 % 置信区间";
    SteadyMeans: "The time between filling up and running out. Where every level has one, \
                  throughputs are those of it, so that one straggler does not halve a result.",
        "加载完成之后、请求耗尽之前的时段。各档均有时，吞吐量取自该窗口，个别拖尾请求不会使结果减半。";
    PercentilesMeans: "Of exact samples, by linear interpolation. Absent while fewer than 10 samples \
                       lie beyond; p90 to p99 are shown from 20 samples on, marked ?.",
        "由精确样本线性插值得到。超出该百分位的样本不足 10 个时不给出；p90 至 p99 从 20 个样本起显示，标记为 ?。";
    IntervalMeans: "By a block bootstrap over time, since requests that share a batch are not \
                    independent.",
        "按时间分块自助法（block bootstrap）得到，因为同一批次的请求并不独立。";
    VerdictMeans: "Valid: believe it. Suspect: read it with the stated caveat. Invalid: the figures \
                   describe the load generator, not the server.",
        "有效：可信。存疑：须结合所述原因阅读。无效：数据反映的是压测客户端，而非服务器。";
    AbsentMeans: "A figure that does not exist is –, and a gap in a chart. It is never 0.",
        "不存在的数值显示为 –，在图中为断点，绝不记为 0。";
    // Of the script.
    Figure: "Figure", "指标";
    Over: "Over", "横轴";
    LoadGroup: "Load", "负载";
    FigureGroup: "Another figure", "另一指标";
    LogX: "log x", "x 轴对数";
    LogY: "log y", "y 轴对数";
    ZoomIn: "Zoom in", "放大";
    ZoomOut: "Zoom out", "缩小";
    ZoomReset: "Show all", "全部显示";
    IntervalName: "95 % interval", "95 % 置信区间";
    FewName: "few samples beyond", "超出的样本过少";
    SloBound: "SLO", "SLO";
    ShareName: "share of samples", "样本占比";
    SampleCount: "{} samples", "{} 个样本";
    SinceStart: "seconds from the start of the level", "自该档开始的秒数";
    InFlightNow: "in flight", "并发";
    CompletedRate: "completed requests/s", "完成的请求/秒";
    FailedRate: "failed requests/s", "失败的请求/秒";
    TokenRate: "output tokens/s", "输出 token/秒";
    Drawn: "{} of {} requests are drawn; failures are kept first.",
        "绘出 {} 个请求（共 {} 个）；优先保留失败的请求。";
    DrawnAll: "All {} requests are drawn.", "绘出全部 {} 个请求。";
    WaitingName: "waiting for the first token", "等待首 token";
    AnswerName: "the answer", "输出回答";
    WholeName: "not streamed", "非流式";
    FailedName: "failed", "失败";
    CensoredName: "still running at the end", "结束时仍在运行";
    DroppedName: "not sent", "未发出";
    WarmupName: "warm-up", "预热";
    RequestName: "request {}", "请求 {}";
    TookName: "took", "用时";
    TokensName: "output tokens", "输出 token";
    SentAt: "sent at", "发出时刻";
    LevelsShown: "Levels shown", "显示的档位";
    AllName: "all", "全部";
    NoneName: "none", "清空";
    LevelName: "Level", "档位";
    InputAxis: "input tokens", "输入 token";
    OutputAxis: "output tokens", "输出 token";
    NothingHere: "There is nothing to draw here.", "此处没有可绘制的数据。";
    ChartOf: "Chart: {}", "图：{}";
    ValidName: "valid", "有效";
    UnjudgedName: "unjudged", "未判定";
    SuspectName: "suspect", "存疑";
    InvalidName: "invalid", "无效";
}

/// What the script says, by the names that it uses.
const OF_SCRIPT: &[(&str, Word)] = &[
    ("figure", Word::Figure),
    ("over", Word::Over),
    ("load", Word::LoadGroup),
    ("other", Word::FigureGroup),
    ("logX", Word::LogX),
    ("logY", Word::LogY),
    ("zoomIn", Word::ZoomIn),
    ("zoomOut", Word::ZoomOut),
    ("zoomReset", Word::ZoomReset),
    ("interval", Word::IntervalName),
    ("few", Word::FewName),
    ("bound", Word::SloBound),
    ("share", Word::ShareName),
    ("samples", Word::SampleCount),
    ("sinceStart", Word::SinceStart),
    ("flight", Word::InFlightNow),
    ("completedRate", Word::CompletedRate),
    ("failedRate", Word::FailedRate),
    ("tokenRate", Word::TokenRate),
    ("drawn", Word::Drawn),
    ("drawnAll", Word::DrawnAll),
    ("waiting", Word::WaitingName),
    ("answer", Word::AnswerName),
    ("whole", Word::WholeName),
    ("failed", Word::FailedName),
    ("censored", Word::CensoredName),
    ("dropped", Word::DroppedName),
    ("warmup", Word::WarmupName),
    ("request", Word::RequestName),
    ("took", Word::TookName),
    ("tokens", Word::TokensName),
    ("sentAt", Word::SentAt),
    ("levelsShown", Word::LevelsShown),
    ("all", Word::AllName),
    ("none", Word::NoneName),
    ("level", Word::LevelName),
    ("inputAxis", Word::InputAxis),
    ("outputAxis", Word::OutputAxis),
    ("nothing", Word::NothingHere),
    ("chartOf", Word::ChartOf),
    ("valid", Word::ValidName),
    ("unjudged", Word::UnjudgedName),
    ("suspect", Word::SuspectName),
    ("invalid", Word::InvalidName),
    ("dark", Word::Dark),
    ("light", Word::Light),
    ("ttft", Word::Ttft),
    ("itl", Word::Itl),
    ("tpot", Word::Tpot),
    ("latency", Word::Latency),
];

impl Word {
    /// What the script says.
    pub(super) fn for_script(language: Language) -> Map<String, Value> {
        let word = |(name, word): &(&str, Word)| ((*name).to_owned(), word.text(language).into());
        let colon = ("colon".to_owned(), language.colon().into());
        OF_SCRIPT.iter().map(word).chain([colon]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_says_nothing_that_is_not_here() {
        let script = super::super::SCRIPT;
        let used = script.split("words.").skip(1).map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default()
        });
        for name in used {
            let known = name == "colon" || OF_SCRIPT.iter().any(|(known, _)| *known == name);
            assert!(known, "words.{name}");
        }
        for (name, _) in OF_SCRIPT {
            let is_used = script.contains(&format!("words.{name}"))
                || ["ttft", "itl", "tpot", "latency"].contains(name);
            assert!(is_used, "words.{name} is said nowhere");
        }
    }
}
