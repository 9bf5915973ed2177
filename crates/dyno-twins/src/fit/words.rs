//! What `dyno fit` prints, in English and Chinese.

use crate::shown::compare::short;
use dyno_fit::{Defect, Problem};
use dyno_model::Language;
use dyno_words::messages;

messages! {
    /// A text of `dyno fit`.
    pub(super) enum Message;

    Fitting:
        "fitting {} levels; this takes from a few seconds to some minutes",
        "正在拟合 {} 个档位，需要几秒到几分钟";
    Progress: "fitting: {} steps in {}", "正在拟合：{} 步，已用 {}";
    BestError: ", best error so far {} %", "，目前最小误差 {} %";
    Remaining: ", {} % done, about {} left", "，已完成 {} %，大约还需 {}";
    LeftOut: "left out: {}: {}", "未参与拟合：{}：{}";
    LeftOutSeveral: "left out {} levels ({}): {}", "{} 个档位未参与拟合（{}）：{}";
    OfRun: "{} of run {}", "{}（第 {} 个测试）";

    Invalid: "invalid: {}", "无效：{}";
    NoReason: "no reason given", "未给出原因";
    NotCounted: "its requests were not counted", "没有请求计数";
    Partial: "it was not measured to its end", "没有测完";
    Failed: "{} requests failed", "{} 个请求失败";
    Conversations:
        "conversations, whose prompts grow, cannot be replayed",
        "多轮对话的提示词会增长，无法重放";
    NoLoad: "request rate and concurrency are not stated", "没有给出请求速率和并发数";
    WarmUp:
        "it has a warm-up phase, which the fit cannot model; measure without --warmup",
        "包含预热阶段，拟合无法模拟；请不带 --warmup 测试";
    Trace: "a trace cannot be replayed", "轨迹负载无法重放";
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
