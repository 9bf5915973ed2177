//! What the progress line and the live view say, in English and Chinese. Where a text stands and
//! whether it is shown is decided elsewhere.

use dyno_model::frame::Ending;
use dyno_model::{Decision, Language, Verdict};
use dyno_words::messages;

messages! {
    /// Texts of the progress line and the live view.
    pub(crate) enum Text;
    Requests: "{} {0|request|requests}", "{} 个请求";
    Unfinished: "{} unfinished", "{} 个未完成";
    NotSent: "{} not sent", "{} 个未发送";
    WholeLevel: "whole level {} req/s {} tok/s", "整档 {} 请求/秒 {} tok/s";
    WholeLevelInputs: "whole level {} req/s {} inputs/s", "整档 {} 请求/秒 {} 条/秒";
    Latency: "latency {}", "时延 {}";
    LatencyColumn: "latency p50/p99", "时延 p50/p99";
    Failed: "{} failed", "{} 个失败";
    Unconfirmed: "{} unconfirmed", "{} 个未确认";
    Shed: "{} shed", "{} 个因过载被拒绝";
    Left: "{} left", "剩余 {}";
    Elapsed: "{} elapsed", "已用 {}";
    RunLeft: "run {} left", "全程剩余 {}";
    RunLeftAtLeast: "run at least {} left", "全程至少剩余 {}";
    MoreLevels: "{} more {0|level|levels}, about {}", "还有 {} 个档位，约 {}";
    MoreLevelsAtMost: "up to {} more {0|level|levels}, at most {}", "最多还有 {} 个档位，最长 {}";
    SomeLevels: "up to {} more {0|level|levels}", "最多还有 {} 个档位";
    AtLeastLeft: "at least {} left", "至少剩余 {}";
    Draining: "draining", "排空中";
    Resting: "cooldown, {} left", "档间暂停，剩余 {}";
    InFlight: "{} in flight", "在途 {}";
    Waiting: "{} waiting", "排队 {}";
    Kv: "KV {}", "KV {}";
    SloMet: "SLO met", "SLO 达标";
    SloMissed: "SLO missed", "SLO 未达标";
    SloUndecided: "SLO undecided", "SLO 待定";
    SuspectSoFar: "suspect so far", "目前存疑";
    InvalidSoFar: "invalid so far", "目前无效";
    Level: "level {}", "档位 {}";
    Preparing: "preparing the first level", "正在准备第一个档位";
    VerdictSoFar: "verdict so far: {}", "目前判定：{}";
    NothingMeasured: "nothing measured yet", "尚无测量数据";
    Valid: "valid", "有效";
    Suspect: "suspect", "存疑";
    Invalid: "invalid", "无效";
    LevelConcern: "level {} {}: {}", "档位 {} {}：{}";
    More: "(+{} more)", "（另有 {} 项）";
    SloSoFar: "SLO so far: {}", "目前 SLO：{}";
    Met: "met", "达标";
    Missed: "missed", "未达标";
    Undecided: "undecided", "待定";
    MetShare: "{} of requests within it", "{} 的请求达标";
    NoFailures: "failures: none", "失败：无";
    Failures: "failures: {}", "失败：{}";
    NotCompleted: "not completed: {}", "未成功：{}";
    Notes: "notes ", "说明 ";
    KeysLong:
        "q: back to one line, the run continues   Ctrl-C: stop sending, twice: stop at once",
        "q：返回进度行，压测继续   Ctrl-C：停止发送，再按一次：立即停止";
    Keys: "q: back to one line   Ctrl-C: stop sending", "q：返回进度行   Ctrl-C：停止发送";
    KeysShort: "q: back   Ctrl-C: stop", "q：返回   Ctrl-C：停止";
    OutputTokens: "output tokens", "输出 token";
    ChartInputs: "inputs", "输入";
    ChartLatency: "latency p50", "时延 p50";
    ChartLatencyP99: "latency p99", "时延 p99";
    ChartRequests: "requests", "请求";
    Highest: "highest {}", "最高 {}";
    LevelsOver: "levels: {} of {} done", "档位：已完成 {}/{}";
    LevelsShown: "levels {} to {} of {}, {} done", "档位 {} 至 {}（共 {} 个，已完成 {} 个）";
    MoreMayFollow: ", more may follow", "，可能还有";
    TimesInMs: "; times in ms ", "；时间单位 ms ";
    RatesAndTimes: "; rates of whole levels, times in ms ", "；速率按整档计，时间单位 ms ";
    ColumnLevel: "level", "档位";
    ColumnRequests: "reqs", "请求";
    ColumnFailed: "failed", "失败";
    ColumnShed: "shed", "拒绝";
    ColumnState: "state", "状态";
    Running: "running", "进行中";
    Pending: "pending", "未开始";
    Complete: "complete", "已完成";
    TimeUp: "time up", "时间到";
    Converged: "converged", "已收敛";
    Stopped: "stopped", "已停止";
    Lost: "target lost", "目标失联";
    Aborted: "aborted", "已中止";
    TooManyFailed: "too many failures", "失败过多";
    TooSlow: "client too slow", "客户端过慢";
    NoTerminal: "--live: stderr is not a terminal that can be drawn on; showing plain progress",
        "--live：stderr 不是可绘制的终端；改用普通进度输出";
    NotInForeground: "--live: dyno is not in the foreground of its terminal; showing plain progress",
        "--live：dyno 不在终端前台；改用普通进度输出";
    Dropped: "dropped", "未发送";
    Unclassified: "not yet classified", "尚未分类";
    OneAgent: "1 agent", "1 个压测端";
    Agents: "{} agents", "{} 个压测端";
    AgentIsLost: "agent {} lost", "压测端 {} 丢失";
    AgentSilent: "agent {} silent for {}", "压测端 {} 已 {} 无消息";
    AgentLate: "agent {} {} ms late", "压测端 {} 发送晚 {} ms";
    Collecting: "collecting records", "正在收集记录";
    JudgedAfter: "verdict: after each level, from the records of all agents",
        "判定：每档结束后，根据所有压测端的记录";
    AgentsAll: "agents ", "压测端 ";
    AgentsWorst: "agents: {} of {}, the worst first ", "压测端：共 {1} 个，显示最差的 {0} 个 ";
    ColumnAgent: "agent", "压测端";
    ColumnSent: "sent", "已发送";
    ColumnInFlight: "in flight", "在途";
    ColumnLate: "late ms", "延迟 ms";
    ColumnHeard: "last report", "最近上报";
    Ago: "{} ago", "{} 前";
    AgentGone: "lost", "丢失";
    AgentDone: "done", "已完成";
    AgentLost: "agent lost", "压测端丢失";
    TwinPredicted: "twin {}, predicted", "孪生模型 {}，预测";
    EngineWithTwin: "embedded engine, {}", "内置引擎，{}";
    Engine: "embedded engine", "内置引擎";
}

