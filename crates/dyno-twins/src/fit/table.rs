//! Measured runs as a table to fit.

use super::words::Message;
use crate::measured::Measured;
use crate::usable::{joined, not_measured, of_run};
use crate::words;
use dyno_engine::twin::reference::Figure;
use dyno_fit::{End, Level, Offer, Role, Table};
use dyno_model::Language;
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use dyno_model::summary::{Distribution, LevelSummary, Tokens};
use dyno_model::units::to_s;
use std::collections::BTreeMap;

/// The levels of runs, in order of load.
pub(super) fn table(
    name: &str,
    runs: &[Measured],
    max_seqs: Option<u32>,
    language: Language,
) -> Table {
    let mut levels: Vec<(f64, Level)> = Vec::new();
    let several = runs.len() > 1;
    for (number, Measured { plans, summary, .. }) in runs.iter().enumerate() {
        for measured in &summary.levels {
            let planned = plans.get(&measured.index);
            let mut level = level(planned, measured, language);
            level.label = of_run(&level.label, several.then_some(number + 1), language);
            levels.push((planned.map_or(0.0, |planned| planned.load.value()), level));
        }
    }
    levels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let levels = levels.into_iter().map(|(_, level)| level).collect();
    Table { name: name.to_owned(), levels, max_seqs, kv_tokens: None, context: None, varied: false }
}

fn level(plan: Option<&LevelPlan>, measured: &LevelSummary, language: Language) -> Level {
    let tokens = |tokens: &Option<Tokens>| tokens.map(|tokens| tokens.mean);
    let (input, output) = (tokens(&measured.input_tokens), tokens(&measured.output_tokens));
    let offer = plan.and_then(|plan| offer(plan, measured));
    let mut reasons = unusable(plan, measured, language);
    if input.is_none() || output.is_none() {
        reasons.push(Message::NoTokens.text(language).to_owned());
    }
    if offer.is_none() && reasons.is_empty() {
        reasons.push(Message::TooMany.text(language).to_owned());
    }
    let role = match reasons.is_empty() {
        true => Role::Fitted,
        false => Role::LeftOut(joined(&reasons, language)),
    };
    Level {
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
        true => End::Drained { seconds },
        false => End::Requests { requests: sent, noticed_s: 0.0 },
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
fn unusable(plan: Option<&LevelPlan>, measured: &LevelSummary, language: Language) -> Vec<String> {
    let known = not_measured(measured, language);
    let mut reasons: Vec<String> = (!known.is_empty()).then_some(known).into_iter().collect();
    let Some(plan) = plan else {
        reasons.push(words::Message::NoLoad.text(language).to_owned());
        return reasons;
    };
    let mut add = |applies: bool, message: Message, value: &str| {
        if applies {
            reasons.push(message.with(language, &[value]));
        }
    };
    let failed = measured.requests.refused().unwrap_or(0);
    add(failed > 0, Message::Failed, &failed.to_string());
    add(measured.sessions.is_some(), Message::Conversations, "");
    let is_warm = matches!(plan.warmup, Some(Warmup::Requests(_) | Warmup::Duration(_)));
    add(is_warm, Message::WarmUp, "");
    match plan.load {
        Load::Trace { .. } => add(true, Message::Trace, ""),
        Load::Ramp { .. } => add(true, Message::Ramp, ""),
        Load::Rate { arrival, .. } => {
            add(arrival != Arrival::Constant, Message::RandomArrivals, "");
        }
        Load::Concurrency { .. } | Load::Burst { .. } => {}
    }
    reasons
}

fn metrics(measured: &LevelSummary) -> BTreeMap<Figure, f64> {
    let mean = |distribution: &Option<Distribution>| {
        distribution.as_ref().and_then(|distribution| distribution.mean)
    };
    let p90 = measured.times[Time::Latency].as_ref().and_then(|latency| latency.p90);
    let all = [
        (Figure::CompletedRate, measured.throughput.requests_per_s),
        (Figure::OutputTokensPerS, measured.throughput.output_tokens_per_s),
        (Figure::DurationS, measured.duration_s),
        (Figure::LatencyS, mean(&measured.times[Time::Latency]).map(|ms| ms / 1e3)),
        (Figure::P90S, p90.map(|ms| ms / 1e3)),
        // Of a response that was not streamed, TTFT only repeats the latency.
        (Figure::TtftMs, mean(&measured.times[Time::Ttft]).filter(|_| !measured.is_whole())),
        (Figure::TpotMs, mean(&measured.times[Time::Tpot])),
    ];
    all.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect()
}
