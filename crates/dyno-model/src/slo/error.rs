//! Errors of SLOs and conditions, each with a correction.

use super::{Metric, Statistic};
use crate::message::{Localized, Message, message};

/// Why a text is not an SLO or condition.
#[derive(Debug, Clone, PartialEq, Eq, Localized)]
pub enum SloError {
    /// No term at all.
    #[message("it is empty; write a bound such as `{0}`", "内容为空；请写一个界限，例如 `{0}`")]
    Empty(&'static str),
    /// `and` at one end, or twice.
    #[message(
        "a term is missing beside `and`; write `ttft.p99<500ms and errors<1%`",
        "`and` 旁缺少一个条件；请写 `ttft.p99<500ms and errors<1%`"
    )]
    Dangling,
    /// No `<` or `>`.
    #[message("`{text}` has no bound; write {form}", "`{text}` 没有界限；请写 {form}")]
    NoBound {
        /// The term.
        text: String,
        /// How one is written.
        form: Message,
    },
    /// Not the name of a metric.
    #[message(
        "there is no metric `{name}`{near} Known: {known}",
        "没有指标 `{name}`{near}可用的有：{known}",
        near = did_you_mean(near.as_deref()),
        known = metrics()
    )]
    Metric {
        /// What was written.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// Not the name of a statistic.
    #[message(
        "there is no statistic `{name}`{near} Known: {known}",
        "没有统计量 `{name}`{near}可用的有：{known}",
        near = did_you_mean(near.as_deref()),
        known = statistics()
    )]
    Statistic {
        /// What was written.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// One request would decide.
    #[message(
        "`max` is not supported, because a single request decides it; write `{right}`",
        "不支持 `max`，因为单个请求就能决定它；请写 `{right}`"
    )]
    Max {
        /// The right spelling.
        right: String,
    },
    /// A time without a statistic.
    #[message(
        "`{name}` needs a statistic: write `{right}`. Known: {known}",
        "`{name}` 需要统计量：请写 `{right}`。可用的有：{known}",
        known = statistics()
    )]
    NoStatistic {
        /// The metric.
        name: &'static str,
        /// The right spelling.
        right: String,
    },
    /// A statistic of a metric that is a single number.
    #[message("`{name}` has no statistics: write `{right}`", "`{name}` 没有统计量：请写 `{right}`")]
    OneFigure {
        /// The metric.
        name: &'static str,
        /// The right spelling.
        right: String,
    },
    /// `scheduled.` before a metric that does not depend on the schedule.
    #[message(
        "`{name}` does not depend on the schedule: write `{name}` without `scheduled.`",
        "`{name}` 与计划时间无关：请去掉 `scheduled.`，只写 `{name}`"
    )]
    NotScheduled {
        /// The metric.
        name: &'static str,
    },
    /// A number without its unit.
    #[message("{kind} needs a unit: write `{right}`", "{kind}需要单位：请写 `{right}`")]
    NoUnit {
        /// What kind of value it is.
        kind: Message,
        /// The right spelling.
        right: String,
    },
    /// Not a bound of this metric.
    #[message("`{text}` is not {kind}; write `{right}`", "`{text}` 不是{kind}；请写 `{right}`")]
    Bound {
        /// What was written.
        text: String,
        /// What kind of value it is.
        kind: Message,
        /// The right spelling.
        right: String,
    },
    /// A bound that everything or nothing meets.
    #[message("`{text}` {why}; write {right}", "`{text}` {why}；请写 {right}")]
    Impossible {
        /// The term.
        text: String,
        /// Why it makes no sense.
        why: Message,
        /// What would.
        right: Message,
    },
    /// A lower bound instead of an upper bound, or vice versa.
    #[message(
        "`{text}` is the wrong way round: {why}; write `{right}`",
        "`{text}` 的方向反了：{why}；请写 `{right}`"
    )]
    WrongSide {
        /// The term.
        text: String,
        /// What it is for.
        why: Message,
        /// The right spelling.
        right: String,
    },
    /// The same metric twice.
    #[message("`{0}` is bounded twice; keep one of the two", "`{0}` 有两个界限；请只保留一个")]
    Twice(String),
}

fn did_you_mean(near: Option<&str>) -> Message {
    match near {
        Some(near) => message!("; did you mean `{near}`?", "；是否想写 `{near}`？"),
        None => message!(".", "。"),
    }
}

fn metrics() -> String {
    super::metrics().into_iter().map(Metric::name).collect::<Vec<_>>().join(", ")
}

fn statistics() -> String {
    Statistic::bounded().map(Statistic::name).collect::<Vec<_>>().join(", ")
}