/// How many load generators there are.
pub(crate) fn agents(count: usize, language: Language) -> String {
    match count {
        1 => Text::OneAgent.text(language).to_owned(),
        _ => Text::Agents.with(language, &[count.to_string()]),
    }
}

/// How a level ended, in a word or two.
pub(crate) fn ending(ending: Ending) -> Text {
    match ending {
        Ending::Requests => Text::Complete,
        Ending::Duration => Text::TimeUp,
        Ending::Stable => Text::Converged,
        Ending::Interrupted => Text::Stopped,
        Ending::TargetLost => Text::Lost,
        Ending::Aborted => Text::Aborted,
        Ending::MaxFailures => Text::TooManyFailed,
        Ending::AgentLost => Text::AgentLost,
        Ending::BehindSchedule => Text::TooSlow,
    }
}

/// The name of a verdict.
pub(crate) fn verdict(verdict: Verdict, language: Language) -> &'static str {
    match verdict {
        Verdict::Valid => Text::Valid.text(language),
        Verdict::Suspect => Text::Suspect.text(language),
        Verdict::Invalid => Text::Invalid.text(language),
        Verdict::Unjudged => Text::NothingMeasured.text(language),
    }
}

/// Whether an SLO or one of its terms holds.
pub(crate) fn decision(decision: Decision) -> Text {
    match decision {
        Decision::Met => Text::Met,
        Decision::Missed => Text::Missed,
        Decision::Inconclusive => Text::Undecided,
    }
}
