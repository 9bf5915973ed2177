//! The cost of a level: tokens per GPU, and their price.

use dyno_model::server::ServerPlan;
use dyno_model::summary::{CostSummary, Steady, Throughput, tidy};

const SECONDS_PER_HOUR: f64 = 3600.0;

/// The cost of a level; nothing where the plan does not state the number of GPUs.
pub(super) fn cost(
    plan: &ServerPlan,
    whole: Throughput,
    steady: Option<Steady>,
) -> Option<CostSummary> {
    let gpus = f64::from(plan.gpus.filter(|gpus| *gpus > 0)?);
    let throughput = steady.map_or(whole, |steady| steady.throughput);
    let per_second = plan.gpu_cost.as_ref().map(|cost| cost.per_hour * gpus / SECONDS_PER_HOUR);
    let million = |tokens_per_s: Option<f64>| {
        let tokens_per_s = tokens_per_s.filter(|rate| *rate > 0.0)?;
        tidy(per_second? / tokens_per_s * 1e6)
    };
    let each = |tokens_per_s: Option<f64>| tidy(tokens_per_s? / gpus);
    Some(CostSummary {
        steady: steady.is_some(),
        output_tokens_per_s_per_gpu: each(throughput.output_tokens_per_s),
        total_tokens_per_s_per_gpu: each(throughput.total_tokens_per_s),
        per_million_output_tokens: million(throughput.output_tokens_per_s),
        per_million_total_tokens: million(throughput.total_tokens_per_s),
    })
}
