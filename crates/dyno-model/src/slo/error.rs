//! Errors of SLOs and conditions, each with a correction.

use super::{Metric, Statistic};
use thiserror::Error;

/// Why a text is not an SLO or condition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SloError {
    /// No term at all.
    #[error("it is empty; write a bound such as `{0}`")]
    Empty(&'static str),
    /// `and` at one end, or twice.
    #[error("a term is missing beside `and`; write `ttft.p99<500ms and errors<1%`")]
    Dangling,
    /// No `<` or `>`.
    #[error("`{text}` has no bound; write {form}")]
    NoBound {
        /// The term.
        text: String,
        /// How one is written.
        form: &'static str,
    },
    /// Not the name of a metric.
    #[error(
        "there is no metric `{name}`{near} Known: {known}",
        near = did_you_mean(.near),
        known = metrics()
    )]
    Metric {
        /// What was written.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// Not the name of a statistic.
    #[error(
        "there is no statistic `{name}`{near} Known: {known}",
        near = did_you_mean(.near),
        known = statistics()
    )]
    Statistic {
        /// What was written.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// One request would decide.
    #[error("`max` is not supported, because a single request decides it; write `{right}`")]
    Max {
        /// The right spelling.
        right: String,
    },
    /// A time without a statistic.
    #[error("`{name}` needs a statistic: write `{right}`. Known: {known}", known = statistics())]
    NoStatistic {
        /// The metric.
        name: &'static str,
        /// The right spelling.
        right: String,
    },
    /// A statistic of a metric that is a single number.
    #[error("`{name}` has no statistics: write `{right}`")]
    OneFigure {
        /// The metric.
        name: &'static str,
        /// The right spelling.
        right: String,
    },
    /// `scheduled.` before a metric that does not depend on the schedule.
    #[error("`{name}` does not depend on the schedule: write `{name}` without `scheduled.`")]
    NotScheduled {
        /// The metric.
        name: &'static str,
    },
    /// A number without its unit.
    #[error("{kind} needs a unit: write `{right}`")]
    NoUnit {
        /// What kind of value it is.
        kind: &'static str,
        /// The right spelling.
        right: String,
    },
    /// Not a bound of this metric.
    #[error("`{text}` is not {kind}; write `{right}`")]
    Bound {
        /// What was written.
        text: String,
        /// What kind of value it is.
        kind: &'static str,
        /// The right spelling.
        right: String,
    },
    /// A bound that everything or nothing meets.
    #[error("`{text}` {why}; write {right}")]
    Impossible {
        /// The term.
        text: String,
        /// Why it makes no sense.
        why: &'static str,
        /// What would.
        right: String,
    },
    /// A lower bound instead of an upper bound, or vice versa.
    #[error("`{text}` is the wrong way round: {why}; write `{right}`")]
    WrongSide {
        /// The term.
        text: String,
        /// What it is for.
        why: &'static str,
        /// The right spelling.
        right: String,
    },
    /// The same metric twice.
    #[error("`{0}` is bounded twice; keep one of the two")]
    Twice(String),
}

fn did_you_mean(near: &Option<String>) -> String {
    near.as_ref().map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"))
}

fn metrics() -> String {
    super::metrics().into_iter().map(Metric::name).collect::<Vec<_>>().join(", ")
}

fn statistics() -> String {
    Statistic::bounded().map(Statistic::name).collect::<Vec<_>>().join(", ")
}
