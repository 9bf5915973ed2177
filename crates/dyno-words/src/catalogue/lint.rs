//! What `dyno lint` finds: the identity that does not hold, with the rows and their values as the first
//! value, and the likely cause.

use crate::wordings;

const BELOW: [&str; 2] = [
    "Little's law: requests/s × latency ÷ concurrency is lower than ramp-up and drain can explain: \
     {}",
    "利特尔法则：QPS × 端到端时延 ÷ 并发数，低于填充与排空所能解释的下限：{}",
];
const GAPS: [&str; 2] = [
    "(latency − TTFT) ÷ ITL does not equal the output tokens minus one: {}",
    "（端到端时延 − TTFT）÷ ITL，应等于输出 token 数减一：{}",
];
const TPOT: [&str; 2] = [
    "(latency − TTFT) ÷ TPOT does not equal the output tokens minus one: {}",
    "（端到端时延 − TTFT）÷ TPOT，应等于输出 token 数减一：{}",
];
const TOKENS: [&str; 2] = [
    "tokens/s ÷ requests/s does not equal the output tokens per request: {}",
    "吞吐量 ÷ QPS 与每个请求的输出 token 数不符：{}",
];
const TOKENS_WHY: [&str; 2] = [
    "tokens and requests are counted over different sets: failed or excluded requests count in only \
     one of them",
    "token 与请求的统计口径不同：失败或被剔除的请求只计入了其中之一",
];
const TOKENS_RATE_WHY: [&str; 2] = [
    "requests/s and duration do not fit the completed requests either: one of these was probably \
     mistyped, or is of another run",
    "QPS 与总用时也和成功请求数不符：很可能其中之一抄写有误，或来自另一次测试",
];
const SURPLUS: [&str; 2] =
    ["more requests are accounted for than were planned: {}", "有去向的请求数多于计划数：{}"];
const BY_DURATION: [&str; 2] = [
    "requests/s × duration does not equal the completed requests: {}",
    "QPS × 总用时与成功请求数不符：{}",
];
const ABOVE_SLOTS: [&str; 2] = [
    "Little's law: requests/s × latency ÷ concurrency is above 1: {}",
    "利特尔法则：QPS × 端到端时延 ÷ 并发数大于 1：{}",
];
const ABOVE_OFFERED: [&str; 2] =
    ["more requests/s completed than were offered: {}", "每秒完成的请求多于到达的请求：{}"];
const FALLS: [&str; 2] = ["requests/s falls while the load rises: {}", "负载上升而 QPS 下降：{}"];
const CLAMP: [&str; 2] = [
    "longer responses took less time per output token (ms) than shorter ones: {}",
    "更长的响应，TPOT（ms）反而更短：{}",
];

