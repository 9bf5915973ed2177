//! The server's metrics and cost in the plan.

use crate::args::cost::CostArgs;
use crate::args::metrics::MetricsArg;
use crate::usage::UsageError;
use dyno_model::message;
use dyno_model::server::ServerPlan;

/// A price needs the number of GPUs: a wrong guess would scale every cost.
pub(super) fn plan(metrics: Option<&MetricsArg>, cost: CostArgs) -> Result<ServerPlan, UsageError> {
    if cost.gpu_cost.is_some() && cost.gpus.is_none() {
        return Err(UsageError::new(
            "--gpu-cost",
            message!(
                "the price is per GPU; add the number of GPUs with --gpus N",
                "价格按单个 GPU 计；请用 --gpus N 指定 GPU 数"
            ),
        ));
    }
    Ok(ServerPlan {
        metrics: metrics.map(MetricsArg::shown),
        gpus: cost.gpus,
        gpu_cost: cost.gpu_cost,
    })
}
