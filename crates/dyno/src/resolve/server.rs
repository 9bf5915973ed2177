//! What the plan says of the server besides its address.

use crate::args::cost::CostArgs;
use crate::args::metrics::MetricsArg;
use crate::usage::UsageError;
use dyno_model::server::ServerPlan;

/// A price needs a number of GPUs: a wrong guess would make every figure wrong by its factor.
pub(super) fn plan(metrics: Option<&MetricsArg>, cost: CostArgs) -> Result<ServerPlan, UsageError> {
    if cost.gpu_cost.is_some() && cost.gpus.is_none() {
        return Err(UsageError::new(
            "--gpu-cost",
            "the price is that of one GPU; say how many the server runs on with --gpus N",
        ));
    }
    Ok(ServerPlan {
        metrics: metrics.map(MetricsArg::shown),
        gpus: cost.gpus,
        gpu_cost: cost.gpu_cost,
    })
}