wordings! {
    /// A defect in results.
    pub enum Defect;

    Zeros: Error "zeros",
        ["every value is 0", "所有数值均为 0"],
        ["nothing was measured, and 0 was written where there was no data",
         "没有测到任何数据，却在无数据处写了 0"];
    ZerosOfNothing: Warning "zeros",
        ["no request completed, and every value is 0", "没有请求成功，所有数值均为 0"],
        ["0 was written where there was no data; these are not measurements",
         "在无数据处写了 0；这些并非测量值"];
    NotStreamed: Warning "not_streamed",
        ["TTFT equals the latency", "首 token 时延（TTFT）等于端到端时延"],
        ["responses were not streamed: there is no TTFT, and the column repeats the latency",
         "没有使用流式输出：并不存在首 token 时延（TTFT），该列只是重复了端到端时延"];
    Missing: Error "requests_missing",
        ["fewer requests are accounted for than were planned: {}",
         "有去向的请求数少于计划数：{}"],
        ["requests were lost, the run was cut short, or the data had fewer prompts: rates and \
          percentiles cover only the rest",
         "有请求丢失，或测试中途停止，或数据集中的提示词不足：速率和百分位只反映其余请求"];
    MissingUnstated: Error "requests_missing",
        ["fewer requests completed than were planned, and no failures are reported: {}",
         "成功的请求数少于计划数，且未给出失败数：{}"],
        ["they failed, the run was cut short, or the data had fewer prompts: rates and percentiles \
          cover only the rest",
         "这些请求失败了，或测试中途停止，或数据集中的提示词不足：速率和百分位只反映其余请求"];
    Surplus: Error "requests_missing",
        SURPLUS,
        ["one of the counts was mistyped or is of another run",
         "其中某个计数抄写有误，或来自另一次测试"];
    SurplusUnsure: Warning "requests_missing",
        SURPLUS,
        ["one of the counts was mistyped or is of another run; or the tool counts retries, or \
          several requests of one planned conversation",
         "其中某个计数抄写有误或来自另一次测试；或该工具把重试、或同一会话的多个请求分别计数"];
    ByDuration: Error "throughput_by_duration",
        BY_DURATION,
        ["one of the three was mistyped or is of another run",
         "三者之一抄写有误，或来自另一次测试"];
    ByDurationUnsure: Warning "throughput_by_duration",
        BY_DURATION,
        ["one of the three was mistyped or is of another run, or the tool measures throughput in a \
          part of the duration",
         "三者之一抄写有误或来自另一次测试，或该工具只在部分时段内统计吞吐量"];
    SlotsIdle: Warning "littles_law",
        BELOW,
        ["a straggler, a pause or a slow client stretched the wall time, so requests/s and tokens/s \
          are too low",
         "个别超长请求、停顿或客户端过慢拉长了总用时，因此 QPS 和吞吐量偏低"];
    SlotsHeldByFailures: Warning "littles_law",
        BELOW,
        ["failed requests occupied slots and count in neither value; or a straggler stretched the \
          wall time",
         "失败请求占用了并发槽位，却不计入这两个数值；或个别超长请求拉长了总用时"];
    LatenciesTooShort: Warning "littles_law",
        BELOW,
        ["latencies 1,000 times as long fit: they are in seconds, but labelled milliseconds",
         "时延乘以 1000 即相符：其单位实为秒，却标为毫秒"];
    LatenciesTooLong: Error "littles_law",
        ABOVE_SLOTS,
        ["latencies a thousandth as long fit: they are in another unit than labelled",
         "时延除以 1000 即相符：其单位与所标不同"];
    MoreThanSlots: Error "littles_law",
        ABOVE_SLOTS,
        ["more requests were in flight than the row says, or latency and rate are of different runs",
         "实际并发数高于该行所写，或时延与速率来自不同的测试"];
    MoreThanSlotsUnsure: Warning "littles_law",
        ABOVE_SLOTS,
        ["each slot may be a conversation with several requests at once; else latency and rate are \
          of different runs",
         "每个槽位可能是同时有多个请求的会话；否则时延与速率来自不同的测试"];
    InFlight: Error "littles_law",
        ["Little's law: requests/s × latency does not equal the reported mean concurrency: {}",
         "利特尔法则：QPS × 端到端时延与所报告的平均并发数不符：{}"],
        ["one of the three was mistyped or is of another run",
         "三者之一抄写有误，或来自另一次测试"];
    TokensByRate: Error "tokens_per_request",
        TOKENS,
        TOKENS_RATE_WHY;
    TokensByRateUnsure: Warning "tokens_per_request",
        TOKENS,
        TOKENS_RATE_WHY;
    Tokens: Error "tokens_per_request",
        TOKENS,
        TOKENS_WHY;
    TokensUnsure: Warning "tokens_per_request",
        TOKENS,
        TOKENS_WHY;
    TotalTokens: Error "total_tokens",
        ["total tokens/s × duration ÷ completed requests does not equal the input and output tokens \
          per request: {}",
         "总吞吐量 × 总用时 ÷ 成功请求数，与每个请求的输入加输出 token 数不符：{}"],
        ["one of them was mistyped or is of another run, or failed requests count in only some of \
          them",
         "其中之一抄写有误或来自另一次测试，或失败请求只计入了其中一部分"];
    TokensBeyond: Warning "tokens_per_request",
        ["tokens/s ÷ requests/s is above the requested output tokens: {}",
         "吞吐量 ÷ QPS 高于所要求的输出 token 数：{}"],
        ["tokens/s or requests/s was mistyped, or the limit on the length was not respected",
         "吞吐量或 QPS 抄写有误，或长度限制未生效"];
    Runaway: Warning "runaway_answer",
        ["no request failed, yet responses are longer than in the other rows: {}",
         "没有请求失败，但响应比其他行更长：{}"],
        ["one runaway response of about {1} tokens, which also stretched the wall time",
         "有一个约 {1} token 的失控响应，它也拉长了总用时"];
    GapsShifted: Error "tokens_by_itl",
        GAPS,
        ["the ITL column is shifted relative to its rows: the values would fit other rows",
         "token 间时延（ITL）一列与行错位：这些数值与其他行相符"];
    GapsOfEvents: Warning "tokens_by_itl",
        GAPS,
        ["several tokens arrived per event, so ITL is the time between events, not between tokens",
         "每个事件含多个 token，因此 token 间时延（ITL）实为事件之间的时间"];
    GapsOfCount: Warning "tokens_by_itl",
        GAPS,
        ["TPOT, or tokens/s ÷ requests/s, contradicts the output tokens, too: these were probably \
          miscounted or mistyped",
         "单 token 时延（TPOT）或“吞吐量 ÷ QPS”也与输出 token 数不符：输出 token 数很可能计数或抄写有误"];
    Gaps: Warning "tokens_by_itl",
        GAPS,
        ["ITL, TTFT and latency are of different requests, or not all tokens were counted",
         "这些时延来自不同的请求，或并非所有 token 都被计数"];
    Tpot: Error "tokens_by_tpot",
        TPOT,
        ["TPOT, TTFT and latency are of different requests or in different units, or TPOT is \
          mistaken for ITL",
         "单 token 时延（TPOT）、首 token 时延（TTFT）与端到端时延来自不同的请求或单位不同，或与 token 间时延（ITL）混淆"];
    TpotUnsure: Warning "tokens_by_tpot",
        TPOT,
        ["the tool defines TPOT differently; or TPOT, TTFT and latency are of different requests",
         "该工具对单 token 时延（TPOT）的定义不同；或这些时延来自不同的请求"];
    TpotSwapped: Warning "tokens_by_tpot",
        TPOT,
        ["ITL fits instead: the two are swapped, or short responses waited after their first token",
         "token 间时延（ITL）反而相符：二者互换了，或短响应在首 token 之后等待"];
    Percentiles: Error "percentiles_disordered",
        ["percentiles do not rise, or the mean is not between them: {}",
         "百分位数不递增，或平均值不在其范围内：{}"],
        ["values are in the wrong columns, in different units, or of different requests",
         "数值错列、单位不同，或来自不同的请求"];
    LatencyBelowTtft: Error "latency_below_ttft",
        ["latency is below TTFT: {}", "端到端时延低于首 token 时延（TTFT）：{}"],
        ["the two are swapped, in different units, or of different requests",
         "二者互换、单位不同，或来自不同的请求"];
    TtftBelowToken: Warning "ttft_below_token",
        ["TTFT is far below the time of one token (ms): {}",
         "首 token 时延（TTFT）远低于单个 token 的时间（ms）：{}"],
        ["TTFT is in seconds instead of milliseconds, or an empty first event was taken for a token",
         "首 token 时延（TTFT）以秒而非毫秒为单位，或把空的首个事件当作了 token"];
    Copied: Error "rows_identical",
        ["all values are the same as at another load", "所有数值与另一负载下完全相同"],
        ["the row was copied from another one", "该行抄自另一行"];
    OffGrid: Error "rates_off_grid",
        ["offered rates do not lie on the sweep's own grid, which starts at {} in steps of {}",
         "请求速率不在该扫描自身的等距网格上，网格从 {} 起，步长 {}"],
        ["rates were mistyped, or belong to other rows{2}", "请求速率抄写有误，或属于其他行{2}"];
    AboveOffered: Error "above_offered",
        ABOVE_OFFERED,
        ["the level started with a backlog from the previous one, or the rate belongs to another row",
         "该档开始时还有上一档遗留的请求，或该速率属于另一行"];
    AboveOfferedUncounted: Warning "above_offered",
        ABOVE_OFFERED,
        ["the level started with a backlog from the previous one, the rate belongs to another row, \
          or random arrivals of few requests",
         "该档开始时还有上一档遗留的请求，或该速率属于另一行，或请求数少而到达间隔随机"];
    BelowOffered: Warning "below_offered",
        ["the level took longer (s) than its arrivals at the offered rate and the slowest response \
          together: {}",
         "该档用时（s）超过按请求速率到达所需时间与最慢响应之和：{}"],
        ["the rate was mistyped or belongs to another row, or the client could not send that fast",
         "请求速率抄写有误或属于另一行，或客户端来不及按此速率发送"];
    SlowAtLowRate: Warning "slow_at_low_rate",
        ["TTFT is far above that of a higher rate: {}", "首 token 时延（TTFT）远高于更高请求速率时：{}"],
        ["the level started before the previous one had drained, or the row belongs to another rate",
         "上一档的排队尚未清空就开始了该档，或该行属于另一请求速率"];
    Falls: Warning "throughput_falls",
        FALLS,
        ["the server is past its best load (preemption, swapping), or stragglers stretched the \
          wall time",
         "服务器已超过最佳负载（抢占、换出），或个别超长请求拉长了总用时"];
    FallsByFailures: Warning "throughput_falls",
        FALLS,
        ["requests failed or timed out at this load; the results cover only those that completed",
         "该负载下有请求失败或超时，结果只反映成功的请求"];
    Timeout: Warning "round_timeout",
        ["the slowest responses took exactly a round time-out, and {1} requests failed: {0}",
         "最慢的响应恰为整数超时时间，且有 {1} 个请求失败：{0}"],
        ["a read time-out cut responses off: latencies cover only the completed ones and are too low",
         "读取超时截断了响应：时延只反映成功的请求，因而偏低"];
    Prefill: Warning "ttft_below_synchronous",
        ["TTFT under load is far below that of a single request: {}",
         "负载下的首 token 时延（TTFT）远低于单请求时：{}"],
        ["prompts were served from a prefix cache under load, or the server was cold for the single \
          requests",
         "负载下的提示词命中了前缀缓存，或单请求测试时服务器尚未预热"];
    CutByContext: Error "context_clamp",
        CLAMP,
        ["responses were cut off at the end of a context of about {1} tokens; tokens/s computed from \
          the requested length are too high",
         "响应在约 {1} token 的上下文末尾被截断；按要求长度算出的吞吐量偏高"];
    CutShort: Warning "context_clamp",
        CLAMP,
        ["responses were shorter than requested; tokens/s computed from the requested length are too \
          high",
         "响应短于要求的长度；按要求长度算出的吞吐量偏高"];
    Disagree: Error "forms_disagree",
        ["{1} differs in the {2} of the same results: {0}",
         "同一结果的 {2} 中，{1} 与此不同：{0}"],
        ["one of them was mistyped, or they are of different runs",
         "其中之一抄写有误，或来自不同的测试"];
    Unmatched: Warning "forms_unmatched",
        ["rows are present here or in the {} of the same results, but not in both",
         "这些行只出现在此处或同一结果的 {} 中之一"],
        ["one of the two was not updated", "两者之一没有更新"];
}
