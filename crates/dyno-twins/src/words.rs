//! What is said of levels that cannot be used, in English and Chinese.

use dyno_words::messages;

messages! {
    /// A text about a level.
    pub(crate) enum Message;

    LeftOut: "left out: {}: {}", "未使用：{}：{}";
    LeftOutSeveral: "left out {} levels ({}): {}", "{} 个档位未使用（{}）：{}";
    Hidden:
        "steps of the engine are not visible in {}, so only its distributions are used: {}",
        "{} 中看不到引擎的每一步，只使用其分布：{}";
    HiddenSeveral:
        "steps of the engine are not visible in {} levels ({}), so only their distributions are used: {}",
        "{} 个档位（{}）中看不到引擎的每一步，只使用其分布：{}";
    Unchecked:
        "could not be checked: whether others used the server during {} {0|level|levels} ({}); it does \
         not report how many requests it has",
        "无法检查：{} 个档位（{}）期间是否有其他人使用服务端；服务端不报告其请求数";
    Several:
        "{} is compared as if one engine had served it: {}", "{} 按单个引擎处理全部请求来比较：{}";
    SeveralSeveral:
        "{} levels ({}) are compared as if one engine had served them: {}",
        "{} 个档位（{}）按单个引擎处理全部请求来比较：{}";
    OfRun: "{} of run {}", "{}（第 {} 个测试）";

    Invalid: "invalid: {}", "无效：{}";
    NoReason: "no reason given", "未给出原因";
    NotCounted: "its requests were not counted", "没有请求计数";
    Partial: "it was not measured to its end", "没有测完";
    NoLoad: "request rate and concurrency are not stated", "没有给出请求速率和并发数";

    Few: "only {} completed requests; measure at least 8", "只有 {} 个请求完成；请至少测试 8 个";
    Failures: "{} of {} requests failed", "{1} 个请求中有 {0} 个失败";
    NotStreamed:
        "its responses were not streamed; measure without --no-stream",
        "响应不是流式的；请不带 --no-stream 测试";
    NoInput:
        "the tokens of its prompts are not known; measure with --tokenizer",
        "不知道提示词的 token 数；请带 --tokenizer 测试";
    HeldBack:
        "arrivals waited in the client for a free slot; measure without --max-concurrency",
        "请求在客户端等待空位；请不带 --max-concurrency 测试";
    SentAgain:
        "requests were refused and sent again; measure without --on-shed retry",
        "请求被拒绝后重新发送；请不带 --on-shed retry 测试";
}
