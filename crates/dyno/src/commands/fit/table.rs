//! Measured runs as a table to fit.

use super::Measured;
use dyno_engine::twin::reference::Figure;
use dyno_fit::{End, Level, Offer, Role, Table};
use dyno_model::Verdict;
use dyno_model::metric::Time;
use dyno_model::plan::{Arrival, LevelPlan, Load, Warmup};
use dyno_model::summary::{Distribution, LevelSummary, Tokens};
use dyno_model::units::to_s;
use std::collections::BTreeMap;

/// The levels of runs, in order of load.
pub(super) fn table(name: &str, runs: &[Measured], max_seqs: Option<u32>) -> Table {
    let mut levels: Vec<(f64, Level)> = Vec::new();
    let several = runs.len() > 1;
    for (number, (plans, summary)) in runs.iter().enumerate() {
        for measured in &summary.levels {
            let Some(planned) = plans.get(&measured.index) else { continue };
            let mut level = level(planned, measured);
            if several {
                level.label = format!("{} of run {}", level.label, number + 1);
            }
            levels.push((planned.load.value(), level));
        }
    }
    levels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let levels = levels.into_iter().map(|(_, level)| level).collect();
    Table { name: name.to_owned(), levels, max_seqs, kv_tokens: None, context: None, varied: false }
}

fn level(plan: &LevelPlan, measured: &LevelSummary) -> Level {
    let tokens = |tokens: &Option<Tokens>| tokens.map(|tokens| tokens.mean);
    let (input, output) = (tokens(&measured.input_tokens), tokens(&measured.output_tokens));
    let offer = offer(plan, measured);
    let role = match left_out(plan, measured, offer.is_some(), input.is_some() && output.is_some())
    {
        Some(why) => Role::LeftOut(why),
        None => Role::Fitted,
    };
    Level {
        label: measured.label.clone(),
        offer: offer.unwrap_or(Offer::burst(1)),
        input: input.unwrap_or(1.0),
        output: output.unwrap_or(1.0),
        counted: None,
        timeout_s: None,
        repeated: false,
        figures: figures(measured),
        role,
    }
}

/// How the requests of a level were sent, if the fit can simulate it.
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
            Some(Offer::Load { load, at_most: None, end })
        }
        Load::Burst { .. } => Some(Offer::burst(sent)),
        Load::Rate { .. } | Load::Trace { .. } | Load::Ramp { .. } => None,
    }
}

/// Why a level is skipped.
fn left_out(
    plan: &LevelPlan,
    measured: &LevelSummary,
    simulated: bool,
    counted: bool,
) -> Option<String> {
    let reason = || measured.reasons.first().map_or("no reason given", |r| r.what.as_str());
    if measured.verdict == Verdict::Invalid {
        return Some(format!("invalid: {}", reason()));
    }
    if measured.requests.completed.is_none() {
        return Some("its request count is not known".to_owned());
    }
    if measured.partial || measured.requests.completed == Some(0) {
        return Some("incomplete".to_owned());
    }
    if let Some(failed) = measured.requests.failed.filter(|failed| *failed > 0) {
        return Some(format!("{failed} requests failed"));
    }
    if measured.sessions.is_some() {
        return Some("conversations, whose prompts grow, are not simulated".to_owned());
    }
    if matches!(plan.warmup, Some(Warmup::Requests(_) | Warmup::Duration(_))) {
        return Some(
            "has a warm-up phase, which the fit cannot model; measure without --warmup".to_owned(),
        );
    }
    if !simulated {
        return Some(match plan.load {
            Load::Trace { .. } => "a trace".to_owned(),
            Load::Ramp { .. } => "a ramp".to_owned(),
            _ => "random arrivals; measure with --arrival constant".to_owned(),
        });
    }
    (!counted).then(|| "its token counts are not known".to_owned())
}

fn figures(measured: &LevelSummary) -> BTreeMap<Figure, f64> {
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
        // For complete responses, it only repeats the latency.
        (Figure::TtftMs, mean(&measured.times[Time::Ttft]).filter(|_| !measured.is_whole())),
        (Figure::TpotMs, mean(&measured.times[Time::Tpot])),
    ];
    all.into_iter().filter_map(|(figure, value)| Some((figure, value?))).collect()
}
