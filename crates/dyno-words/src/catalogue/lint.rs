//! What `dyno lint` finds: the identity that fails, with the rows and their figures as the first
//! value, and the likely cause.

use crate::wordings;

const BELOW: [&str; 2] = [
    "Little's law: requests/s × latency ÷ parallelism is less than filling and draining explain: \
     {}",
    "利特尔法则：QPS × 延迟 ÷ 并发数，低于填充与排空所能解释的下限：{}",
];
const GAPS: [&str; 2] = [
    "(latency − TTFT) ÷ ITL is not the output tokens less one: {}",
    "（延迟 − 首 token 延迟）÷ token 间延迟，应等于输出 token 数减一：{}",
];
const FALLS: [&str; 2] = ["requests/s fall while the load rises: {}", "负载上升而 QPS 下降：{}"];
const CLAMP: [&str; 2] = [
    "longer answers took less time for each output token (ms) than shorter: {}",
    "更长的回答，每输出 token 用时（毫秒）反而更短：{}",
];

wordings! {
    /// What a check of results finds.
    pub enum Defect;

    Zeros: Error "zeros",
        ["every figure is 0", "所有数值均为 0"],
        ["nothing was measured, and 0 was written where there was no data",
         "没有测到任何数据，却在无数据处写了 0"];
    NotStreamed: Warning "not_streamed",
        ["TTFT is equal to the latency", "首 token 延迟等于请求延迟"],
        ["answers were not streamed: there is no TTFT, and the column repeats the latency",
         "没有使用流式输出：并不存在首 token 延迟，该列只是重复了请求延迟"];
    Missing: Error "requests_missing",
        ["requests that ended against those expected: {}", "结束的请求数少于预期：{}"],
        ["requests were lost, or the run was cut short: rates and percentiles are of the rest",
         "有请求丢失，或测试中途停止：速率和百分位只反映其余请求"];
    SlotsIdle: Error "littles_law",
        BELOW,
        ["a straggler or a pause stretched the wall time, so requests/s and tokens/s are too low",
         "个别超长请求或停顿拉长了总用时，因此 QPS 和吞吐量偏低"];
    SlotsHeldByFailures: Error "littles_law",
        BELOW,
        ["requests that failed held the slots, and are in neither figure; or a straggler \
          stretched the wall time",
         "失败的请求占用了并发槽位，却不计入这两个数值；或个别超长请求拉长了总用时"];
    MoreThanSlots: Error "littles_law",
        ["Little's law: requests/s × latency ÷ parallelism is above 1: {}",
         "利特尔法则：QPS × 延迟 ÷ 并发数大于 1：{}"],
        ["more was in flight than the row says, or latency and rate are of different runs",
         "实际并发高于该行所写，或延迟与速率来自不同的测试"];
    Tokens: Error "tokens_per_request",
        ["tokens/s ÷ requests/s is not the output tokens of a request: {}",
         "吞吐量 ÷ QPS 与每个请求的输出 token 数不符：{}"],
        ["tokens and requests are counted over different requests: some that failed or were left \
          out count in one of them",
         "token 与请求的统计口径不同：失败或被剔除的请求只计入了其中之一"];
    Runaway: Error "runaway_answer",
        ["no request failed, yet answers are longer than in the other rows: {}",
         "没有请求失败，但回答比其他行更长：{}"],
        ["one runaway answer of about {1} tokens, which also stretched the wall time",
         "有一个约 {1} token 的失控回答，它也拉长了总用时"];
    GapsShifted: Error "tokens_by_itl",
        GAPS,
        ["the ITL column is shifted against its rows: the figures would fit other rows",
         "token 间延迟一列与行错位：这些数值与其他行相符"];
    Gaps: Error "tokens_by_itl",
        GAPS,
        ["ITL, TTFT and latency are of different requests, or tokens came several at once",
         "这些延迟来自不同的请求，或一次返回了多个 token"];
    OffGrid: Error "rates_off_grid",
        ["offered rates do not lie on the sweep's own grid, which goes from {} in steps of {}",
         "到达率不在该扫描自身的等距网格上，网格从 {} 起，步长 {}"],
        ["rates were typed wrong, or belong to other rows{2}", "到达率抄写有误，或属于其他行{2}"];
    AboveOffered: Error "above_offered",
        ["more requests/s completed than were offered: {}", "每秒完成的请求多于到达的请求：{}"],
        ["the level began with requests that an earlier one had left, or the rate belongs to \
          another row",
         "该档开始时还有上一档遗留的请求，或该速率属于另一行"];
    SlowAtLowRate: Error "slow_at_low_rate",
        ["TTFT is far above that of a higher rate: {}", "首 token 延迟远高于更高速率时：{}"],
        ["the level began before the queue of an earlier one was empty, or the row belongs to \
          another rate",
         "上一档的排队尚未清空就开始了该档，或该行属于另一速率"];
    Falls: Warning "throughput_falls",
        FALLS,
        ["the server is past its best load (preemption, swapping), or stragglers stretched the \
          wall time",
         "服务器已超过最佳负载（抢占、换出），或个别超长请求拉长了总用时"];
    FallsByFailures: Warning "throughput_falls",
        FALLS,
        ["requests failed or timed out under this load; what is left describes survivors",
         "该负载下有请求失败或超时，剩下的数值只反映幸存者"];
    Timeout: Error "round_timeout",
        ["the slowest answers took as long as a round time-out, and {1} requests failed: {0}",
         "最慢的回答恰为整数超时时间，且有 {1} 个请求失败：{0}"],
        ["a read time-out cut answers off: latencies are of the survivors and too low",
         "读取超时截断了回答：延迟只反映幸存者，因而偏低"];
    Prefill: Warning "ttft_below_synchronous",
        ["TTFT under load is far below that of one request: {}",
         "负载下的首 token 延迟远低于单请求时：{}"],
        ["prompts were served from a prefix cache under load, or the single requests met a cold \
          server",
         "负载下的提示命中了前缀缓存，或单请求测试时服务器尚未预热"];
    CutByContext: Error "context_clamp",
        CLAMP,
        ["answers were cut off where a context of about {1} tokens ends; tokens/s by the length \
          asked for are too high",
         "回答在约 {1} token 的上下文末尾被截断；按要求长度算出的吞吐量偏高"];
    CutShort: Error "context_clamp",
        CLAMP,
        ["answers were shorter than asked for; tokens/s by the length asked for are too high",
         "回答短于要求的长度；按要求长度算出的吞吐量偏高"];
    Disagree: Error "forms_disagree",
        ["{1} is another in the {2} of the same results: {0}",
         "同一结果的 {2} 中，{1} 与此不同：{0}"],
        ["one of them was typed wrong, or they are of different runs",
         "其中之一抄写有误，或来自不同的测试"];
    Unmatched: Warning "forms_unmatched",
        ["rows stand here or in the {} of the same results, not in both",
         "这些行只出现在此处或同一结果的 {} 中之一"],
        ["one of the two was not brought up to date", "两者之一没有更新"];
}
