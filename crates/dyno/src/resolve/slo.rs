//! Whether the planned measurements can decide an SLO.

use super::notes::Notes;
use crate::usage::UsageError;
use dyno_analysis::slo::requests_needed;
use dyno_model::message;
use dyno_model::plan::{LevelPlan, Load};
use dyno_model::slo::Slo;

/// Refuses bounds on metrics that will be absent, and notes levels with too few requests.
pub(super) fn check(
    slo: &Slo,
    stream: bool,
    levels: &[LevelPlan],
    notes: &mut Notes,
) -> Result<(), UsageError> {
    if let Some(term) = slo.terms().iter().find(|term| !stream && term.metric.needs_stream()) {
        let wrong = message!("{} needs streamed responses", "{} 需要流式响应", term.figure());
        return Err(UsageError::new("--slo", wrong).hint(message!(
            "remove --no-stream, or bound latency",
            "请去掉 --no-stream，或改为限制 latency"
        )));
    }
    let needed = requests_needed(slo);
    let requests = |level: &LevelPlan| match level.load {
        Load::Burst { requests } => Some(requests),
        _ => level.requests,
    };
    if let Some(fewest) = levels.iter().filter_map(requests).min().filter(|n| *n < needed) {
        notes.push(message!(
            "--slo: its percentiles need {needed} requests per level, and one level has {fewest}; \
             unless they are far from their bounds, the result there will be inconclusive",
            "--slo：其分位数每级需要 {needed} 个请求，而有一级只有 {fewest} 个；除非与界限相差很大\
             ，否则该级将无法判定"
        ));
    }
    Ok(())
}
