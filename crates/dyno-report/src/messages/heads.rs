//! The heads of the columns of tables that the registry of metrics has no short name for.

use dyno_model::metric::Metric;
use dyno_words::messages;

messages! {
    /// The head of a column in a terminal; a line break stands between its two lines.
    pub(crate) enum Head;

    TotalRate: "total tok/s", "合计 tok/s";
    BodyRate: "body\nMB/s", "响应体\nMB/s";
    Goodput: "goodput\nreq/s", "有效吞吐\n请求/秒";
    PerUser: "per user\ntok/s", "单用户\ntok/s";
    PerUserP75: "per user\np75 slow", "单用户\n慢侧 p75";
    PerUserP90: "per user\np90 slow", "单用户\n慢侧 p90";
    RequestSpeed: "request\ntok/s", "单请求\ntok/s";
    RequestSpeedP90: "request\np90 slow", "单请求\n慢侧 p90";
    OverallSpeed: "overall\ntok/s", "总体\ntok/s";
    TreesCompleted: "whole\ntrees", "完成的\n任务树";
    TreesLive: "live\ntrees", "活跃\n任务树";
    TreeDuration: "tree\ns p50", "任务树\ns p50";
    TreeStretch: "stretch\np50", "伸缩比\np50";
    IdealCache: "ideal\ncached %", "理想\n缓存 %";
    InFlight: "in\nflight", "平均\n并发数";
    Completed: "ok", "成功";
    Failed: "failed", "失败";
    Unconfirmed: "uncon-\nfirmed", "未\n确认";
    Shed: "shed", "拒绝";
    Failures: "failed\n%", "失败率\n%";
    Errors: "errors\n%", "错误率\n%";
    Duration: "time\ns", "时长\ns";
    Running: "running\nmean", "运行中\n平均";
    Waiting: "waiting\nmean", "排队中\n平均";
    KvCache: "KV cache\nmax %", "KV 缓存\n最大 %";
    Price: "cost per\nM tok out", "每百万输出\ntoken 成本";
}

impl Head {
    /// The head of a metric; nothing for those that the registry has a short name for.
    pub(crate) fn of(metric: Metric) -> Option<Self> {
        Some(match metric {
            Metric::TotalRate => Self::TotalRate,
            Metric::BodyRate => Self::BodyRate,
            Metric::Goodput => Self::Goodput,
            Metric::PerUser => Self::PerUser,
            Metric::PerUserP75 => Self::PerUserP75,
            Metric::PerUserP90 => Self::PerUserP90,
            Metric::RequestSpeed => Self::RequestSpeed,
            Metric::RequestSpeedP90 => Self::RequestSpeedP90,
            Metric::OverallSpeed => Self::OverallSpeed,
            Metric::TreesCompleted => Self::TreesCompleted,
            Metric::TreesLive => Self::TreesLive,
            Metric::TreeDuration => Self::TreeDuration,
            Metric::TreeStretch => Self::TreeStretch,
            Metric::IdealCache => Self::IdealCache,
            Metric::InFlight => Self::InFlight,
            Metric::Completed => Self::Completed,
            Metric::Failed => Self::Failed,
            Metric::Unconfirmed => Self::Unconfirmed,
            Metric::Shed => Self::Shed,
            Metric::Failures => Self::Failures,
            Metric::Errors => Self::Errors,
            Metric::Duration => Self::Duration,
            Metric::Running => Self::Running,
            Metric::Waiting => Self::Waiting,
            Metric::KvCache => Self::KvCache,
            Metric::Price => Self::Price,
            Metric::Time(_)
            | Metric::RequestRate
            | Metric::OutputRate
            | Metric::InputRate
            | Metric::InputTokenRate
            | Metric::Offered
            | Metric::CachedShare => return None,
        })
    }
}
