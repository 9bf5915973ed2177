//! What `dyno fit` prints, in English and Chinese.

use crate::shown::compare::short;
use dyno_fit::{Defect, Kind, Problem};
use dyno_model::Language;
use dyno_words::messages;

messages! {
    /// A text of `dyno fit`.
    pub(super) enum Message;

    Fitting:
        "fitting {} levels; this takes from a few seconds to some minutes",
        "正在拟合 {} 个档位，需要几秒到几分钟";
    FittingRecords:
        "fitting {} levels, request by request; this takes from a few seconds to some minutes",
        "正在逐个请求拟合 {} 个档位，需要几秒到几分钟";
    FromTable:
        "fitting the results of the levels instead: a fit to single requests is not possible",
        "改为拟合各档位的汇总结果：无法逐个请求拟合";
    SomeRecords:
        "fitting the results of the levels: not every run has records of single requests",
        "拟合各档位的汇总结果：不是每个测试都有单个请求的记录";
    NoRecords:
        "{} has no records of single requests; use --from table",
        "{} 没有单个请求的记录；请使用 --from table";
    NoEngine:
        "no engine could serve these requests; check the prompt lengths, --max-seqs and \
         --token-budget",
        "没有引擎能处理这些请求；请检查提示词长度、--max-seqs 和 --token-budget";
    Unreadable: "the records cannot be read: {}", "无法读取记录：{}";
    Progress: "fitting: {} steps in {}", "正在拟合：{} 步，已用 {}";
    BestError: ", best error so far {} %", "，目前最小误差 {} %";
    Remaining: ", {} % done, about {} left", "，已完成 {} %，大约还需 {}";

    Failed: "{} requests failed", "{} 个请求失败";
    Conversations:
        "conversations, whose prompts grow, cannot be replayed",
        "多轮对话的提示词会增长，无法重放";
    WarmUp:
        "it has a warm-up phase, which the fit cannot model; measure without --warmup",
        "包含预热阶段，拟合无法模拟；请不带 --warmup 测试";
    Trace: "a trace cannot be replayed", "流量记录负载无法重放";
    Ramp: "a ramp cannot be replayed", "爬坡负载无法重放";
    RandomArrivals:
        "random arrivals cannot be replayed; measure with --arrival constant",
        "随机到达无法重放；请用 --arrival constant 测试";
    NoTokens: "its tokens were not counted", "没有 token 计数";
    TooMany: "it has too many requests to simulate", "请求过多，无法模拟";

    TooFew:
        "{} of {} levels can be fitted; at least {} with different loads are needed (5 or more, \
         from one request at a time to past the knee, make a useful twin)",
        "{1} 个档位中有 {0} 个可用于拟合；至少需要 {2} 个不同负载的档位（从单个请求到超过拐点的 5 个或更多档位\
         才能得到有用的孪生模型）";
    NothingVaries:
        "all levels offer the same load ({}); measure several request rates or concurrencies",
        "所有档位的负载相同（{}）；请测试多个请求速率或并发数";
    OfLevel: "level {}: {}", "档位 {}：{}";
    Impossible: "{} is {}; leave out what was not measured", "{} 为 {}；请去掉没有测量的数值";
    NoMeasurement:
        "has neither a rate nor a time; leave the level out", "既没有速率也没有时间；请去掉该档位";
    PromptLength:
        "a prompt of {} tokens; give at least 1", "提示词为 {} 个 token；至少为 1";
    ResponseLength:
        "a response of {} tokens; give at least 1", "响应为 {} 个 token；至少为 1";
    CountedFew: "fewer than 2 tokens counted per response", "每个响应的 token 计数少于 2";
    Rate:
        "a rate of {} requests per second; give more than 0", "请求速率为每秒 {} 个；须大于 0";
    NoneInFlight: "no request in flight; give at least 1", "在途请求为 0；至少为 1";

    PoorFit:
        "POOR FIT: the leave-one-out error is over {} % ({}). Do not rely on this twin between or \
         beyond the measured levels; measure more levels, at more different loads, and fit again",
        "拟合很差：留一法误差超过 {} %（{}）。在已测档位之间和之外都不要依赖该孪生模型；请在更多不同负载下测试更多\
         档位后重新拟合";
    PoorRecords:
        "POOR FIT: the error on levels that were left out is over {} % ({}). Do not rely on this twin \
         for other loads; measure more levels, of more kinds of load, and fit again",
        "拟合很差：在留出档位上的误差超过 {} %（{}）。对其他负载不要依赖该孪生模型；请测试更多种类的更多档位后\
         重新拟合";
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
pub(super) fn kind(kind: Kind, language: Language) -> &'static str {
    let message = match kind {
        Kind::Closed => Message::Closed,
        Kind::Open => Message::Open,
        Kind::Sessions => Message::Sessions,
        Kind::Burst => Message::Burst,
    };
    message.text(language)
}

/// A defect of the input.
pub(super) fn defect(defect: &Defect, language: Language) -> String {
    match defect {
        Defect::TooFew { have, all, fewest } => {
            Message::TooFew.with(language, &[have, all, fewest].map(ToString::to_string))
        }
        Defect::NothingVaries(label) => Message::NothingVaries.with(language, &[label]),
        Defect::Level { label, problem } => {
            Message::OfLevel.with(language, &[label.clone(), self::problem(problem, language)])
        }
    }
}

fn problem(problem: &Problem, language: Language) -> String {
    let of = |message: Message, value: f64| message.with(language, &[value.to_string()]);
    match problem {
        Problem::Value { figure, value } => {
            Message::Impossible.with(language, &[short(*figure, language), value.to_string()])
        }
        Problem::NoMeasurement => Message::NoMeasurement.text(language).to_owned(),
        Problem::PromptLength(tokens) => of(Message::PromptLength, *tokens),
        Problem::ResponseLength(tokens) => of(Message::ResponseLength, *tokens),
        Problem::CountedFew => Message::CountedFew.text(language).to_owned(),
        Problem::Rate(rate) => of(Message::Rate, *rate),
        Problem::NoneInFlight => Message::NoneInFlight.text(language).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defects_read_as_in_the_library() {
        let level = |problem| Defect::Level { label: "rate 2".to_owned(), problem };
        for defect in [
            Defect::TooFew { have: 1, all: 3, fewest: 2 },
            Defect::NothingVaries("rate 2".to_owned()),
            level(Problem::NoMeasurement),
            level(Problem::PromptLength(0.0)),
            level(Problem::ResponseLength(0.5)),
            level(Problem::CountedFew),
            level(Problem::Rate(-1.0)),
            level(Problem::NoneInFlight),
        ] {
            assert_eq!(super::defect(&defect, Language::English), defect.to_string());
            assert_ne!(super::defect(&defect, Language::Chinese), defect.to_string());
        }
    }
}
