//! What the report of `dyno fit` says, in English and Chinese.

use dyno_fit::TrialKind;
use dyno_model::Language;
use dyno_words::messages;

messages! {
    /// A text of `dyno fit`.
    pub(super) enum Say;

    Progress: "fitting: {} steps in {}", "正在拟合：{} 步，已用 {}";
    BestError: ", best error so far {} %", "，目前最小误差 {} %";
    Remaining: ", {} % done, about {} left", "，已完成 {} %，大约还需 {}";

    MeasuredToSimulated: "→ measured to simulated", "→ 实测到模拟";
    EachLevel:
        "error on levels that were left out (each fifth of the levels predicted from the rest):",
        "留出档位上的误差（每五分之一的档位由其余档位预测）：";
    EachKind:
        "error on kinds of load that were left out:", "留出负载类型上的误差：";
    MeanSize: "mean absolute error", "平均绝对误差";
    KindFrom: "{} predicted from {}", "由{1}预测{0}";
    Closed: "closed loops", "闭环";
    Open: "open loops", "开环";
    Sessions: "conversations", "多轮对话";
    Burst: "bursts", "突发";
    Settings: "settings that fit best:", "最符合的设置：";
    Coefficients:
        "coefficients, and the range that the data allows:", "系数，以及数据允许的范围：";
    NoAttention:
        "attention_ns: all prompts have about the same length", "attention_ns：所有提示词长度相近";
    NoContext: "kv_ns: all requests have about the same length", "kv_ns：所有请求长度相近";
    NoMaxSeqs: "max_seqs: never reached", "max_seqs：从未达到";
    NoTokenBudget:
        "token_budget: other values fit as well", "token_budget：其他取值同样符合";
    NoKvCache:
        "kv_blocks: nothing shows how many there are; the twin has so many that they never fill",
        "kv_blocks：无法看出有多少；孪生模型的块数多到不会写满";
    NoPrefixCache:
        "prefix_cache: nothing shows whether the server has one, so the twin's is assumed",
        "prefix_cache：无法看出服务端是否有前缀缓存，孪生模型的缓存只是假定";
    NoCoefficient: "{}: other values fit as well", "{}：其他取值同样符合";
    NoKind: "{}: not measured", "{}：没有测试";
    NextRun: "next run to measure:", "下一步测试：";
    WouldShow: "for {}:", "用于确定 {}：";
    FitTogether:
        "then fit all runs together: dyno fit RUN… NEW --out FILE",
        "然后把所有测试一起拟合：dyno fit RUN… NEW --out FILE";
    LeaveOneOut:
        "leave-one-out error (each level predicted from the others):",
        "留一法误差（每个档位由其他档位预测）：";
    Ranges: "plausible range of each parameter:", "各参数的可信范围：";
    To: "{} to {}", "{} 到 {}";
    Unidentified: "not identifiable from this data:", "无法由这些数据确定：";
    Advice:
        "predictions outside the measured range depend on these; measure past the knee, or give \
         --max-seqs",
        "超出已测范围的预测取决于这些参数；请测试到拐点之后，或给出 --max-seqs";
}

/// A kind of load.
pub(super) fn kind(kind: TrialKind, language: Language) -> &'static str {
    let say = match kind {
        TrialKind::Closed => Say::Closed,
        TrialKind::Open => Say::Open,
        TrialKind::Sessions => Say::Sessions,
        TrialKind::Burst => Say::Burst,
    };
    say.text(language)
}
