//! Why a term of an SLO is inconclusive, and what would decide it.

use crate::wordings;

wordings! {
    /// Why a bound is neither met nor missed.
    pub enum Undecided;

    TooFewSamples: Note "slo_samples",
        ["{} has {} {1|sample|samples}, too few to decide this bound",
         "{} 只有 {} 个样本，不足以判定该界限"],
        ["about {2} more {2|request|requests} would decide it", "再有约 {2} 个请求即可判定"];
    BoundInRange: Note "slo_range",
        ["the bound lies within the instrument range of {}, {}–{} {}",
         "界限落在 {} 的测量误差范围 {}–{} {} 之内"],
        ["a machine that measures more precisely would decide it: see `dyno doctor`",
         "在测量更精确的机器上可以判定：请参考 `dyno doctor`"];
    LevelInvalid: Note "slo_invalid",
        ["the level is invalid", "该档位无效"],
        ["a valid level at this load would decide it: see the reasons for the verdict",
         "在此负载下得到一个有效的档位即可判定：请查看判定无效的原因"];
    NearInInvalid: Note "slo_invalid",
        ["the level is invalid and {} is within a factor of {} of the bound",
         "该档位无效，且 {} 与界限相差不到 {} 倍"],
        ["a valid level at this load would decide it: see the reasons for the verdict",
         "在此负载下得到一个有效的档位即可判定：请查看判定无效的原因"];
    NoSuchFigure: Note "slo_no_figure",
        ["{} is not available", "没有 {} 的数据"],
        ["completed requests that have it would decide it", "有具备该指标的成功请求即可判定"];
}
