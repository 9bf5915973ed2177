//! Measured runs as a table to fit.

use crate::measured::MeasuredRun;
use crate::usable::{joined, no_load, not_measured, of_run};
use dyno_engine::twin::reference::ReferenceValue;
use dyno_fit::{FitTable, Offer, Role, TableEnd, TableLevel};
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use dyno_model::summary::{Distribution, LevelSummary, Tokens};
use dyno_model::units::to_s;
use dyno_model::{Language, Message, message};
use std::collections::BTreeMap;

/// The levels of runs, in order of load.
pub(super) fn table(
    name: &str,
    runs: &[MeasuredRun],
    max_seqs: Option<u32>,
    language: Language,
) -> FitTable {
    let mut levels: Vec<(f64, TableLevel)> = Vec::new();
    let several = runs.len() > 1;
    for (number, MeasuredRun { plans, summary, .. }) in runs.iter().enumerate() {
        for measured in &summary.levels {
            let planned = plans.get(&measured.index);
            let mut level = level(planned, measured);
            level.label = of_run(&level.label, several.then_some(number + 1), language);
            levels.push((planned.map_or(0.0, |planned| planned.load.value()), level));
        }
    }
    levels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let levels = levels.into_iter().map(|(_, level)| level).collect();
    FitTable {
        name: name.to_owned(),
        levels,
        max_seqs,
        kv_tokens: None,
        context: None,
        varied: false,
    }
}

fn level(plan: Option<&LevelPlan>, measured: &LevelSummary) -> TableLevel {
    let tokens = |tokens: &Option<Tokens>| tokens.map(|tokens| tokens.mean);
    let (input, output) = (tokens(&measured.input_tokens), tokens(&measured.output_tokens));
    let offer = plan.and_then(|plan| offer(plan, measured));
    let mut reasons = unusable(plan, measured);
    if input.is_none() || output.is_none() {
        reasons.push(message!("its tokens were not counted", "没有 token 计数"));
    }
    if offer.is_none() && reasons.is_empty() {
        reasons.push(message!("it has too many requests to simulate", "请求过多，无法模拟"));
    }
    let role = match reasons.is_empty() {
        true => Role::Fitted,
        false => Role::LeftOut(joined(reasons)),
    };
    TableLevel {
        label: measured.label.clone(),
        offer: offer.unwrap_or(Offer::burst(1)),
        input: input.unwrap_or(1.0),
        output: output.unwrap_or(1.0),
        counted: None,
        timeout_s: None,
        repeated: false,
        metrics: metrics(measured),
        role,
    }
}

/// How the requests of a level were sent; nothing if a fit cannot simulate it.
fn offer(plan: &LevelPlan, measured: &LevelSummary) -> Option<Offer> {
    let by_time = measured.ending == Some(dyno_model::frame::Ending::Duration);
    let seconds = to_s(plan.duration_ns.unwrap_or(0));
    let sent = u32::try_from(measured.requests.completed?).ok()?;
    let end = match by_time {
        true => TableEnd::Drained { seconds },
        false => TableEnd::Requests { requests: sent, noticed_s: 0.0 },
    };
    match plan.load {
        load @ (Load::Concurrency { .. } | Load::Rate { arrival: Arrival::Constant, .. }) => {
            let at_most = plan.max_concurrency.filter(|_| load.is_open());
            Some(Offer::Load { load, at_most, end })
        }
        Load::Burst { .. } => Some(Offer::burst(sent)),
        Load::Rate { .. } | Load::Trace { .. } | Load::Ramp { .. } => None,
    }
}

/// All reasons why a level cannot be fitted, beside missing token counts.
fn unusable(plan: Option<&LevelPlan>, measured: &LevelSummary) -> Vec<Message> {
    let mut reasons = not_measured(measured);
    let Some(plan) = plan else {
        reasons.push(no_load());
        return reasons;
    };
    let failed = measured.requests.refused().unwrap_or(0);
    if failed > 0 {
        reasons.push(message!("{failed} requests failed", "{failed} 个请求失败"));
    }
    if measured.has_turns() {
        reasons.push(message!(
            "conversations, whose prompts grow, cannot be replayed",
            "多轮对话的提示词会增长，无法重放"
        ));
    }
    if matches!(plan.warmup, Some(Warmup::Requests(_) | Warmup::Duration(_))) {
        reasons.push(message!(
            "it has a warm-up phase, which the fit cannot model; measure without --warmup",
            "包含预热阶段，拟合无法模拟；请不带 --warmup 测试"
        ));
    }
    reasons.extend(match plan.load {
        Load::Trace { .. } => Some(message!("a trace cannot be replayed", "流量记录负载无法重放")),
        Load::Ramp { .. } => Some(message!("a ramp cannot be replayed", "爬坡负载无法重放")),
        Load::Rate { arrival, .. } if arrival != Arrival::Constant => Some(message!(
            "random arrivals cannot be replayed; measure with --arrival constant",
            "随机到达无法重放；请用 --arrival constant 测试"
        )),
        Load::Rate { .. } | Load::Concurrency { .. } | Load::Burst { .. } => None,
    });
    reasons
}

fn metrics(measured: &LevelSummary) -> BTreeMap<ReferenceValue, f64> {
    let mean = |distribution: &Option<Distribution>| {
        distribution.as_ref().and_then(|distribution| distribution.mean)
    };
    let p90 = measured.times[Time::Latency].as_ref().and_then(|latency| latency.p90);
    let all = [
        (ReferenceValue::CompletedRate, measured.throughput.requests_per_s),
        (ReferenceValue::OutputTokensPerS, measured.throughput.output_tokens_per_s),
        (ReferenceValue::DurationS, measured.duration_s),
        (ReferenceValue::LatencyS, mean(&measured.times[Time::Latency]).map(|ms| ms / 1e3)),
        (ReferenceValue::P90S, p90.map(|ms| ms / 1e3)),
        // Of a response that was not streamed, TTFT only repeats the latency.
        (
            ReferenceValue::TtftMs,
            mean(&measured.times[Time::Ttft]).filter(|_| !measured.is_whole()),
        ),
        (ReferenceValue::TpotMs, mean(&measured.times[Time::Tpot])),
    ];
    all.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect()
}
